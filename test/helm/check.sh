#!/usr/bin/env bash
# Checks the Helm chart with the real helm, built by the Go toolchain: lint, render for every file of deploy/helm/values,
# decode each document strictly, and compare the rules and dashboards in it with the files of dashboards/.
# Usage: check.sh [build]
set -euo pipefail

root=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
chart=$root/deploy/helm/synclag
bin=${XDG_CACHE_HOME:-$HOME/.cache}/synclag-e2e/helm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Both programs share a module, so that what they have in common is compiled once, and without optimisation and the symbols of
# a debugger, which takes a third less time.
mkdir -p "$bin"
CGO_ENABLED=0 go build -C "$root/test/helm" -gcflags='all=-N -l' -ldflags='-s -w' -o "$bin/" helm.sh/helm/v3/cmd/helm ./decode
if [[ ${1:-} == build ]]; then
  exit
fi

passed=0
failed=0
check() {
  local title=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "ok: $title"
  else
    failed=$((failed + 1))
    echo "FAILED $title"
    head -n 30 "$work/log" | sed 's/^/  | /'
  fi
}

# Built here, helm takes a Kubernetes version of long ago for its default.
template() {
  "$bin/helm" template synclag "$chart" --kube-version 1.33.0 "$@"
}

refuses() {
  ! template "$@"
}

decodes() {
  template --values "$1" >"$work/rendered.yaml" && "$bin/decode" <"$work/rendered.yaml"
}

same_rules() {
  local name
  for name in recording alerts; do
    template --values "$1" --show-only templates/prometheusrule.yaml --set links.synclag=http://localhost:9855 |
      "$root/node_modules/.bin/tsx" "$root/test/helm/compare-rules.ts" "synclag-$name" "$root/dashboards/rules/synclag-$name.yml"
  done
}

# Every link is that of the values, and so is the selector.
linked() {
  local links=links.runbooks=https://git.example/runbooks,links.grafana=https://grafana.example
  template --values "$1" --set "$links" --set-string 'prometheusRule.selector=job="one"' >"$work/rendered.yaml"
  grep -q 'runbook_url: https://git.example/runbooks/SynclagDown.md' "$work/rendered.yaml" &&
    grep -q 'dashboard_url: https://grafana.example/d/' "$work/rendered.yaml" &&
    grep -q 'page_url: http://synclag.default:9855/chains/' "$work/rendered.yaml" &&
    grep -q 'synclag_up{job="one"}' "$work/rendered.yaml" && ! grep -nE 'localhost|job=~"\.\*"' "$work/rendered.yaml"
}

two_pods_without_volume() {
  template --values "$1" >"$work/rendered.yaml"
  grep -q '^  replicas: 2$' "$work/rendered.yaml" && grep -q '^kind: PodDisruptionBudget$' "$work/rendered.yaml" &&
    ! grep -qE 'volumeClaimTemplates|--state=' "$work/rendered.yaml"
}

# To any port, and from this namespace and Prometheus: a port that is blocked looks like an indexer that is down.
open_and_guarded() {
  template --values "$1" --show-only templates/networkpolicy.yaml | tail -n +3 >"$work/rendered.yaml"
  grep -qxF '    - {}' "$work/rendered.yaml" && grep -q 'podSelector: {}' "$work/rendered.yaml" &&
    grep -q 'app.kubernetes.io/name: prometheus' "$work/rendered.yaml" && ! grep -qE 'port: [0-9]' "$work/rendered.yaml"
}

# In one line.
says_what_is_missing() {
  ! template 2>"$work/error"
  [[ $(grep -c '^Error: .*set config, the text of chains.yaml, or existingConfigMap$' "$work/error") == 1 ]]
}

# Without an object that is the cluster's to make, and with another name throughout.
every_value() {
  template --values "$1" >"$work/rendered.yaml"
  grep -q '^            claimName: synclag-state$' "$work/rendered.yaml" && grep -q '^kind: HTTPRoute$' "$work/rendered.yaml" &&
    grep -q '^      priorityClassName: monitoring$' "$work/rendered.yaml" && ! grep -qE 'volumeClaimTemplates|runAsUser' "$work/rendered.yaml" &&
    ! grep -A4 '^metadata:' "$work/rendered.yaml" | grep -E '^  name: ' | grep -v fleet-watcher
}

same_example() {
  template --values "$root/deploy/helm/values/example.yaml" | diff - <(sed '/^---$/,$!d' "$root/deploy/kubernetes.yaml")
}

for values in "$root"/deploy/helm/values/*.yaml; do
  check "helm lint with $(basename "$values")" "$bin/helm" lint --strict "$chart" --values "$values"
  check "each document decodes with $(basename "$values")" decodes "$values"
done
check "the rules are those of dashboards/rules" same_rules "$root/deploy/helm/values/operator.yaml"
check "no link leads to localhost" linked "$root/deploy/helm/values/operator.yaml"
check "helm lint on the defaults" "$bin/helm" lint --strict "$chart"
check "a missing configuration is refused in one line" says_what_is_missing
check "an ingress without a host is refused" refuses --set existingConfigMap=x --set ingress.enabled=true
check "an unknown value is refused" refuses --set existingConfigMap=x --set replicas=2
check "a store without the key of its Secret is refused" refuses --set existingConfigMap=x --set store.urlFrom.name=x
check "by default every indexer can be reached, and only Prometheus and the namespace come in" open_and_guarded "$root/deploy/helm/values/existing.yaml"
check "what is chosen is what is rendered" every_value "$root/deploy/helm/values/every-value.yaml"
check "with a store two pods run, without a volume" two_pods_without_volume "$root/deploy/helm/values/store.yaml"
check "deploy/kubernetes.yaml is rendered from the chart" same_example

printf '\n%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
