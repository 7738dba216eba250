import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { chainReports } from "../../src/core/model/report.ts";
import type { ChainSpec } from "../../src/sim/model/chain-model.ts";
import { SIMULATED_API_KEY } from "../../src/sim/servers/families.ts";
import { driftingPaces } from "../support/drifting-paces.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const START_MS = Date.parse("2026-11-20T00:00:00Z");
const HOUR_MS = 3_600_000;
/** CI plays two hours; `HOURS=24` plays the whole day. */
const HOURS = Number(process.env["HOURS"] ?? 2);
const PACKAGED = readFileSync("chains.yaml", "utf8");

/** Real chains speed up and slow down: a new pace each minute, within ±30 %. */
function uneven(spec: ChainSpec): ChainSpec {
  const paces = driftingPaces({
    seed: spec.slug,
    blockTimeMs: spec.blockTimeMs,
    fromMs: START_MS,
    toMs: START_MS + 25 * HOUR_MS,
    everyMs: 60_000,
    ratio: 0.3,
  });
  return { ...spec, paces };
}

describe("the packaged fleet, all healthy, on chains with varying block times", () => {
  it("is always ok, and each reference stays with the head of its chain", {
    timeout: 1_200_000,
  }, async () => {
    await using play = await startScenario(PACKAGED, {
      at: "2026-11-20T00:00:00Z",
      env: { THEGRAPH_API_KEY: SIMULATED_API_KEY },
      chains: uneven,
    });
    await play.run("5m");
    const wrong: string[] = [];

    for (let minute = 5; minute < HOURS * 60; minute += 1) {
      await play.run("1m");
      wrong.push(...mistakesOf(play));
    }

    expect([...new Set(wrong)].slice(0, 20)).toEqual([]);
  });
});

/** What the report has wrong at this moment: every target is healthy, so each is `ok`, with little lag. */
function mistakesOf(play: Scenario): readonly string[] {
  const report = play.report();
  return [
    ...report.incidents.map(({ scope, subject }) => `incident ${scope} ${subject}`),
    ...chainReports(report).flatMap(({ reference, slug, targets, ...chain }) => {
      const head = play.fleet.chain(slug).head();
      const behindSec = (head - (reference?.block_number ?? 0)) * (chain.block_time_seconds ?? 2);
      const isFar = reference === null || behindSec > 90 || behindSec < 0;
      return [
        ...(isFar ? [`${slug}: reference ${reference?.block_number} at head ${head}`] : []),
        ...targets
          .filter(({ status }) => status !== "ok")
          .map(({ key, status, detail }) => `${key}: ${status}: ${detail}`),
      ];
    }),
  ];
}
