import { describe, expect, it } from "vitest";
import type { Status, TargetReport } from "../../../src/core/model/report.ts";
import { targetKey } from "../../../src/views/api/filter-status.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { findTroubles, pairState } from "../../../src/views/wording/triage.ts";
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
    { targets: [["ok", 0]], state: "fresh" },
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
      state: "late",
    },
    { targets: [["syncing", 1799]], state: "late" },
    { targets: [["throttled", 60]], state: "late" },
    { targets: [["lagging", 1800]], state: "lost" },
    { targets: [["syncing", null]], state: "lost" },
    { targets: [["stalled", 700]], state: "lost" },
    { targets: [["unknown", null]], state: "unknown" },
    {
      targets: [
        ["unknown", null],
        ["failed", null],
      ],
      state: "lost",
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

describe("findTroubles()", () => {
  it("finds nothing while all is ok", () => {
    expect(findTroubles(statusJson(sampleReport()))).toEqual([]);
  });

  it("tells of each what could stand in for it, freshest first", () => {
    const troubles = findTroubles(
      statusJson(
        reportOf(
          on("base", { status: "stalled" }),
          on("base", { lagMs: 9000 }, { variant: "subgraph" }),
          on("base", { lagMs: 1000 }, { variant: "subgraph", tier: "testing" }),
        ),
      ),
    );

    expect(troubles).toHaveLength(1);
    expect(troubles[0]).toMatchObject({ pair: "degraded", others: 2 });
    expect(troubles[0]?.fresh.map(({ tier }) => tier)).toEqual(["testing", "production"]);
  });

  it("lists the worst first", () => {
    const troubles = findTroubles(
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

    expect(troubles.map(({ target }) => targetKey(target).split("/")[3])).toEqual([
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
