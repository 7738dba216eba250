import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { observeChain, startChain } from "../../../src/core/chain/watch-chain.ts";
import type { ChainState } from "../../../src/core/head/chain-state.ts";
import { FAILURE_REASONS, type Observation } from "../../../src/core/model/observation.ts";
import { type CachedReport, cachedReport } from "../../../src/core/report/cached-report.ts";
import { reportChain } from "../../../src/core/report/report-chain.ts";
import { readSavedChain } from "../../../src/io/state/saved-chain.ts";
import { BASE, headOf, T0, watch } from "./chain-fixture.ts";

const WATCHED = watch(
  BASE,
  "airdrops/multichain",
  "airdrops/subgraph",
  "lockup/multichain",
  "lockup/subgraph",
);
const RPC = "rpc/base/0";
const SOURCES = [...WATCHED.targets.map(({ key }) => key), RPC];
const STEP_MS = 15_000;

/** What a source does in one tick, from the plausible to the absurd. */
const anyHead = fc.record({
  kind: fc.constant("head" as const),
  offset: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -20, max: 2 }) },
    { weight: 2, arbitrary: fc.integer({ min: -5_000, max: 0 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(-999_000, 30_000_000, -10_000_000, 0.5, Number.MAX_SAFE_INTEGER, Number.NaN),
    },
  ),
  aged: fc.option(fc.integer({ min: -7_200, max: 10_000 })),
  hash: fc.option(fc.constantFrom("0xa", "0xb")),
  deployment: fc.option(fc.constantFrom("Qm1", "Qm2")),
  indexingErrors: fc.option(fc.boolean()),
});
const anySaid = fc.oneof(
  { weight: 8, arbitrary: anyHead },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("not_started" as const, "missing" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("failed" as const),
      reason: fc.constantFrom(...FAILURE_REASONS),
    }),
  },
);
const anyTick = fc.array(
  fc.record({
    source: fc.constantFrom(...SOURCES),
    said: anySaid,
    latencyMs: fc.integer({ min: 0, max: 900 }),
  }),
  { maxLength: SOURCES.length },
);
const anyHistory = fc.array(anyTick, { minLength: 1, maxLength: 40 });

type Tick = typeof anyTick extends fc.Arbitrary<infer T> ? T : never;

function roundAt(index: number, tick: Tick): readonly Observation[] {
  const receivedAtMs = T0 + index * STEP_MS;
  const once = new Map(tick.map((entry) => [entry.source, entry]));
  return [...once.values()].map(({ source, said, latencyMs }): Observation => {
    const times = { source, sentAtMs: receivedAtMs - latencyMs, receivedAtMs };
    switch (said.kind) {
      case "head": {
        const { offset, aged, hash, deployment, indexingErrors } = said;
        const timestampSec = aged === null ? null : receivedAtMs / 1_000 - aged;
        const head = { block: headOf(receivedAtMs) + offset, timestampSec, hash, deployment, indexingErrors };
        return { ...times, kind: "head", head };
      }
      case "failed":
        return { ...times, kind: "failed", reason: said.reason, detail: "" };
      default:
        return { ...times, kind: said.kind };
    }
  });
}

function rounds(history: readonly Tick[]): readonly (readonly Observation[])[] {
  return history.map((tick, index) => roundAt(index, tick));
}

function fold(history: readonly Tick[], state: ChainState = startChain(WATCHED)): ChainState {
  return rounds(history).reduce((folded, round) => observeChain(folded, WATCHED, round), state);
}

function endOf(history: readonly Tick[]): number {
  return T0 + history.length * STEP_MS;
}

