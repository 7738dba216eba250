import type { AlertContext } from "../../dashboards/src/alert.ts";
import { allAlerts } from "../../dashboards/src/alerts/all-alerts.ts";
import { freshnessRecordings } from "../../dashboards/src/freshness.ts";
import { yamlFile } from "../../dashboards/src/prometheus-rules.ts";
import { sampleAnnotations } from "../../dashboards/src/sample-texts.ts";
import { durationMs } from "../../dashboards/src/time-scale.ts";
import { grafanaTests } from "./grafana-tests.ts";
import { matrixTest } from "./matrix-test.ts";
import { readCases } from "./read-cases.ts";
import { type Firing, onlyFiring, type RuleTest } from "./rule-test.ts";

/** The tests of a file, evaluated at one interval. */
interface TestFile {
  readonly name: string;
  readonly interval: string;
  readonly tests: readonly RuleTest[];
}

/**
 * The CPU time of promtool depends on the number of evaluations, so long tests have a longer interval. Neither 7 nor 35 minutes
 * divides a window of the recording rules: a sample exactly at the start of a window counts in Prometheus 2 but not in 3.
 */
export function ruleTestFiles(context: AlertContext): readonly TestFile[] {
  const minutes = [
    ...readCases("status-cases.txt", "fleet"),
    ...readCases("fleet-cases.txt", "fleet"),
    ...readCases("synclag-cases.txt", "synclag"),
    ...grafanaTests(context),
  ];
  const hours = [
    matrixTest(),
    ...readCases("hours-cases.txt", "fleet"),
    ...readCases("restarts-cases.txt", "synclag"),
  ];
  return [
    { name: "synclag.test.yml", interval: "1m", tests: minutes },
    { name: "synclag-hours.test.yml", interval: "7m", tests: hours },
    { name: "synclag-days.test.yml", interval: "35m", tests: readCases("days-cases.txt", "fleet") },
  ];
}

/** The files of dashboards/rules/tests, for `promtool test rules`. */
export function renderRuleTests(context: AlertContext): ReadonlyMap<string, string> {
  const groups = [...freshnessRecordings(context), ...allAlerts(context)];
  return new Map(
    ruleTestFiles(context).map(({ name, interval, tests }) => [
      name,
      yamlFile("What fires when: all alerts that fire at an instant, and the texts of some.", {
        rule_files: ["../synclag-recording.yml", "../synclag-alerts.yml"],
        evaluation_interval: interval,
        // Recording rules before the alerts that use them; promtool's own order varies.
        group_eval_order: groups.map((group) => group.name),
        tests: tests.map((test) => asYaml(test, interval, context)),
      }),
    ]),
  );
}

function asYaml(test: RuleTest, interval: string, context: AlertContext): object {
  const { name, series, fires, about = "fleet", queries = [] } = test;
  const all = [
    ...Object.entries(fires).map(([at, firing]) =>
      onlyFiring(at, `about="${about}", severity!="none"`, firing),
    ),
    ...queries,
  ];
  const late = all.filter(({ at }) => durationMs(at) % durationMs(interval) !== 0);
  if (late.length > 0) {
    throw new RangeError(`Cannot test "${name}" at ${late[0]?.at}: expected a multiple of ${interval}`);
  }
  return {
    name,
    interval: "1m",
    input_series: series,
    alert_rule_test: Object.entries(fires).flatMap(([at, alerts]) =>
      alerts.flatMap((firing) => expectedTexts(firing, at, context)),
    ),
    promql_expr_test: all.map(({ expr, at, samples }) => ({ expr, eval_time: at, exp_samples: samples })),
  };
}

function expectedTexts({ name, severity, labels, texts }: Firing, at: string, context: AlertContext) {
  const rules = allAlerts(context).flatMap(({ alerts }) => alerts.filter((one) => one.name === name));
  const alert = rules.find((one) => one.severity === severity) ?? rules[0];
  if (alert === undefined || texts === undefined) {
    return [];
  }
  const annotations = sampleAnnotations(alert, context.settings, { ...texts, labels });
  const expected = {
    exp_labels: { severity, about: alert.about, ...labels },
    exp_annotations: annotations,
  };
  return { alertname: name, eval_time: at, exp_alerts: [expected] };
}
