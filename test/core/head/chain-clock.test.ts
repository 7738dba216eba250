import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { measurePace, newClock, recordHead } from "../../../src/core/head/chain-clock.ts";

const BLOCK_MS = 2_000;
const SECOND = 1_000;
const HALT_FROM_MS = 1_200 * SECOND;

describe("measurePace()", () => {
  it("does not count the time in which the chain stood still", () => {
    fc.assert(
      fc.property(fc.integer({ min: 60, max: 900 }), (haltSec) => {
        const haltMs = haltSec * SECOND;
        const headAt = (atMs: number) =>
          Math.floor((Math.min(atMs, HALT_FROM_MS) + Math.max(0, atMs - HALT_FROM_MS - haltMs)) / BLOCK_MS);
        const clock = newClock(0);
        for (let atMs = 0; atMs < HALT_FROM_MS + haltMs + 720 * SECOND; atMs += 15 * SECOND) {
          const block = headAt(atMs);
          recordHead(clock, { block, atMs, slackMs: 0 }, BLOCK_MS);
          measurePace(clock);
          if (atMs > 300 * SECOND) {
            expect(clock.intervalMs).toBeGreaterThan(0.6 * BLOCK_MS);
            expect(clock.intervalMs).toBeLessThan(1.6 * BLOCK_MS);
          }
        }
      }),
    );
  });
});
