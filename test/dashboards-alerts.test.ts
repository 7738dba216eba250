import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Alert, annotationsOf } from "../dashboards/src/alert.ts";
import { allAlerts } from "../dashboards/src/alerts/all-alerts.ts";
import { freshnessRecordings } from "../dashboards/src/freshness.ts";
import { renderedFiles } from "../dashboards/src/rendered-files.ts";
import { SETTINGS, type Settings } from "../dashboards/src/settings.ts";
import { realTime } from "../dashboards/src/time-scale.ts";
import { STATUSES } from "../src/core/model/statuses.ts";
import { RUNBOOKS_PATH } from "../src/views/page/links.ts";
import { chainPath, pairAnchor, targetAnchor } from "../src/views/wording/chain-links.ts";
import { ruleTestFiles } from "./rules/rule-test-files.ts";
import { serve } from "./support/served.ts";

const ROOT = new URL("../", import.meta.url);
const RUNBOOKS = new URL("docs/runbooks/", ROOT);

interface GrafanaRules {
  readonly groups: readonly {
    readonly rules: readonly { uid: string; title: string; annotations: Record<string, string> }[];
  }[];
}

const context = { settings: SETTINGS, time: realTime };
const alerts = allAlerts(context).flatMap((group) => group.alerts);
const names = [...new Set(alerts.map(({ name }) => name))];
const tests = ruleTestFiles(context).flatMap((file) => file.tests);

describe("allAlerts()", () => {
  it("has for each alert a test of each severity, of its end, and of a similar state that does not fire", () => {
    const fired = (severity: string) => (severity === "byLabels" ? ["critical", "warning"] : [severity]);
    const untested = alerts
      // These are counted by expressions of their own.
      .filter(({ name }) => name !== "SynclagWatchdog" && name !== "SynclagFreshnessErrorBudgetBurn")
      .flatMap(({ name, severity }) => fired(severity).map((as) => ({ name, as })))
      .filter(({ name, as }) => {
        // For each test, whether it fires at each instant: `+` or `-`.
        const own = tests.map(({ fires }) =>
          Object.values(fires)
            .map((all) => (all.some((one) => one.name === name && one.severity === as) ? "+" : "-"))
            .join(""),
        );
        return !(
          own.some((instants) => /\+.*-/.test(instants)) && own.some((instants) => /^-+$/.test(instants))
        );
      });

    expect(untested).toEqual([]);
  });

  it("has a test of a text with each kind of field", () => {
    const fired = tests.flatMap(({ fires }) => Object.values(fires).flat());
    const tested = alerts.filter(({ name }) =>
      fired.some((one) => one.name === name && one.texts !== undefined),
    );
    const kindsOf = (of: readonly Alert[]) => {
      const parts = of.flatMap(({ summary, description }) => [...summary, ...description]);
      return new Set(parts.flatMap((part) => (typeof part === "string" ? [] : part.kind)));
    };

    expect(kindsOf(tested)).toEqual(kindsOf(alerts));
  });

  it("has an alert for every status but ok", () => {
    const expressions = alerts.map(({ expr }) => expr).join("\n");
    const asked = [...expressions.matchAll(/status=~?"([^"]+)"/g)].flatMap(([, match = ""]) =>
      match.split("|"),
    );

    expect(STATUSES.filter((status) => !asked.includes(status))).toEqual([]);
  });

  it("links to the copy of the runbooks if Synclag itself may be down", () => {
    const linksOf = (settings: Settings) =>
      alerts
        .filter(({ name }) => /^Synclag(Down|Absent|Restarting)$/.test(name))
        .flatMap((alert) => Object.values(annotationsOf(alert, settings, ({ kind }) => kind)));
    const copied = { ...SETTINGS, runbooksUrl: "https://git.example/runbooks" };

    expect(linksOf(SETTINGS)).toHaveLength(16);
    expect(linksOf(SETTINGS).filter((text) => text.includes(SETTINGS.synclagUrl))).toEqual([]);
    expect(linksOf(SETTINGS)).toContain("docs/runbooks/SynclagDown.md");
    expect(linksOf(copied)).toContain("https://git.example/runbooks/SynclagDown.md");
  });

  it("links to the target, the protocol or the indexer that its summary names", () => {
    const pages = new Map(
      alerts.map((alert) => [
        alert.name,
        annotationsOf(alert, SETTINGS, (field) => (field.kind === "label" ? field.name : ""))["page_url"],
      ]),
    );
    const names = { protocol: "protocol", variant: "variant", tier: "tier" };
    const page = SETTINGS.synclagUrl;

    expect(pages.get("SynclagIndexerStalled")).toBe(`${page}${chainPath("chain")}#${targetAnchor(names)}`);
    expect(pages.get("SynclagNoVariantOk")).toBe(`${page}${chainPath("chain")}#${pairAnchor("protocol")}`);
    expect(pages.get("SynclagChainHalted")).toBe(`${page}${chainPath("chain")}`);
    expect(pages.get("SynclagKeyRejected")).toBe(`${page}/?q=protocol+variant+tier`);
    expect(pages.get("SynclagPollLoopStuck")).toBe(`${page}/`);
  });

  it("keeps the labels by which a selector tells several instances of Synclag apart", () => {
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

  it("has unique names in Grafana, and no $, which provisioning would take for a variable", () => {
    const { groups } = parse(read("dashboards/grafana-alerts/rules.yml")) as GrafanaRules;
    const rules = groups.flatMap((group) => group.rules);

    expect(rules).toHaveLength(alerts.length);
    expect(new Set(rules.map(({ uid }) => uid.slice(0, 40))).size).toBe(rules.length);
    expect(new Set(rules.map(({ title }) => title)).size).toBe(rules.length);
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

  it("names panels and dashboards that exist", () => {
    const boards = [...renderedFiles()]
      .filter(([path]) => /^[\w-]+\.json$/.test(path))
      .map(([, text]) => text);
    const titles = boards.flatMap((text) => text.match(/(?<="title": ").+(?=")/g) ?? []);
    const known = new Set(titles.map((title) => title.replace("$protocol", "PROTOCOL")));
    const named = names.flatMap(
      (name) => read(`docs/runbooks/${name}.md`).match(/(?<=\*)[A-Z][^*]+(?=\*)/g) ?? [],
    );

    expect(named.map((title) => title.replaceAll(/\s+/g, " ")).filter((title) => !known.has(title))).toEqual(
      [],
    );
  });

  it("is served at the alert's link with all sections, on one page, and names the severities", async () => {
    const { pathname } = new URL(SETTINGS.runbooksUrl);
    await using server = await serve();

    const found = names.map(async (name) => {
      const page = read(`docs/runbooks/${name}.md`);
      const { status } = await fetch(`${server.url}${pathname}/${name}.md`);
      const sections = page.match(/^##? .+$/gm) ?? [];
      return `${status} ${sections.join(", ")}${page.split("\n").length < 60 ? "" : ", too long"}`;
    });
    const unnamed = alerts.filter(({ name, severity }) => {
      const [, named = ""] = /^Severity: (.+)$/m.exec(read(`docs/runbooks/${name}.md`)) ?? [];
      return !(severity === "byLabels" ? /critical.*warning/ : RegExp(severity)).test(named);
    });

    expect(pathname).toBe(RUNBOOKS_PATH);
    expect(unnamed).toEqual([]);
    expect(await Promise.all(found)).toEqual(
      names.map((name) => `200 # ${name}, ## Meaning, ## Impact, ## Diagnosis, ## Mitigation`),
    );
  });
});

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}
