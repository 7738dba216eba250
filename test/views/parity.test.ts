import { describe, expect, it } from "vitest";
import type { ParityReport, Report } from "../../src/core/model/report.ts";
import { keepTargets } from "../../src/views/api/filter-status.ts";
import { healthJson } from "../../src/views/api/health.ts";
import { statusJson } from "../../src/views/api/status.ts";
import { renderChainPage } from "../../src/views/page/chain.ts";
import { renderStatusPage } from "../../src/views/page/status.ts";
import { checkExitCode } from "../../src/views/terminal/check-exit-code.ts";
import { renderCheckTable } from "../../src/views/terminal/check-table.ts";
import {
  MINUTE_MS,
  sampleChainReport,
  sampleParity,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "./sample-report.ts";

const PAGE = { nonce: "n0nce", version: "1.2.3" };
const CHECK = { color: "none", widthColumns: null, statusesUrl: "docs/statuses.md" } as const;
const PONDER = sampleTarget({ variant: "ponder" });
const EQUAL = sampleParity({
  result: "equal",
  compared: { block: 37_999_990, value: "6143", againstValue: "6143", difference: 0 },
});
const UNKNOWN = sampleParity({
  result: "unknown",
  compared: null,
  sinceMs: null,
  lastComparisonMs: null,
  detail: "not known to be equal to multichain: the query of subgraph failed",
});

describe("a report with data that differ", () => {
  const page = renderStatusPage(reportOf(sampleParity()), PAGE);

  it("marks both cells of the matrix, and has a line for what needs attention", () => {
    expect(page.match(/ ≠<\/a><\/td>/g)).toHaveLength(2);
    expect(page).toContain("≠ data that differ");
    expect(textOf(page)).toContain(
      "Data that differ ≠ lockup on Base (campaigns) : subgraph has 6141 and multichain 6143 at block 37,999,990, for 20 min",
    );
  });

  it("has a headline that says so where every target is ok", () => {
    expect(page).toContain("<title>1 needs attention · Synclag</title>");
    expect(textOf(page)).toContain("Data differ: subgraph and multichain of lockup on Base (campaigns)");
  });

  it("marks the odd one out alone where that is known", () => {
    const odd = sampleParity({ odd: "target" });
    const text = renderStatusPage(reportOf(odd, sampleParity({ target: PONDER, result: "equal" })), PAGE);

    expect(text.match(/ ≠<\/a><\/td>/g)).toHaveLength(1);
    expect(text).toMatch(/#lockup-subgraph-production"[^\n]* ≠<\/a><\/td>/);
    expect(textOf(text)).toContain("subgraph is the odd one out");
  });

  it("is not urgent in maintenance", () => {
    const report = reportOf(sampleParity());
    const chains = report.chains.map((chain) => ({
      ...chain,
      targets: chain.targets.map((target) => ({ ...target, maintenance: true })),
    }));

    expect(renderStatusPage({ ...report, chains }, PAGE)).toContain("<title>All 3 targets are ok");
  });

  it("shows values side by side on the page of the chain, with the query to repeat by hand", () => {
    const record = {
      key: "lockup/subgraph/production/base",
      kind: "indexer",
      targets: [sampleTarget({ variant: "subgraph" }).key],
      replies: [],
      failures: [],
      curl: null,
      parity: [
        {
          probe: "campaigns",
          target: sampleTarget({ variant: "subgraph" }).key,
          curl: "curl -d '{ rows { n } }'",
        },
      ],
    } as const;
    const html = renderChainPage(reportOf(sampleParity()), "base", {
      ...PAGE,
      past: { timesMs: [], reference: [], targets: {} },
      endpoints: [record],
      plots: { script: "/assets/plots.js", styles: "/assets/plots.css" },
    });

    expect(html).toContain('id="parity-lockup"');
    expect(textOf(html ?? "")).toContain(
      "campaigns ≠ different by 2 subgraph 6141 at 37,999,990 last: 6141 at 37,999,990, 60 s ago multichain 6143 at 37,999,990 last: 6143 at 37,999,992, 60 s ago 02:52:44 UTC , 20 min differs from multichain",
    );
    expect(html).toContain("curl -d &#39;{ rows { n } }&#39;");
  });

  it("is a line of check, which exits 1", () => {
    const json = statusJson(reportOf(sampleParity(), UNKNOWN));

    expect(renderCheckTable(json, { ...CHECK, unfiltered: json })).toContain(
      "Data differ: lockup on Base (campaigns): subgraph has 6141 and multichain 6143 at block 37,999,990, for 20 min\nParity: 0 of 2 pairs equal, 1 different, 1 unknown",
    );
    expect(checkExitCode(json, [])).toBe(1);
    expect(checkExitCode(statusJson(reportOf(EQUAL, UNKNOWN)), [])).toBe(0);
  });

  it("stays in a selection of either of the two, and of no other", () => {
    const json = statusJson(reportOf(sampleParity()));
    const only = (variant: string) =>
      keepTargets(
        json,
        json.targets.filter((target) => target.variant === variant),
      ).parity.length;

    expect([only("subgraph"), only("multichain"), only("ponder")]).toEqual([1, 1, 0]);
  });
});

describe("a report without parity", () => {
  it("shows nothing of it", () => {
    const report = reportOf();
    const json = statusJson(report);

    expect(renderStatusPage(report, PAGE)).not.toMatch(/parity|≠|data that differ/i);
    expect(renderCheckTable(json, { ...CHECK, unfiltered: json })).not.toMatch(/parity|data differ/i);
  });
});

describe("healthJson() with parity=equal", () => {
  it.each([
    {
      case: "two differ",
      parity: [sampleParity()],
      healthy: { multichain: false, subgraph: false, ponder: true },
    },
    {
      case: "one is the odd one out",
      parity: [sampleParity({ odd: "target" })],
      healthy: { multichain: true, subgraph: false, ponder: true },
    },
    { case: "data are equal", parity: [EQUAL], healthy: { multichain: true, subgraph: true, ponder: true } },
    {
      case: "nothing is known",
      parity: [UNKNOWN],
      healthy: { multichain: true, subgraph: true, ponder: true },
    },
  ])("is about the variants whose data differ, where $case", ({ parity, healthy }) => {
    const ask = (variant: string, wanted?: "equal") =>
      healthJson(reportOf(...parity), {
        protocol: "lockup",
        chain: "base",
        variant,
        maxLagMs: 10 * MINUTE_MS,
        parity: wanted,
      })?.healthy;

    expect(
      Object.fromEntries(Object.keys(healthy).map((variant) => [variant, ask(variant, "equal")])),
    ).toEqual(healthy);
    expect(Object.keys(healthy).map((variant) => ask(variant))).toEqual([true, true, true]);
  });
});

function reportOf(...parity: readonly ParityReport[]): Report {
  const targets = ["multichain", "subgraph", "ponder"].map((variant) =>
    sampleTargetReport({ target: sampleTarget({ variant }) }),
  );
  return sampleReport({ chains: [sampleChainReport({ targets, parity })] });
}

function textOf(page: string): string {
  return page
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll("&#39;", "'");
}
