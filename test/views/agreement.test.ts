import { describe, expect, it } from "vitest";
import { servingTargets, type Target } from "../../src/core/model/fleet.ts";
import type { Report, TargetReport } from "../../src/core/model/report.ts";
import { STATUSES } from "../../src/core/model/statuses.ts";
import { incidentsOf } from "../../src/core/report/incidents-of.ts";
import { judgeReport, needsAction } from "../../src/core/report/severity.ts";
import { healthJson } from "../../src/views/api/health.ts";
import { renderPublicPage } from "../../src/views/page/public.ts";
import { renderStatusPage } from "../../src/views/page/status.ts";
import { checkExitCode, renderCheckTable, renderNagiosLine } from "../../src/views/terminal/check.ts";
import { headline } from "../../src/views/wording/headline.ts";
import { findProblems } from "../../src/views/wording/targets.ts";
import { PAGE, textOf } from "../support/outputs.ts";
import {
  NOW_MS,
  sampleChainReport,
  sampleParity,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "./sample-report.ts";

/** The states of a target: each status, late and very late ones, and ones that were never at the head. */
const STATES: readonly Partial<TargetReport>[] = [
  ...STATUSES.map((status) => ({ status, lag_seconds: status === "ok" ? 4 : null })),
  ...(["lagging", "syncing", "throttled"] as const).flatMap((status) => [
    { status, lag_seconds: 900 },
    { status, lag_seconds: 7_200 },
  ]),
  { status: "syncing", served: false, lag_seconds: 900 },
  { status: "syncing", served: false, lag_seconds: 7_200 },
];

/** Further circumstances of a whole pair. */
const CIRCUMSTANCES = [
  { name: "nothing else" },
  { name: "the first in maintenance", planned: [0] },
  { name: "both in maintenance", planned: [0, 1] },
  { name: "the second is testing", tier: "testing" },
  { name: "the second is testing, the first in maintenance", tier: "testing", planned: [0] },
  { name: "sources contradict each other", dispute: "multichain and subgraph contradict each other" },
  { name: "data differ", parity: "different" },
  { name: "data differ in maintenance", parity: "different", planned: [1] },
] as const;

type Circumstance = Partial<{
  readonly name: string;
  readonly planned: readonly number[];
  readonly tier: string;
  readonly dispute: string;
  readonly parity: "different";
}>;

/** Every pair of states in every circumstance. */
const CASES = CIRCUMSTANCES.flatMap((circumstance: Circumstance) =>
  STATES.flatMap((first) =>
    STATES.map((second) => {
      const name = `${[first, second].map(nameOf).join(" and ")}, ${circumstance.name}`;
      return { name, circumstance, states: [first, second] as const };
    }),
  ),
);

function nameOf({ status, lag_seconds: lag, served = true }: Partial<TargetReport>): string {
  return `${served ? "" : "new "}${status}${lag == null ? "" : ` ${lag} s`}`;
}

function reportOf({ circumstance, states }: (typeof CASES)[number]): Report {
  const { dispute = null, parity, planned = [], tier = "production" } = circumstance;
  const keys = [sampleTarget(), sampleTarget({ variant: "subgraph", tier })] as const;
  const targets = keys.map((target, index) =>
    sampleTargetReport({ target, maintenance: planned.includes(index), ...states[index] }),
  );
  const compared = parity === undefined ? [] : [parityOf(parity, keys)];
  const reference = dispute === null ? {} : { reference: null };
  return sampleReport({ chains: [sampleChainReport({ targets, dispute, parity: compared, ...reference })] });
}

function parityOf(result: "different", [rival, target]: readonly [Target, Target]) {
  return sampleParity({ rival, target, result, odd: null, odd_key: null });
}

/** The verdict of every view on a report. */
function viewsOf(report: Report) {
  const { pairs, severity, targets } = judgeReport(report);
  const { tone, title, urgent } = headline(report, findProblems(report));
  const exitCode = checkExitCode(report, []);
  const asked = { protocol: "lockup", chain: "base" };
  return {
    ...{ severity, tone, title, urgent, exitCode, targets, state: pairs[0]?.state },
    nagios: renderNagiosLine(report, { unfiltered: report, selections: [] }).split(/[ :]/)[1],
    page: /<div class="summary (\w+)">/.exec(renderStatusPage(report, PAGE))?.[1],
    public: /: (?:Some|All|No) systems .*?(operational|degraded|down|unknown|in maintenance)/.exec(
      textOf(
        renderPublicPage(report, { title: "Status", protocols: null, notice: null }, PAGE.events, "x.css"),
      ),
    )?.[1],
    isHealthy: healthJson(report, asked)?.healthy,
    isEqual: healthJson(report, { ...asked, parity: "equal" })?.healthy,
    paged: isPaged(report),
    rows: coloursOf(report),
    incidents: incidentsOf({ ...report, causes: [], previous: [], nowMs: NOW_MS }),
  };
}

const ANSI = { ok: "32", calm: "34", unknown: "2", warning: "33", critical: "31;1" } as const;

/** The colour of the row of each target in the table of `check`. */
function coloursOf(report: Report): readonly string[] {
  const options = { selections: [], color: "ansi", widthColumns: null, statusesUrl: "" } as const;
  const rows = renderCheckTable(report, { ...options, unfiltered: report }).split("\n");
  return report.targets
    .flatMap(({ key, variant }) => {
      const row = rows.find((line) => line.includes(`lockup/base/${variant}`)) ?? "";
      return `${key} ${/\[([\d;]+)m/.exec(row)?.[1]}`;
    })
    .toSorted();
}

/** Whether all targets that the users of a pair lack are in maintenance. */
function isPlanned(one: (typeof CASES)[number]): boolean {
  const { targets } = reportOf(one);
  const missed = servingTargets(targets).filter(({ status }) => status !== "ok");
  const isOk = judgeReport(reportOf(one)).pairs.every(({ state }) => state === "ok");
  return !isOk && missed.length > 0 && missed.every(({ maintenance }) => maintenance);
}

/** What SynclagNoVariantOk asks: the pair is down, and not all targets that serve its users are in maintenance. */
function isPaged(report: Report): boolean {
  const production = report.targets.filter(({ tier }) => tier === "production");
  const planned = (some: readonly TargetReport[]) => some.every(({ maintenance }) => maintenance);
  const isPlanned = planned(report.targets) || planned(production);
  return judgeReport(report).pairs.some(({ state }) => state === "down") && !isPlanned;
}

const BY_SEVERITY = {
  ok: { tone: "ok", exitCodes: [0] },
  calm: { tone: "busy", exitCodes: [0] },
  unknown: { tone: "idle", exitCodes: [1, 3] },
  warning: { tone: "warn", exitCodes: [1, 3] },
  critical: { tone: "bad", exitCodes: [2] },
} as const;
const NAGIOS = ["OK", "WARNING", "CRITICAL", "UNKNOWN"];
const PUBLIC = { ok: "operational", degraded: "degraded", down: "down", unknown: "unknown" } as const;

describe("how bad a report is", () => {
  // One test: the names of 4,000 cases would bury those of all other tests.
  it("is the same in all views for each pair of statuses, with tiers, maintenance, disputes and parity", () => {
    for (const one of CASES) {
      const said = viewsOf(reportOf(one));
      const { tone, exitCodes } = BY_SEVERITY[said.severity];
      const isFault = said.severity === "warning" || said.severity === "critical";

      expect.soft(said.tone, `headline: ${one.name}`).toBe(tone);
      expect.soft(said.page, `page: ${one.name}`).toBe(tone);
      expect.soft(exitCodes as readonly number[], `exit code: ${one.name}`).toContain(said.exitCode);
      expect.soft(said.nagios, `nagios: ${one.name}`).toBe(NAGIOS[said.exitCode]);
      expect.soft(said.urgent > 0, `needs attention: ${one.name}`).toBe(isFault);
      expect
        .soft(said.title.startsWith("No action needed"), `title: ${one.name}`)
        .toBe(said.severity === "calm");
      const colours = [...said.targets].map(([key, severity]) => `${key} ${ANSI[severity]}`);
      expect.soft(said.rows, `rows of check: ${one.name}`).toEqual(colours.toSorted());
      expect.soft(said.paged, `SynclagNoVariantOk: ${one.name}`).toBe(said.severity === "critical");
      const troubled = [...said.targets].flatMap(([key, severity]) => (needsAction(severity) ? key : []));
      const listed = said.incidents.flatMap(({ targets }) => targets);
      const isCritical = said.incidents.some(({ severity }) => severity === "critical");
      expect.soft(listed.toSorted(), `incidents: ${one.name}`).toEqual(troubled.toSorted());
      expect.soft(isCritical, `severity of incidents: ${one.name}`).toBe(said.severity === "critical");
      const word = isPlanned(one) ? "in maintenance" : PUBLIC[said.state ?? "unknown"];
      expect.soft(said.public, `public: ${one.name}`).toBe(word);
      const isWrong = said.public === "in maintenance" && said.state === "down" && said.paged;
      expect.soft(isWrong, `nobody is paged for what is planned: ${one.name}`).toBe(false);
      expect.soft(said.state === "down" && said.isHealthy, `health: ${one.name}`).toBe(false);
      expect.soft(said.state !== "ok" || said.isHealthy, `health of what is ok: ${one.name}`).toBe(true);
    }
  });

  it("is a warning if a target that was at the head re-indexes, and not if the target is new", () => {
    const severityOf = (state: Partial<TargetReport>) =>
      judgeReport(reportOf({ name: "", circumstance: {}, states: [state, state] })).severity;

    expect(severityOf({ status: "syncing", lag_seconds: 70_000_000 })).toBe("critical");
    expect(severityOf({ status: "syncing", lag_seconds: 70_000_000, served: false })).toBe("calm");
  });
});

describe("healthJson()", () => {
  it("is unhealthy while sources contradict each other, unless the request ignores that", () => {
    const dispute = "multichain and subgraph contradict each other";
    const states = [{ status: "ok" }, { status: "ok" }] as const;
    const report = reportOf({ name: "a dispute", circumstance: { name: "a dispute", dispute }, states });
    const asked = { protocol: "lockup", chain: "base" };

    const strict = healthJson(report, asked);
    const lenient = healthJson(report, { ...asked, dispute: "ignore" });

    expect(strict?.healthy).toBe(false);
    expect(strict?.targets[0]?.why).toContain(dispute);
    expect(lenient?.healthy).toBe(true);
  });
});
