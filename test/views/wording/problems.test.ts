import { describe, expect, it } from "vitest";
import type { Status, TargetReport } from "../../../src/core/model/report.ts";
import { targetKey } from "../../../src/views/api/filter-status.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { findProblems, pairState } from "../../../src/views/wording/problems.ts";
import {
  MINUTE_MS,
  sampleChain,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

const CRITICAL_SECONDS = 1800;

describe("pairState()", () => {
  it.each<{ targets: readonly (readonly [Status, number | null])[]; state: string }>([
    { targets: [["ok", 0]], state: "ok" },
    {
      targets: [
        ["ok", 0],
        ["failed", 9000],
      ],
      state: "degraded",
    },
    {
      targets: [
        ["lagging", 1799],
        ["failed", 9000],
      ],
      state: "behind",
    },
    { targets: [["syncing", 1799]], state: "behind" },
    { targets: [["throttled", 60]], state: "behind" },
    { targets: [["lagging", 1800]], state: "down" },
    { targets: [["syncing", null]], state: "down" },
    { targets: [["stalled", 700]], state: "down" },
    { targets: [["unknown", null]], state: "unknown" },
    {
      targets: [
        ["unknown", null],
        ["failed", null],
      ],
      state: "down",
    },
  ])("is $state for $targets", ({ targets, state }) => {
    const json = statusJson(
      sampleReport({
        chains: [
          sampleChainReport({
            targets: targets.map(([status, lagSeconds]) =>
              sampleTargetReport({ status, lagMs: lagSeconds === null ? null : lagSeconds * 1000 }),
            ),
          }),
        ],
      }),
    );

    expect(pairState(json.targets, CRITICAL_SECONDS)).toBe(state);
  });
});

describe("findProblems()", () => {
  it("finds nothing while all is ok", () => {
    expect(findProblems(statusJson(sampleReport()))).toEqual([]);
  });

  it("names the alternatives of each, freshest first", () => {
    const problems = findProblems(
      statusJson(
        reportOf(
          on("base", { status: "stalled" }),
          on("base", { lagMs: 9000 }, { variant: "subgraph" }),
          on("base", { lagMs: 1000 }, { variant: "subgraph", tier: "testing" }),
        ),
      ),
    );

    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ pair: "degraded", others: 2 });
    expect(problems[0]?.alternatives.map(({ tier }) => tier)).toEqual(["testing", "production"]);
  });

  it("lists the worst first", () => {
    const problems = findProblems(
      statusJson(
        reportOf(
          on("sepolia", { status: "diverged" }),
          on("base", { status: "syncing" }),
          on("polygon", { status: "lagging", lagMs: 12 * MINUTE_MS }),
          on("gnosis", { status: "lagging", lagMs: 20 * MINUTE_MS }),
          on("linea", { status: "failed" }),
          on("linea", {}, { variant: "subgraph" }),
          on("scroll", { status: "stalled" }),
        ),
      ),
    );

    expect(problems.map(({ target }) => targetKey(target).split("/")[3])).toEqual([
      "scroll",
      "linea",
      "gnosis",
      "polygon",
      "base",
      "sepolia",
    ]);
  });
});

function on(
  chain: string,
  overrides: Partial<TargetReport>,
  named: { variant?: string; tier?: string } = {},
) {
  return sampleTargetReport({ target: sampleTarget({ chain, ...named }), ...overrides });
}

function reportOf(...targets: readonly TargetReport[]) {
  const slugs = [...new Set(targets.map(({ target }) => target.chain))];
  return sampleReport({
    chains: slugs.map((slug) =>
      sampleChainReport({
        chain: sampleChain({ slug, testnet: slug === "sepolia" }),
        targets: targets.filter(({ target }) => target.chain === slug),
      }),
    ),
  });
}
