import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Claim } from "../../../src/core/head/claim.ts";
import { decide, NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import type { Scene } from "../../../src/core/head/scene.ts";
import { conflictsIn, isQuiet, misdatedIn } from "../../../src/core/head/selection.ts";
import { T0 } from "../chain/chain-fixture.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const Pace = fc.record({
  intervalMs: fc.option(fc.constantFrom(250, 2_000, 12_000)),
  measured: fc.boolean(),
});
/** A source some time ago and some time ahead of the chain, whose block times are off, too. */
const Source = fc.record({
  agoMs: fc.integer({ min: 0, max: 40 * MINUTE }),
  aheadMs: fc.oneof(fc.integer({ min: -200_000, max: 200_000 }), fc.integer({ min: -HOUR, max: HOUR })),
  offMs: fc.option(fc.oneof(fc.constant(0), fc.integer({ min: -200_000, max: 200_000 }))),
  idleMs: fc.integer({ min: 0, max: 5 * MINUTE }),
  advanced: fc.boolean(),
});
const Sources = fc.array(Source, { minLength: 2, maxLength: 7 });

function sceneOf(
  sources: readonly (typeof Source extends fc.Arbitrary<infer T> ? T : never)[],
  pace: Scene["pace"],
): Scene {
  const intervalMs = pace.intervalMs ?? 100;
  const claims = sources.map(({ advanced, agoMs, aheadMs, idleMs, offMs }, index): Claim => {
    const atMs = T0 - agoMs;
    const block = 1_000_000 + Math.round((aheadMs - agoMs) / intervalMs);
    const timeMs = offMs === null ? null : T0 - (1_000_000 - block) * intervalMs + offMs;
    const ageMs = timeMs === null ? null : atMs - timeMs;
    return {
      key: `source ${index}`,
      provider: `host ${index}`,
      kind: "indexer",
      block,
      atMs,
      slackMs: 50,
      timeMs,
      age: ageMs === null ? "unknown" : ageOf(ageMs),
      advancedMs: advanced ? atMs - idleMs : null,
      idleMs,
      isBackfilling: false,
      samples: [{ block, timestampSec: null, hash: null, sentAtMs: atMs, receivedAtMs: atMs }],
      sharesHashes: false,
      pollIntervalMs: 15_000,
      freshUntilMs: T0 + 5 * MINUTE,
    };
  });
  return {
    pace,
    stalledAfterMs: 10 * MINUTE,
    claims,
    newestMs: Math.max(...claims.map(({ atMs }) => atMs)),
    highest: Math.max(...claims.map(({ block }) => block)),
    track: null,
    onceOnTrack: new Set(),
  };
}

function ageOf(ageMs: number): Claim["age"] {
  if (ageMs <= MINUTE) {
    return "fresh";
  }
  return ageMs > 10 * MINUTE ? "old" : "unknown";
}

describe("sources among which it is quiet", () => {
  it("contradict no source, so no source is excluded and every block time is used", () => {
    let quiet = 0;
    fc.assert(
      fc.property(Sources, Pace, (sources, pace) => {
        const scene = sceneOf(sources, pace);
        if (!isQuiet(scene)) {
          return;
        }
        quiet += 1;
        const conflicts = conflictsIn(scene);
        const pairs = scene.claims.flatMap((a) => scene.claims.map((b) => conflicts.of(a, b)));

        expect(pairs.filter((conflict) => conflict !== null)).toEqual([]);
        expect(misdatedIn(scene.claims, scene)).toEqual([]);
      }),
      { numRuns: 3_000 },
    );

    expect(quiet).toBeGreaterThan(100);
  });

  it("are those of a healthy fleet, also if one source is polled twice an hour", () => {
    const healthy = { aheadMs: 0, offMs: 0, idleMs: 2_000, advanced: true };
    const scene = sceneOf(
      [
        { ...healthy, agoMs: 0 },
        { ...healthy, agoMs: 20_000, offMs: null },
        { ...healthy, agoMs: 29 * MINUTE },
      ],
      { intervalMs: 2_000, measured: true },
    );

    expect(isQuiet(scene)).toBe(true);
    expect(decide(scene.claims, NO_CONSENSUS, { ...scene, proofs: {} }).consensus.opposed).toEqual([]);
  });
});