describe("laws of reportChain()", () => {
  it("never reports a negative or endless lag", () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const report = reportChain(fold(history), WATCHED, endOf(history));

        for (const { lagBlocks, lagMs } of report.targets) {
          expect(lagBlocks ?? 0).toBeGreaterThanOrEqual(0);
          expect(lagMs ?? 0).toBeGreaterThanOrEqual(0);
          expect(Number.isFinite(lagBlocks ?? 0) && Number.isFinite(lagMs ?? 0)).toBe(true);
        }
      }),
    );
  });

  it("reports no lag in blocks without a reference, and none in time without block times", () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 0, max: 900_000 }), (history, laterMs) => {
        const report = reportChain(fold(history), WATCHED, endOf(history) + laterMs);

        if (report.reference === null) {
          expect(
            report.targets.filter(
              ({ blockTimestampSec, lagBlocks, lagMs }) =>
                lagBlocks !== null || (lagMs !== null && blockTimestampSec === null),
            ),
          ).toEqual([]);
        }
      }),
    );
  });

  it("derives nothing from stale evidence", () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 0, max: 900_000 }), (history, laterMs) => {
        const nowMs = endOf(history) + laterMs;

        const report = reportChain(fold(history), WATCHED, nowMs);

        const stale = report.targets.filter(({ lastSuccessMs }) => nowMs - (lastSuccessMs ?? 0) > 300_000);
        const gone = new Set(stale.map(({ target }) => target.key));
        for (const target of stale) {
          expect(target).toMatchObject({ block: null, lagBlocks: null, lagMs: null, preferred: false });
          expect(["ok", "lagging", "stalled", "chain_halted"]).not.toContain(target.status);
        }
        expect(report.gaps.filter(({ target }) => gone.has(target.key))).toEqual([]);
      }),
    );
  });

  it("does not depend on the order of arrival within one instant", () => {
    fc.assert(
      fc.property(anyHistory, fc.integer(), (history, seed) => {
        const shuffled = rounds(history).map((round) =>
          round.toSorted((a, b) => hash(a.source, seed) - hash(b.source, seed)),
        );

        const state = shuffled.reduce(
          (folded, round) => observeChain(folded, WATCHED, round),
          startChain(WATCHED),
        );

        const nowMs = endOf(history);
        expect(reportChain(state, WATCHED, nowMs)).toEqual(reportChain(fold(history), WATCHED, nowMs));
      }),
    );
  });

  it("is the same after a restart from saved state, then and later", () => {
    fc.assert(
      fc.property(anyHistory, anyHistory, (history, more) => {
        const state = fold(history);

        const restored = readSavedChain(JSON.parse(JSON.stringify(state)));

        expect(restored).toEqual(state);
        const nowMs = endOf(history) + 1_000;
        expect(reportChain(restored, WATCHED, nowMs)).toEqual(reportChain(state, WATCHED, nowMs));
        expect(fold(more, restored)).toEqual(fold(more, state));
      }),
    );
  });

  it("has a reference that no single source can carry above the others", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -5_000, max: 50_000_000 }), { maxLength: 40 }), (lies) => {
        const [liar, ...honest] = WATCHED.targets.map(({ key }) => key);
        const state = lies.reduce((folded, lie, index) => {
          const receivedAtMs = T0 + index * STEP_MS;
          const head = (source: string, block: number): Observation => ({
            kind: "head",
            source,
            sentAtMs: receivedAtMs,
            receivedAtMs,
            head: { block, timestampSec: null, hash: null, deployment: null, indexingErrors: null },
          });
          const truth = headOf(receivedAtMs);
          return observeChain(folded, WATCHED, [
            head(liar ?? "", truth + lie),
            ...honest.map((source) => head(source, truth)),
          ]);
        }, startChain(WATCHED));

        const nowMs = T0 + Math.max(0, lies.length - 1) * STEP_MS;
        const { reference } = reportChain(state, WATCHED, nowMs);

        // A lie within what the chain makes from one poll to the next cannot be told from the truth.
        const block = reference?.block ?? headOf(nowMs);
        expect(block).toBeGreaterThanOrEqual(headOf(nowMs));
        expect(block).toBeLessThanOrEqual(headOf(nowMs + STEP_MS));
      }),
    );
  });

  it("remembers no more than a bounded state, however long it runs", () => {
    let state = startChain(WATCHED);
    for (let index = 0; index < 1_000; index += 1) {
      const receivedAtMs = T0 + index * STEP_MS;
      const round = SOURCES.map((source): Observation => {
        const block = headOf(receivedAtMs) - (index % 7);
        const head = {
          block,
          timestampSec: receivedAtMs / 1_000,
          hash: "0xa",
          deployment: null,
          indexingErrors: null,
        };
        return { kind: "head", source, sentAtMs: receivedAtMs - 50, receivedAtMs, head };
      });
      state = observeChain(state, WATCHED, round);
    }

    expect(JSON.stringify(state).length).toBeLessThan(30_000);
  });
});

function hash(text: string, seed: number): number {
  return [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, seed);
}

describe("laws of cachedReport()", () => {
  it("is what reportChain() says now, or said in the last 15 s", () => {
    const waits = fc.array(fc.integer({ min: -60_000, max: 60_000 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(anyHistory, waits, (history, laterMs) => {
        const chain = { watched: WATCHED, state: fold(history) };
        let cached: CachedReport | null = null;
        let nowMs = endOf(history);
        for (const ms of laterMs) {
          nowMs += ms;

          cached = cachedReport(cached, chain, nowMs);

          expect(cached.report).toEqual(reportChain(chain.state, WATCHED, cached.madeMs));
          expect(nowMs - cached.madeMs).toBeGreaterThanOrEqual(0);
          expect(nowMs - cached.madeMs).toBeLessThan(15_000);
        }
      }),
    );
  });
});
