#!/usr/bin/env bash
# Tests the rules and the suites around Prometheus with Prometheus 3, which Debian does not have: builds it from source, once.
# Usage: prometheus3.sh [build | TEST_FILE…]; by default both suites that start a Prometheus of their own.
set -euo pipefail

readonly VERSION=v0.315.0 # 3.15.0: the tag as a Go module has it
readonly MODULE=github.com/prometheus/prometheus

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
programs=${XDG_CACHE_HOME:-$HOME/.cache}/synclag-e2e/prometheus-$VERSION

build() {
  if [[ -x $programs/prometheus && -x $programs/promtool ]]; then
    return
  fi
  command -v go >/dev/null || {
    echo "Cannot build Prometheus: the Go toolchain is not on the PATH" >&2
    exit 1
  }
  local source
  source=$(go mod download -json "$MODULE@$VERSION" |
    node --print 'JSON.parse(require("node:fs").readFileSync(0, "utf8")).Dir')
  # An interrupted build must not leave programs that look complete.
  rm -rf "$programs" "$programs.part"
  mkdir -p "$programs.part"
  # Not `go install`, which refuses a module with replace directives. Without the service discovery of every cloud it takes half
  # the time; files and static targets remain.
  GOWORK=off go build -C "$source" -tags remove_all_sd -o "$programs.part/" ./cmd/promtool ./cmd/prometheus
  mv -T "$programs.part" "$programs"
}

build
if [[ ${1:-} == build ]]; then
  exit
fi
if (($# == 0)); then
  set -- test/e2e/prometheus.test.ts test/e2e/alerts.test.ts
fi
export PATH=$programs:$PATH
prometheus --version | head -n 1
exec npx vitest run --project e2e --maxWorkers=2 "$@"
