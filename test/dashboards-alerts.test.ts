import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { allAlerts } from "../dashboards/src/alerts/all-alerts.ts";
import { freshnessRecordings } from "../dashboards/src/freshness.ts";
import { SETTINGS } from "../dashboards/src/settings.ts";
import type { Text } from "../dashboards/src/text.ts";
import { realTime } from "../dashboards/src/time-scale.ts";
import { STATUSES } from "../src/core/model/report.ts";
import { RUNBOOKS_PATH } from "../src/views/page/links.ts";
import { serve } from "./support/served.ts";

const ROOT = new URL("../", import.meta.url);
const RUNBOOKS = new URL("docs/runbooks/", ROOT);

const SECTIONS = ["Meaning", "Impact", "Diagnosis", "Mitigation", "Silencing"];

const ruleTests = z.object({
  tests: z.array(
    z.object({
      alert_rule_test: z.array(
        z.object({
          alertname: z.string(),
          eval_time: z.string(),
          exp_alerts: z.array(z.object({ exp_labels: z.record(z.string(), z.string()) })),
        }),
      ),
    }),
  ),
});
const grafanaRules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          uid: z.string().max(40),
          title: z.string(),
          keepFiringFor: z.string().optional(),
          missing_series_evals_to_resolve: z.number(),
          labels: z.object({ alert: z.string(), severity: z.string() }),
          data: z.array(z.object({ refId: z.string(), model: z.object({ expr: z.string().optional() }) })),
          annotations: z.record(z.string(), z.string()),
        }),
      ),
    }),
  ),
});

const context = { settings: SETTINGS, time: realTime };
const alerts = allAlerts(context).flatMap((group) => group.alerts);
const rules = grafanaRules
  .parse(parse(read("dashboards/grafana-alerts/rules.yml")))
  .groups.flatMap((group) => group.rules);
const names = [...new Set(alerts.map(({ name }) => name))];
const tests = ["synclag.test.yml", "synclag-hours.test.yml", "synclag-days.test.yml"].flatMap(
  (file) => ruleTests.parse(parse(read(`dashboards/rules/tests/${file}`))).tests,
);

