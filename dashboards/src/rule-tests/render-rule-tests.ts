import type { AlertContext } from "../alert.ts";
import { allAlerts } from "../alerts/all-alerts.ts";
import { freshnessRecordings } from "../freshness.ts";
import { yamlFile } from "../prometheus-rules.ts";
import { freshnessTests } from "./freshness-tests.ts";
import { indexerTests } from "./indexer-tests.ts";
import { lagTests } from "./lag-tests.ts";
import { pairTests } from "./pair-tests.ts";
import type { Firing, RuleTest } from "./rule-test.ts";
import { synclagTests } from "./synclag-tests.ts";
import { targetTests } from "./target-tests.ts";

/** dashboards/rules/tests/synclag.test.yml, for `promtool test rules`: alerts of minutes. */
export function renderRuleTests(context: AlertContext): string {
  const tests = [...pairTests(), ...indexerTests(), ...targetTests(), ...lagTests(), ...synclagTests()];
  return testFile(tests, "1m", context);
}

/** dashboards/rules/tests/synclag-hours.test.yml: alerts of hours, evaluated less often, for that takes its time. */
export function renderHoursTests(context: AlertContext): string {
  return testFile(freshnessTests(), "5m", context);
}

function testFile(tests: readonly RuleTest[], evaluationInterval: string, context: AlertContext): string {
  const groups = [...freshnessRecordings(context), ...allAlerts(context)];
  return yamlFile(
    "Each alert: that it fires, with its texts; that it resolves; and what must not raise it.",
    {
      rule_files: ["../synclag-recording.yml", "../synclag-alerts.yml"],
      evaluation_interval: evaluationInterval,
      // What is recorded comes before what asks for it; promtool's own order is another one each time.
      group_eval_order: groups.map(({ name }) => name),
      tests: tests.map((test) => asYaml(test, context)),
    },
  );
}

function asYaml({ name, series, expect }: RuleTest, context: AlertContext): object {
  return {
    name,
    interval: "1m",
    input_series: series,
    alert_rule_test: expect.map(({ alert, at, alerts }) => ({
      alertname: alert,
      eval_time: at,
      exp_alerts: alerts.map((firing) => expected(alert, firing, context)),
    })),
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
