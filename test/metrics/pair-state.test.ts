import { describe, expect, it } from "vitest";
import { STATUSES, STATUSES_BY_URGENCY, type Status } from "../../src/core/model/report.ts";
import type { PairState } from "../../src/core/report/pairs.ts";
import { expositionText } from "../../src/metrics/exposition.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families.ts";
import { checkExitCode } from "../../src/views/terminal/check.ts";
import { headline } from "../../src/views/wording/headline.ts";
import { findProblems } from "../../src/views/wording/targets.ts";
import { metricsSource } from "../support/metrics-source.ts";
import { sampleChainReport, sampleReport, sampleTarget, sampleTargetReport } from "../views/sample-report.ts";

/** A target as its status, its lag in seconds and its tier, as far as these differ from an unknown lag in production. */
type Short = readonly [status: Status, lagSeconds?: number | null, tier?: string];

interface Case {
  readonly targets: readonly Short[];
  readonly state: PairState;
}

const CASES: readonly Case[] = [
  { targets: [["ok"], ["ok"]], state: "ok" },
  { targets: [["ok"], ["failed"]], state: "degraded" },
  { targets: [["ok"], ["failed", null, "testing"]], state: "degraded" },
  { targets: [["lagging", 1_799], ["failed"]], state: "degraded" },
  { targets: [["syncing", 60], ["unknown"]], state: "degraded" },
  { targets: [["throttled", 60], ["stalled"]], state: "degraded" },
  { targets: [["chain_halted"], ["chain_halted"]], state: "degraded" },
  { targets: [["chain_halted"], ["stalled"]], state: "degraded" },
  { targets: [["lagging", 1_800], ["failed"]], state: "down" },
  { targets: [["lagging"], ["syncing"]], state: "down" },
  { targets: [["throttled"], ["unreachable"]], state: "down" },
  { targets: [["unknown"], ["unreachable"]], state: "down" },
  { targets: [["rejected"], ["ok", 0, "testing"]], state: "down" },
  { targets: [["throttled"], ["throttled"]], state: "unknown" },
  { targets: [["throttled"], ["unknown"]], state: "unknown" },
  { targets: [["unknown"], ["ok", 0, "testing"]], state: "unknown" },
];

/** Whether a pair is usable must be the same wherever it is said. */
describe("synclag_pair_state", () => {
  it.each(CASES)("is $state of $targets, and so says the page and `check`", ({ targets, state }) => {
    const chain = sampleChainReport({
      testnet: true,
      targets: targets.map(([status, lag_seconds = null, tier = "production"], index) =>
        sampleTargetReport({ target: sampleTarget({ variant: `v${index}`, tier }), status, lag_seconds }),
      ),
    });
    // Where nothing at all is known, neither says anything of a pair.
    const other = sampleTarget({ protocol: "other" });
    const report = sampleReport({
      chains: [{ ...chain, targets: [...chain.targets, sampleTargetReport({ target: other })] }],
    });

    const text = expositionText(METRIC_FAMILIES, metricsSource({ report }));
    const { tone } = headline(report, findProblems(report));

    const states = [...text.matchAll(/^synclag_pair_state\{protocol="lockup",.*\} 1$/gm)].map(
      ([line]) => line,
    );
    expect(states).toEqual([
      `synclag_pair_state{protocol="lockup",chain="base",chain_id="8453",state="${state}",testnet="true"} 1`,
    ]);
    expect(tone === "bad").toBe(state === "down");
    expect(checkExitCode(report, [])).toBe({ ok: 0, degraded: 1, unknown: 2, down: 2 }[state]);
  });
});

describe("STATUSES_BY_URGENCY", () => {
  it("ranks every status once", () => {
    expect(STATUSES_BY_URGENCY.toSorted()).toEqual(STATUSES.toSorted());
  });
});