describe("allAlerts()", () => {
  it("is tested firing, resolved after it, and not raised by what is near", () => {
    const tested = alerts.map(({ name, severity }) => {
      const own = tests.map((one) => one.alert_rule_test.filter(({ alertname }) => alertname === name));
      const fires = own.map((expectations) => ({
        expectations,
        at: expectations.findIndex(({ exp_alerts }) =>
          exp_alerts.some(({ exp_labels }) => exp_labels["severity"] === severity),
        ),
      }));
      return {
        name,
        severity,
        fires: fires.some(({ at }) => at >= 0),
        resolves: fires.some(
          ({ expectations, at }) =>
            at >= 0 && expectations.slice(at + 1).some(({ exp_alerts }) => exp_alerts.length === 0),
        ),
        spares: own.some(
          (expectations) =>
            expectations.length > 0 && expectations.every(({ exp_alerts }) => exp_alerts.length === 0),
        ),
      };
    });

    expect(tested).toEqual(
      alerts.map(({ name, severity }) => {
        // It fires always.
        const ends = name !== "Watchdog";
        return { name, severity, fires: true, resolves: ends, spares: ends };
      }),
    );
  });

  it("has an alert for every status but ok", () => {
    const expressions = alerts.map(({ expr }) => expr).join("\n");
    const asked = [...expressions.matchAll(/status=~?"([^"]+)"/g)].flatMap(([, match = ""]) =>
      match.split("|"),
    );

    expect(STATUSES.filter((status) => !asked.includes(status))).toEqual([]);
  });

  it("evaluates nothing that is not recorded or served", () => {
    const recorded = freshnessRecordings(context).flatMap(({ recordings }) =>
      recordings.map(({ record }) => record),
    );

    const used = alerts.flatMap(({ expr }) => expr.match(/\bsynclag:[\w:]+/g) ?? []);

    expect(recorded).toEqual(expect.arrayContaining([...new Set(used)]));
  });

  it("says of a protocol's chain who is behind by how much, and who is fresh", () => {
    const silent = alerts
      .filter(({ description }) =>
        ["chain", "protocol"].every((name) => labelsIn(description).includes(name)),
      )
      .filter(({ description }) => {
        const text = description.map((part) => (typeof part === "string" ? part : part.kind)).join(" ");
        return !(/behind|variants/.test(text) && /fresh|variants/.test(text));
      });

    expect(silent.map(({ name, severity }) => `${name} (${severity})`)).toEqual([]);
  });

  it("respects maintenance in every alert of targets", () => {
    const reckless = alerts
      .filter(({ expr }) => expr.includes("synclag_status") && !expr.includes("synclag_maintenance"))
      .map(({ name }) => name);

    expect(reckless).toEqual([]);
  });

  it("is the same for Grafana", () => {
    expect(
      rules.map(({ labels: { alert, severity }, data }) => ({
        name: alert,
        severity,
        expr: data.find(({ refId }) => refId === "A")?.model.expr,
      })),
    ).toEqual(
      alerts.map(({ name, severity, expr }) => ({ name, severity, expr: `${expr}\nor on ()\n  vector(-2)` })),
    );
    expect(new Set(rules.map(({ uid }) => uid)).size).toBe(rules.length);
    expect(new Set(rules.map(({ title }) => title)).size).toBe(rules.length);
    // Provisioning would take a $ for a variable of the environment.
    expect(rules.flatMap(({ annotations }) => Object.values(annotations)).join("")).not.toContain("$");
  });

  it("is never without data for Grafana, which takes one empty query for a rule without data", () => {
    const mayBeEmpty = rules.flatMap(({ uid, data }) =>
      data
        .filter(
          ({ model: { expr } }) => expr !== undefined && !/\nor on \(\)\n {2}vector\(-?\d\)$/.test(expr),
        )
        .map(({ refId }) => `${uid} ${refId}`),
    );

    expect(mayBeEmpty).toEqual([]);
  });

  it("resolves in Grafana as late as in Prometheus, whether its series ends or is gone", () => {
    const times = rules.map(({ uid, keepFiringFor, missing_series_evals_to_resolve }) => ({
      uid,
      keepFiringFor,
      missing_series_evals_to_resolve,
    }));

    expect(times).toEqual(
      alerts.map(({ keepFiringFor }, index) => ({
        uid: rules[index]?.uid,
        keepFiringFor: keepFiringFor ?? undefined,
        missing_series_evals_to_resolve:
          keepFiringFor === null ? 1 : Number(/^(\d+)m$/.exec(keepFiringFor)?.[1]),
      })),
    );
  });
});

describe("docs/runbooks/", () => {
  it("has a page for each alert, and no other", () => {
    expect(readdirSync(RUNBOOKS).toSorted()).toEqual(names.map((name) => `${name}.md`).toSorted());
  });

  it("is served where the alerts lead to, with its sections, on one page, and names the severities", async () => {
    const { pathname } = new URL(SETTINGS.runbooksUrl);
    await using server = await serve();

    const pages = names.map(async (name) => {
      const page = read(`docs/runbooks/${name}.md`);
      const severity = /^Severity: (.+)$/m.exec(page)?.[1] ?? "";
      return {
        name,
        title: page.split("\n")[0],
        status: (await fetch(`${server.url}${pathname}/${name}.md`)).status,
        sections: [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title),
        isShort: page.split("\n").length < 60,
        unnamed: alerts.filter((alert) => alert.name === name && !severity.includes(alert.severity)),
      };
    });

    expect(pathname).toBe(RUNBOOKS_PATH);
    expect(await Promise.all(pages)).toEqual(
      names.map((name) => ({
        name,
        title: `# ${name}`,
        status: 200,
        sections: SECTIONS,
        isShort: true,
        unnamed: [],
      })),
    );
  });
});

/** Labels that a text fills in. */
function labelsIn(text: Text): readonly string[] {
  return text.flatMap((part) => (typeof part !== "string" && part.kind === "label" ? [part.name] : []));
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}
