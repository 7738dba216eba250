# What .ci/run and .ci/nightly share: parts that run, are timed, and whose counts are added up.
# shellcheck shell=bash

# Of each part that fails, what is repeated at the end.
readonly REPEATED_FAILURE_LINES=40
readonly REPEATED_LAST_LINES=15

repository=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
work=$(mktemp -d)
failures=$work/failures.txt
times=$work/times.txt
# The process groups that run, by their number.
declare -A groups=()
# Of each part that was begun and not ended: its process group and its log.
declare -A group_of=() log_of=()
code=0
passed=0
failed=0
parts=0

# Runs one part, and shows its output meanwhile.
part() {
  begin "$@"
  tail --follow --lines=+1 --pid="${group_of[$1]}" "${log_of[$1]}" &
  wait "$!"
  end "$1"
}

# Without it nothing that follows can work.
needed_part() {
  part "$@"
  ((code == 0)) || summary
}

# Begins a part in a process group of its own; `end` with the same title waits for it.
begin() {
  local title=$1
  shift
  parts=$((parts + 1))
  local log=$work/part-$parts.log
  printf '\n=== %s\n' "$title"
  : >"$log"
  set -m
  (
    began=$SECONDS
    trap 'echo "$((SECONDS - began))" >"$log.seconds"' EXIT
    "$@"
  ) >>"$log" 2>&1 </dev/null &
  group_of[$title]=$!
  set +m
  groups[${group_of[$title]}]=1
  log_of[$title]=$log
}

# Waits for a part, shows how it ended and adds up the counts in its output. A part that fails without counting a failure is one.
end() {
  local title=$1 group=${group_of[$1]} log=${log_of[$1]}
  code=0
  wait "$group" || code=$?
  end_group "$group"
  unset "groups[$group]" # Its number may soon be that of another process.

  local counted_failures=0 ok bad
  while read -r ok bad; do
    passed=$((passed + ok))
    counted_failures=$((counted_failures + bad))
  done < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed.*/\1 \2/p' "$log")
  if ((code != 0 && counted_failures == 0)); then
    counted_failures=1
  fi
  failed=$((failed + counted_failures))
  if ((code != 0 || counted_failures > 0)); then
    describe_failure "$title" "$log" >>"$failures"
  fi
  local seconds='?'
  [[ ! -s $log.seconds ]] || seconds=$(<"$log.seconds")
  printf '%6s s  %s%s\n' "$seconds" "$title" "$( ((code == 0)) || echo ", FAILED")" >>"$times"
  printf '=== %s: %s, %s s\n' "$title" "$([[ $code == 0 ]] && echo ok || echo "FAILED ($code)")" "$seconds"
}

# What failed, as test/support/counts-reporter.ts writes it, and the last lines beside it, without colours.
describe_failure() {
  local plain=$work/plain.log listed='^(FAILED |  [|] )'
  sed -E 's/\x1b\[[0-9;?]*[A-Za-z]//g; s/\r//g' "$2" >"$plain"
  printf '\n=== FAILED (%d): %s\n' "$code" "$1"
  # However long the first failures are, the names of the others are there.
  awk -v listed="$listed" -v most="$REPEATED_FAILURE_LINES" \
    '$0 ~ listed && (++lines <= most || (/^FAILED / && ++names <= most))' "$plain"
  printf -- '--- its last lines:\n'
  awk -v listed="$listed" '$0 !~ listed && NF' "$plain" | tail -n "$REPEATED_LAST_LINES" | cut -c -300
}

# Ends the run: the time of each part, what failed, and the sum of the counts.
summary() {
  printf '\n%6d s  in all\n' "$SECONDS" >>"$times"
  printf '\n'
  cat "$times"
  [[ ! -e $failures ]] || cat "$failures"
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  ((failed == 0))
  exit
}

# Installs the Debian packages of those of `program:package` whose program is missing.
install_packages() {
  local wanted missing=()
  for wanted in "$@"; do
    command -v "${wanted%%:*}" >/dev/null || missing+=("${wanted##*:}")
  done
  if ((${#missing[@]} == 0)); then
    echo "nothing is missing"
    return
  fi
  echo "installing: ${missing[*]}"
  apt-get update -qq
  if [[ " ${missing[*]} " == *" postgresql "* ]]; then
    # Its package must not create a cluster: the test has one of its own, in a temporary folder.
    apt_install postgresql-common
    sed -Ei 's/^#?(create_main_cluster) .*/\1 = false/' /etc/postgresql-common/createcluster.conf
  fi
  # debootstrap verifies Debian's signatures with the keyring and gpgv, which are only recommended.
  apt_install "${missing[@]}" gpgv debian-archive-keyring fonts-dejavu-core
}

# RUNLEVEL=1: the packages' services must not start, the tests start their own.
apt_install() {
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "$@" >"$work/apt.log" 2>&1 || {
    tail -n 40 "$work/apt.log"
    return 1
  }
}

end_group() {
  kill -TERM -- "-$1" 2>/dev/null || return 0
  sleep 1
  kill -KILL -- "-$1" 2>/dev/null || return 0
}

clean_up() {
  local group
  for group in "${!groups[@]}"; do
    kill -KILL -- "-$group" 2>/dev/null || true
  done
  wait 2>/dev/null || true
  # A process that is still ending may write there; the exit code is that of the tests.
  rm -rf "$work" || true
}

trap clean_up EXIT
trap 'exit 130' INT TERM
