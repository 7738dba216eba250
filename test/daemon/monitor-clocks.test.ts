import { describe, expect, it } from "vitest";
import type { Observation } from "../../src/core/model/observation.ts";
import { Monitor } from "../../src/daemon/monitor.ts";
import { endpointOf, fleetOf } from "../budgets/fleet-builder.ts";
import { BASE, headOf, T0 } from "../core/chain/chain-fixture.ts";

const FAST = ["multichain", "ponder"];
const BEHIND = "subgraph";
const BEHIND_BLOCKS = 200;

describe("a reply whose body comes slowly", () => {
  it("leaves the lags and the block interval as they are, though others reply meanwhile", () => {
    let nowMs = T0;
    const endpoints = [...FAST, BEHIND].map((variant) => endpointOf({ variant, pollIntervalMs: 15_000 }));
    const fleet = { ...fleetOf(endpoints), chains: [BASE] };
    const monitor = new Monitor(fleet, { nowMs: () => nowMs, budgets: () => [] });
    const reply = (variant: string, repliedMs: number, block: number) =>
      monitor.observe([heightAt(`airdrops/${variant}/production/base`, repliedMs, block)]);

    for (let round = 1; round <= 80; round += 1) {
      const roundMs = T0 + round * 15_000;
      const isSlow = round > 60;
      // The head of the slow reply came first. Its height was read then, and the whole of it is there at last.
      nowMs = roundMs + 8_000;
      reply(
        BEHIND,
        roundMs + (isSlow ? 8_000 : 200),
        headOf(roundMs + (isSlow ? 8_000 : 200)) - BEHIND_BLOCKS,
      );
      reply("ponder", roundMs + (isSlow ? 8_000 : 300), headOf(roundMs + (isSlow ? 8_000 : 300)));
      reply("multichain", roundMs + 100, headOf(roundMs + 100));
    }

    const [chain] = monitor.report().chains;
    const behind = chain?.targets.find(({ target }) => target.variant === BEHIND);
    expect(behind?.status).toBe("ok");
    expect(Math.abs((behind?.lagMs ?? 0) - 400_000)).toBeLessThanOrEqual(20_000);
    expect(chain?.blockIntervalMs).toBeCloseTo(2_000, -2);
  });
});

function heightAt(source: string, receivedAtMs: number, block: number): Observation {
  const head = { block, timestampSec: null, hash: null, deployment: null, indexingErrors: null };
  return { kind: "head", source, sentAtMs: receivedAtMs - 100, receivedAtMs, head };
}
