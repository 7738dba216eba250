import { describe, expect, it } from "vitest";
import type { Report, Status, TargetReport } from "../../src/core/model/report.ts";
import { isoTime } from "../../src/core/model/text.ts";
import { keepTargets } from "../../src/views/api/selection.ts";
import {
  applyMaxLag,
  type CheckTableOptions,
  checkExitCode,
  renderCheckTable,
  selectForCheck,
} from "../../src/views/terminal/check.ts";
import { fleetReport } from "./fleet-report.ts";
import {
  MINUTE_MS,
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleParity,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "./sample-report.ts";

const PLAIN = { color: "none", widthColumns: null, statusesUrl: "docs/statuses.md" } as const;
const FLEET = fleetReport();

type Case = { readonly base: readonly Status[]; readonly gnosis?: readonly Status[]; readonly code: number };

describe("checkExitCode()", () => {
  it("is the exit code of the worst pair of protocol and chain", () => {
    const cases: readonly Case[] = [
      { base: ["ok", "ok"], code: 0 },
      { base: ["ok", "failed"], code: 1 },
      { base: ["lagging", "failed"], code: 1 },
      { base: ["failed", "stalled"], code: 2 },
      { base: ["ok", "ok"], gnosis: ["failed"], code: 2 },
      { base: ["ok", "failed"], gnosis: ["ok"], code: 1 },
      { base: ["ok"], gnosis: ["unknown"], code: 2 },
      { base: ["unknown", "unknown"], gnosis: ["unknown"], code: 3 },
      { base: [], code: 3 },
    ];

    expect(cases.map(({ code: _, ...of }) => ({ ...of, code: checkExitCode(jsonOf(of), []) }))).toEqual(
      cases,
    );
  });

  it("considers only the selection, and the worst of several selections", () => {
    const json = jsonOf({ base: ["ok", "failed"], gnosis: ["failed"] });
    const of = (...selections: readonly { chain: string; variant?: string }[]) =>
      checkExitCode(
        json,
        selections.map((selection) => ({ protocol: "lockup", ...selection })),
      );

    expect([
      of({ chain: "base", variant: "variant-1" }),
      of({ chain: "base", variant: "variant-0" }),
      of({ chain: "base" }),
      of({ chain: "gnosis" }, { chain: "base" }),
    ]).toEqual([2, 0, 1, 2]);
  });

  it("is 1 if data differ, and 0 if that is unknown", () => {
    const unknown = { result: "unknown", block: null, since: null } as const;
    const codeOf = (parity: ReturnType<typeof sampleParity>) => {
      const targets = ["multichain", "subgraph"].map((variant) =>
        sampleTargetReport({ target: sampleTarget({ variant }) }),
      );
      return checkExitCode(sampleReport({ chains: [sampleChainReport({ targets, parity: [parity] })] }), []);
    };

    expect([codeOf(sampleParity()), codeOf(sampleParity(unknown))]).toEqual([1, 0]);
  });
});

describe("selectForCheck()", () => {
  it("selects each target once, and all without a filter", () => {
    const countOf = (...filters: readonly string[]) => selectForCheck(FLEET, filters).json.targets.length;

    expect([countOf(), countOf("lockup"), countOf("lockup/base"), countOf("lockup/base/subgraph")]).toEqual([
      48, 24, 3, 2,
    ]);
    expect(countOf("lockup/base", "lockup/base/subgraph", "airdrops/sei")).toBe(6);
  });

  it("reports every filter that matches nothing", () => {
    const filters = [
      "lokcup",
      "vesting/base",
      "lockup/bsae",
      "lockup/base/subgrap",
      "lockup/base",
      "lockup//x",
      "a/b/c/d",
      "",
    ];

    const { errors } = selectForCheck(sampleReport(), filters);

    expect(errors).toEqual([
      "Cannot find protocol 'lokcup' (did you mean 'lockup'?): available are lockup",
      "Cannot find protocol 'vesting': available are lockup",
      "Cannot find chain 'bsae' of lockup (did you mean 'base'?): available are base",
      "Cannot find variant 'subgrap' of lockup/base: available are multichain",
      "Cannot use filter 'lockup//x': expected protocol, protocol/chain or protocol/chain/variant",
      "Cannot use filter 'a/b/c/d': expected protocol, protocol/chain or protocol/chain/variant",
      "Cannot use filter '': expected protocol, protocol/chain or protocol/chain/variant",
    ]);
  });
});

describe("applyMaxLag()", () => {
  it("turns ok targets that are further behind into lagging", () => {
    const cases: readonly (readonly [Partial<TargetReport>, string])[] = [
      [{ lag_seconds: 60 }, "ok: 4 s behind the reference"],
      [{ lag_seconds: 5 * 60 }, "lagging: 5 min behind the reference, more than the --max-lag of 60 s"],
      [{ lag_seconds: null, last_advance: isoTime(NOW_MS - MINUTE_MS) }, "ok: 4 s behind the reference"],
      [
        { lag_seconds: null, last_advance: isoTime(NOW_MS - 5 * MINUTE_MS) },
        "lagging: Lag unknown; last advanced 5 min ago, more than the --max-lag of 60 s",
      ],
      [
        { lag_seconds: null, last_advance: null },
        "lagging: Lag unknown; never seen to advance, more than the --max-lag of 60 s",
      ],
      [{ lag_seconds: 9 * 60, status: "failed", detail: "x" }, "failed: x"],
    ];

    const judged = cases.map(([target]) => {
      const json = reportOf(sampleTargetReport(target));
      const [{ status, detail } = { status: "", detail: "" }] = applyMaxLag(json, MINUTE_MS).targets;
      return `${status}: ${detail}`;
    });

    expect(judged).toEqual(cases.map(([, words]) => words));
  });
});

describe("renderCheckTable()", () => {
  it("lists every target of a small selection, ok targets last", () => {
    const lagging = sampleTargetReport({
      target: sampleTarget({ variant: "subgraph" }),
      status: "lagging",
      lag_seconds: 41 * 60,
      lag_blocks: 1230,
      block_number: 37_998_772,
      detail: "41 min behind the reference",
    });

    expect(render(reportOf(sampleTargetReport(), lagging))).toMatchInlineSnapshot(`
      "1 of 2 targets needs attention: lockup subgraph, lagging: 41 min behind; multichain is ok

      STATUS   TARGET                     LAG  BLOCKS      HEIGHT  DETAIL
      lagging  lockup/base/subgraph    41 min   1,230  37,998,772  41 min behind the reference
      ok       lockup/base/multichain     4 s       2  38,000,000  4 s behind the reference

      Status meanings: docs/statuses.md#lagging"
    `);
  });

  it("cuts lines of tables to the terminal's width", () => {
    const lines = render(fleetReport(), { widthColumns: 60 }).split("\n");

    expect(lines.find((line) => line.startsWith("failed "))).toMatch(/^.{59}…$/);
  });

  it("finds alternatives among the targets that were not selected", () => {
    const failed = sampleTargetReport({ target: sampleTarget({ variant: "subgraph" }), status: "failed" });
    const unfiltered = reportOf(sampleTargetReport(), failed);
    const asked = keepTargets(unfiltered, unfiltered.targets.slice(1));

    expect(renderCheckTable(asked, { ...PLAIN, unfiltered })).toContain(
      "1 of 1 target needs attention: lockup subgraph, failed: multichain is ok\n",
    );
  });

  it("colours only on request, without changing the text", () => {
    const plain = render(fleetReport());
    const coloured = render(fleetReport(), { color: "ansi" });

    expect(plain).not.toContain("\u001B");
    expect(coloured).toContain("\u001B[31;1mstalled\u001B[0m ");
    expect(coloured.replaceAll(/\p{Cc}\[[0-9;]+m/gu, "")).toBe(plain);
  });

  it("removes control characters from upstream texts", () => {
    const hostile = sampleTargetReport({ status: "failed", detail: "a\u001B[2Jb\r\nok  forged\u202Ec" });

    const text = render(reportOf(hostile));

    expect(text).toContain("a [2Jb ok  forged c");
    expect(text).not.toMatch(/[^\n\P{Cc}]/u);
  });
});

function render(report: Report, options: Partial<CheckTableOptions> = {}): string {
  const json = report;
  return renderCheckTable(json, { ...PLAIN, unfiltered: json, ...options });
}

function reportOf(...targets: readonly TargetReport[]): Report {
  return sampleReport({ chains: [sampleChainReport({ targets })] });
}

function jsonOf(
  statuses: Readonly<Record<string, readonly Status[]>>,
  overrides: Partial<TargetReport> = {},
) {
  const chains = Object.entries(statuses).map(([slug, each]) =>
    sampleChainReport({
      chain: sampleChain({ slug }),
      targets: each.map((status, index) =>
        sampleTargetReport({
          target: sampleTarget({ chain: slug, variant: `variant-${index}` }),
          status,
          ...overrides,
        }),
      ),
    }),
  );
  return sampleReport({ chains });
}
