import { describe, expect, it } from "vitest";
import type { Report } from "../../../src/core/model/report.ts";
import { keepTargets } from "../../../src/views/api/filter-status.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { type CheckTableOptions, renderCheckTable } from "../../../src/views/terminal/check-table.ts";
import { defaultFleetReport } from "../default-fleet-report.ts";
import {
  MINUTE_MS,
  NOW_MS,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

const PLAIN = { color: "none", widthColumns: null, statusesUrl: "docs/statuses.md" } as const;

describe("renderCheckTable()", () => {
  it("lists what is not ok in a large fleet, and one line for each indexer", () => {
    expect(render(defaultFleetReport())).toMatchInlineSnapshot(`
      "6 of 140 targets need attention; worst: airdrops subgraph on Berachain, failed, 3 h 18 min behind; only subgraph (testing) is ok

      STATUS       TARGET                                    LAG   BLOCKS      HEIGHT  DETAIL
      failed       airdrops/berachain/subgraph        3 h 18 min    5,940  38,000,000  The subgraph reports a failed deployment: handler \`handleClaim\` aborted at block 12,345,678 <mapping.ts> (indexing_error)
      missing      lockup/morph/multichain                     -        -           -  The answer names 20 chains, and 2818 is not among them
      stalled      lockup/base/subgraph                   41 min    1,230  38,000,000  Has not advanced for 41 min while Base produced 1,230 blocks
      lagging      airdrops/sei/subgraph testing          12 min    1,800  38,000,000  12 min behind the reference, and catching up
      throttled    lockup/polygon/subgraph testing          95 s       47  38,000,000  HTTP 429, and asks to wait 61 s (rate_limited)
      syncing      airdrops/tangle/multichain               31 d  446,400  38,000,000  Back-filling: 61 % of the way, done in about 2 h
      unreachable  airdrops/sepolia/subgraph testing           -        -           -  No answer within 10 s (timeout)

      INDEXER                       OK   WORST LAG  NOT OK
      airdrops multichain        20/21        31 d  1 syncing
      airdrops subgraph          25/26  3 h 18 min  1 failed
      airdrops subgraph testing  20/23      12 min  1 unreachable, 1 lagging, 1 unknown
      lockup multichain          20/21       5.4 s  1 missing
      lockup subgraph            25/26      41 min  1 stalled
      lockup subgraph testing    22/23        95 s  1 throttled

      Not polled: flow subgraph (production): FLOW_API_KEY is not set

      Status meanings: docs/statuses.md#failed #missing #stalled #lagging #throttled #syncing #unknown #unreachable"
    `);
  });

  it("lists every target of a small selection, those that are ok last", () => {
    const targets = [
      sampleTargetReport(),
      sampleTargetReport({
        target: sampleTarget({ variant: "subgraph" }),
        status: "lagging",
        lagMs: 41 * MINUTE_MS,
        lagBlocks: 1230,
        block: 37_998_772,
        detail: "41 min behind the reference",
      }),
    ];

    expect(render(sampleReport({ chains: [sampleChainReport({ targets })] }))).toMatchInlineSnapshot(`
      "1 of 2 targets needs attention: lockup subgraph, 41 min behind; multichain is ok

      STATUS   TARGET                     LAG  BLOCKS      HEIGHT  DETAIL
      lagging  lockup/base/subgraph    41 min   1,230  37,998,772  41 min behind the reference
      ok       lockup/base/multichain     4 s       2  38,000,000  4 s behind the reference

      Status meanings: docs/statuses.md#lagging"
    `);
  });

  it("shows an incident once, without listing its targets", () => {
    const report = defaultFleetReport();
    const { key } = sampleTarget({ variant: "subgraph" });
    const text = render({
      ...report,
      incidents: [
        {
          scope: "host",
          subject: "a.example",
          sinceMs: NOW_MS - 7 * MINUTE_MS,
          detail: "It is down",
          targets: [key],
        },
      ],
    });

    expect(text).toContain("Incident: host a.example: It is down (1 target, for 7 min)");
    expect(text).not.toContain("lockup/base/subgraph");
  });

  it("limits the list to a screen", () => {
    const report = defaultFleetReport();
    const chains = report.chains.map((chain) => ({
      ...chain,
      targets: chain.targets.map((target) => ({ ...target, status: "failed" as const })),
    }));
    const lines = render({ ...report, chains }).split("\n");

    expect(lines.filter((line) => line.startsWith("failed "))).toHaveLength(24);
    expect(lines).toContain("and 116 more: filter by protocol or chain to list them");
  });

  it("adds the reason only where the detail lacks it", () => {
    const targets = [
      sampleTargetReport({ status: "unreachable", reason: "timeout", detail: "no answer" }),
      sampleTargetReport({ status: "rejected", reason: "unauthorized", detail: "unauthorized: no key" }),
    ];
    const text = render(sampleReport({ chains: [sampleChainReport({ targets })] }));

    expect(text).toMatch(/no answer \(timeout\)$/m);
    expect(text).toMatch(/unauthorized: no key$/m);
  });

  it("cuts table lines to the terminal's width, and wraps sentences", () => {
    const text = render(defaultFleetReport(), { widthColumns: 60 });
    const lines = text.split("\n");

    expect(Math.max(...lines.map((line) => line.length))).toBe(60);
    expect(lines.find((line) => line.startsWith("failed "))).toMatch(/…$/);
    expect(lines.slice(0, lines.indexOf("")).join(" ")).toBe(
      "6 of 140 targets need attention; worst: airdrops subgraph on Berachain, failed, 3 h 18 min behind; only subgraph (testing) is ok",
    );
  });

  it("finds alternatives among the targets that were not selected", () => {
    const targets = [
      sampleTargetReport(),
      sampleTargetReport({ target: sampleTarget({ variant: "subgraph" }), status: "failed" }),
    ];
    const unfiltered = statusJson(sampleReport({ chains: [sampleChainReport({ targets })] }));
    const asked = keepTargets(unfiltered, unfiltered.targets.slice(1));

    expect(renderCheckTable(asked, { ...PLAIN, unfiltered })).toContain(
      "1 of 1 target needs attention: lockup subgraph, failed; multichain is ok\n",
    );
  });

  it("colours only on request, without changing the text", () => {
    const plain = render(defaultFleetReport());
    const coloured = render(defaultFleetReport(), { color: "ansi" });

    expect(plain).not.toContain("\u001B");
    expect(coloured).toContain("\u001B[31;1mstalled\u001B[0m ");
    expect(coloured.replaceAll(/\p{Cc}\[[0-9;]+m/gu, "")).toBe(plain);
  });

  it("removes control characters from upstream texts", () => {
    const hostile = sampleTargetReport({ status: "failed", detail: "a\u001B[2Jb\r\nok  forged\u202Ec" });
    const text = render(sampleReport({ chains: [sampleChainReport({ targets: [hostile] })] }));

    expect(text).toContain("a [2Jb ok  forged c");
    expect(text).not.toMatch(/[^\n\P{Cc}]/u);
  });
});

function render(report: Report, options: Partial<CheckTableOptions> = {}): string {
  const json = statusJson(report);
  return renderCheckTable(json, { ...PLAIN, unfiltered: json, ...options });
}
