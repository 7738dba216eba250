import type { AlertContext } from "../alert.ts";
import { allAlerts } from "../alerts/all-alerts.ts";
import { freshnessRecordings } from "../freshness.ts";
import { yamlFile } from "../prometheus-rules.ts";
import { daysTests, hoursTests } from "./freshness-tests.ts";
import { grafanaTests } from "./grafana-tests.ts";
import { indexerTests, targetsVanishedTests } from "./indexer-tests.ts";
import { fallingBehindTests, lagTests } from "./lag-tests.ts";
import { pairTests } from "./pair-tests.ts";
import { parityTests } from "./parity-tests.ts";
import type { Firing, RuleTest } from "./rule-test.ts";
import { restartingTests, synclagTests } from "./synclag-tests.ts";
import { deploymentChangedTests, targetTests } from "./target-tests.ts";

/** dashboards/rules/tests/synclag.test.yml, for `promtool test rules`: alerts of minutes. */
export function renderRuleTests(context: AlertContext): string {
  const tests = [
    ...pairTests(),
    ...indexerTests(),
    ...targetTests(),
    ...lagTests(),
    ...parityTests(),
    ...synclagTests(),
    ...grafanaTests(context),
  ];
  return testFile(tests, "1m", context);
}

// The CPU time of promtool depends on the number of evaluations, so long tests have a longer interval. Neither 7 nor 35 minutes
// divides a window of the recording rules: a sample exactly at the start of a window counts in Prometheus 2 but not in 3.

/** dashboards/rules/tests/synclag-hours.test.yml: alerts of hours. */
export function renderHoursTests(context: AlertContext): string {
  const tests = [
    ...fallingBehindTests(),
    ...targetsVanishedTests(),
    ...deploymentChangedTests(),
    ...restartingTests(),
    ...hoursTests(),
  ];
  return testFile(tests, "7m", context);
}

/** dashboards/rules/tests/synclag-days.test.yml: the alert of days. */
export function renderDaysTests(context: AlertContext): string {
  return testFile(daysTests(), "35m", context);
}

function testFile(tests: readonly RuleTest[], evaluationInterval: string, context: AlertContext): string {
  const groups = [...freshnessRecordings(context), ...allAlerts(context)];
  return yamlFile(
    "For each alert: it fires with its texts, it resolves, and it does not fire when it should not.",
    {
      rule_files: ["../synclag-recording.yml", "../synclag-alerts.yml"],
      evaluation_interval: evaluationInterval,
      // Recording rules before the alerts that use them; promtool's own order varies.
      group_eval_order: groups.map(({ name }) => name),
      tests: tests.map((test) => asYaml(test, context)),
    },
  );
}

function asYaml({ name, series, expect, queries = [] }: RuleTest, context: AlertContext): object {
  return {
    name,
    interval: "1m",
    input_series: series,
    alert_rule_test: expect.map(({ alert, at, alerts }) => ({
      alertname: alert,
      eval_time: at,
      exp_alerts: alerts.map((firing) => expected(alert, firing, context)),
    })),
    ...(queries.length === 0
      ? {}
      : {
          promql_expr_test: queries.map(({ expr, at, samples }) => ({
            expr,
            eval_time: at,
            exp_samples: samples,
          })),
        }),
  };
}

function expected(alert: string, firing: Firing, { settings }: AlertContext): object {
  const { severity, about = "fleet", labels, summary, description, dashboard } = firing;
  return {
    exp_labels: { severity, about, ...labels },
    exp_annotations: {
      summary,
      description,
      runbook_url: `${settings.runbooksUrl}/${alert}.md`,
      dashboard_url: `${settings.grafanaUrl}/d/${dashboard}`,
    },
  };
}
