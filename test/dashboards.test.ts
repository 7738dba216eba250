import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { fleetDashboard, renderFleetDashboard } from "../dashboards/src/fleet-dashboard.ts";
import { STATUSES_BY_URGENCY } from "../dashboards/src/status-ranks.ts";
import { STATUSES } from "../src/core/report.ts";
import { createPrometheus } from "../src/io/prometheus-registry.ts";
import { DAEMON_METRICS } from "../src/metrics/daemon-metrics.ts";
import { FLEET_METRICS } from "../src/metrics/fleet-metrics.ts";
import { TARGET_METRICS } from "../src/metrics/target-metrics.ts";

const ROOT = new URL("../", import.meta.url);

const text = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");

const panelSchema = z.object({
  type: z.string(),
  title: z.string(),
  description: z.string().optional(),
  datasource: z.object({ uid: z.string() }).optional(),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string() }) }).optional(),
  targets: z.array(z.object({ expr: z.string(), datasource: z.object({ uid: z.string() }) })).optional(),
});
const dashboardSchema = z.object({ panels: z.array(panelSchema) });

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(["critical", "warning", "info"]) }),
          annotations: z.object({ summary: z.string(), description: z.string(), runbook_url: z.string() }),
        }),
      ),
    }),
  ),
});
const ruleTestsSchema = z.object({
  tests: z.array(
    z.object({
      alert_rule_test: z.array(z.object({ alertname: z.string(), exp_alerts: z.array(z.unknown()) })),
    }),
  ),
});

const alerts = rulesSchema
  .parse(parse(text("dashboards/rules/synclag.yml")))
  .groups.flatMap((group) => group.rules);

describe("fleetDashboard()", () => {
  const panels = dashboardSchema
    .parse(JSON.parse(renderFleetDashboard()))
    .panels.filter(({ type }) => type !== "row");

  it("is what dashboards/synclag-fleet.json holds; render it again with `npx tsx dashboards/src/render.ts`", () => {
    expect(text("dashboards/synclag-fleet.json")).toBe(renderFleetDashboard());
  });

  it.each(panels)(
    "describes panel $title, gives it a unit, and leaves the data source to the reader",
    (panel) => {
      const uids = [panel.datasource, ...(panel.targets ?? []).map(({ datasource }) => datasource)].map(
        (datasource) => datasource?.uid,
      );

      expect(panel.description).toMatch(/\.$/);
      expect(panel.fieldConfig?.defaults.unit).not.toBe("");
      expect(panel.targets).not.toEqual([]);
      expect(new Set(uids)).toEqual(new Set(["$datasource"]));
    },
  );

  it("can be filtered by protocol, chain and variant", () => {
    const names = fleetDashboard().templating.list?.map((variable) => variable.name);

    expect(names).toEqual(["datasource", "protocol", "chain", "variant"]);
  });
});

describe("STATUSES_BY_URGENCY", () => {
  it("ranks every status once", () => {
    expect(STATUSES_BY_URGENCY.map(({ status }) => status).toSorted()).toEqual(STATUSES.toSorted());
  });
});

describe("dashboards/", () => {
  it("names only metrics that /metrics serves", async () => {
    const served = await servedMetrics();

    const files = ["dashboards/synclag-fleet.json", ...ruleFiles()];
    const unknown = files.flatMap((file) =>
      metricsIn(text(file))
        .filter((name) => !served.has(name))
        .map((name) => `${file}: ${name}`),
    );

    expect(unknown).toEqual([]);
  });
});

describe("dashboards/rules/synclag.yml", () => {
  const tests = ruleTestsSchema
    .parse(parse(text("dashboards/rules/tests/synclag.test.yml")))
    .tests.flatMap((test) => test.alert_rule_test);

  it.each(alerts)("has a runbook for $alert", ({ annotations }) => {
    expect(existsSync(new URL(annotations.runbook_url, ROOT))).toBe(true);
  });

  it.each(alerts)("tests $alert both firing and silent", ({ alert }) => {
    const expectations = tests.filter(({ alertname }) => alertname === alert);

    expect(expectations.map(({ exp_alerts }) => exp_alerts.length > 0)).toEqual(
      expect.arrayContaining([true, false]),
    );
  });
});

function ruleFiles(): readonly string[] {
  const names = readdirSync(new URL("dashboards/rules", ROOT), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".yml")).map((name) => `dashboards/rules/${name}`);
}

function metricsIn(source: string): readonly string[] {
  return [...new Set(source.match(/\bsynclag_[a-z_]+\b/g))];
}

/** The names that the code itself announces, with the three series that a histogram is made of. */
async function servedMetrics(): Promise<ReadonlySet<string>> {
  const prometheus = createPrometheus({
    families: [...TARGET_METRICS, ...FLEET_METRICS, ...DAEMON_METRICS],
    read: () => ({
      report: { generatedAtMs: 0, chains: [], incidents: [], budgets: [], skipped: [] },
      endpoints: [],
      indexers: [],
      loop: { lastTickMs: null, inFlight: 0, queued: 0 },
      reload: { successful: true, lastSuccessMs: 0 },
    }),
    build: { version: "0", revision: "", nodeVersion: "" },
  });
  const announced = [...(await prometheus.render()).matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    announced.flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
}
