import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { type Alert, severityLabel } from "../dashboards/src/alert.ts";
import { allAlerts } from "../dashboards/src/alerts/all-alerts.ts";
import { freshnessRecordings } from "../dashboards/src/freshness.ts";
import { selected } from "../dashboards/src/promql.ts";
import { SETTINGS } from "../dashboards/src/settings.ts";
import { realTime } from "../dashboards/src/time-scale.ts";
import { STATUSES } from "../src/core/model/report.ts";
import { RUNBOOKS_PATH } from "../src/views/page/links.ts";
import { ruleTestFiles } from "./rules/rule-test-files.ts";
import { serve } from "./support/served.ts";

const ROOT = new URL("../", import.meta.url);
const RUNBOOKS = new URL("docs/runbooks/", ROOT);

const SECTIONS = ["Meaning", "Impact", "Diagnosis", "Mitigation"];

const grafanaRules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          uid: z.string().max(40),
          title: z.string(),
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
const tests = ruleTestFiles(context).flatMap((file) => file.tests);

describe("allAlerts()", () => {
  it("is tested as firing in each severity, as resolved, and as silent for similar states", () => {
    const fired = (severity: string) => (severity === "served" ? ["critical", "warning"] : [severity]);
    const untested = alerts
      // These are counted by expressions of their own.
      .filter(({ name }) => name !== "SynclagWatchdog" && name !== "SynclagFreshnessErrorBudgetBurn")
      .flatMap(({ name, severity }) => fired(severity).map((as) => ({ name, as })))
      .map(({ name, as }) => {
        const own = tests.map(({ fires }) =>
          Object.values(fires).map((all) => all.some((one) => one.name === name && one.severity === as)),
        );
        return {
          alert: `${name} ${as}`,
          fires: own.some((instants) => instants.includes(true)),
          ends: own.some(
            (instants) => instants.lastIndexOf(false) > instants.indexOf(true) && instants.includes(true),
          ),
          spares: own.some((instants) => instants.length > 0 && !instants.includes(true)),
        };
      })
      .filter(({ fires, ends, spares }) => !(fires && ends && spares));

    expect(untested).toEqual([]);
  });

  it("has each kind of field in a text that is tested", () => {
    const tested = new Set(
      tests
        .flatMap(({ fires }) => Object.values(fires).flat())
        .filter(({ texts }) => texts !== undefined)
        .map(({ name }) => name),
    );
    const kindsOf = (of: readonly Alert[]) =>
      new Set(
        of.flatMap((alert) =>
          [...alert.summary, ...alert.description].flatMap((part) =>
            typeof part === "string" ? [] : [part.kind],
          ),
        ),
      );

    expect(kindsOf(alerts.filter(({ name }) => tested.has(name)))).toEqual(kindsOf(alerts));
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

  it("records with the labels by which a selector tells several Synclags apart", () => {
    const groupings = freshnessRecordings(context).flatMap(({ recordings }) =>
      recordings.flatMap(({ expr }) => [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].map(([, by]) => by)),
    );

    expect(groupings.length).toBeGreaterThan(5);
    expect(groupings.filter((by) => by?.startsWith("cluster, job") !== true)).toEqual([]);
  });

  it("respects maintenance in every alert of targets", () => {
    const reckless = alerts
      .filter(({ expr }) => expr.includes("synclag_status") && !expr.includes("synclag_maintenance"))
      // The daemon leaves out those in maintenance.
      .filter(({ expr }) => !expr.includes("synclag_incident_targets"))
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
      alerts.map((alert) => ({
        name: alert.name,
        severity: severityLabel(alert, SETTINGS, ".Labels"),
        expr: `${selected(alert.expr, SETTINGS.selector)}\nor on ()\n  vector(-2)`,
      })),
    );
    expect(new Set(rules.map(({ uid }) => uid)).size).toBe(rules.length);
    expect(new Set(rules.map(({ title }) => title)).size).toBe(rules.length);
    // Provisioning would take a $ for a variable of the environment.
    expect(rules.flatMap(({ annotations }) => Object.values(annotations)).join("")).not.toContain("$");
  });
});

describe("docs/runbooks/", () => {
  it("has a page for each alert, and one about silences", () => {
    expect(readdirSync(RUNBOOKS).toSorted()).toEqual(
      [...names, "Silencing"].map((name) => `${name}.md`).toSorted(),
    );
  });

  it("can be reached from each status but ok, on the page that a dashboard links to", () => {
    const linked = read("docs/statuses.md")
      .split(/^## /m)
      .filter((section) => /\]\(runbooks\/Synclag\w+\.md\)/.test(section))
      .map((section) => /^`(\w+)`/.exec(section)?.[1]);

    expect(linked).toEqual(STATUSES.filter((status) => status !== "ok"));
  });

  it("is served at the alert's link with all sections, on one page, and names the severities", async () => {
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
        unnamed: alerts.filter(
          (alert) =>
            alert.name === name &&
            !(alert.severity === "served" ? /critical.*warning/ : RegExp(alert.severity)).test(severity),
        ),
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

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}
