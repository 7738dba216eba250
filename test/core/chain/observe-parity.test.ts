import { describe, expect, it } from "vitest";
import { observeParity } from "../../../src/core/chain/observe-parity.ts";
import type { ChainState, WatchedChain } from "../../../src/core/head/chain-state.ts";
import type { ParityReading } from "../../../src/core/model/parity.ts";
import { knownValuesOf, NO_PARITY } from "../../../src/core/parity/parity-state.ts";
import type { SourceState } from "../../../src/core/source/source-state.ts";
import { ParityPlay, parityValue } from "../parity/parity-play.ts";
import { BASE, headOf, Play, T0, watch } from "./chain-fixture.ts";

const WATCHED: WatchedChain = {
  ...watch(BASE, "airdrops/a", "airdrops/b"),
  probes: [new ParityPlay().probe],
};
const [A, B] = ["airdrops/a/production/base", "airdrops/b/production/base"];

/** Both are `ok` at the head of the chain. */
const HEALTHY = new Play(WATCHED).run(4, ({ nowMs }) => ({
  "airdrops/a": headOf(nowMs),
  "airdrops/b": headOf(nowMs),
})).state;

function readingOf(target: string, value: number, atMs = T0 + 60_000): ParityReading {
  return {
    kind: "value",
    probe: "rows",
    target,
    block: 1_000,
    value: parityValue(value),
    sentAtMs: atMs - 50,
    receivedAtMs: atMs,
  };
}

function withSource(state: ChainState, key: string, changed: Partial<SourceState>): ChainState {
  return { ...state, sources: state.sources.map((one) => (one.key === key ? { ...one, ...changed } : one)) };
}

/** The values known of A after it said 5, and 6 in this state. */
function valuesAfter(state: ChainState): readonly string[] | undefined {
  const first = observeParity(HEALTHY, WATCHED, [readingOf(A, 5)]);
  const { parity = NO_PARITY } = first;

  const after = observeParity({ ...state, parity }, WATCHED, [readingOf(A, 6, T0 + 120_000)]);

  const known = knownValuesOf(after.parity ?? NO_PARITY, { probe: "rows", target: A });
  return known?.runs.map(({ text }) => text);
}

describe("observeParity()", () => {
  it("changes nothing where nothing is compared", () => {
    const { probes: _, ...unprobed } = WATCHED;

    expect(observeParity(HEALTHY, unprobed, [readingOf(A, 5)])).toBe(HEALTHY);
  });

  it("compares what healthy targets said", () => {
    const state = observeParity(HEALTHY, WATCHED, [readingOf(A, 5), readingOf(B, 5)]);

    expect(state.parity?.pairs).toMatchObject([{ target: B, against: A, result: "equal" }]);
    expect(state.sources).toBe(HEALTHY.sources);
  });

  it("notes the deployment that answered", () => {
    const state = observeParity(withSource(HEALTHY, A, { deployment: "Qm1" }), WATCHED, [
      readingOf(A, 5),
      readingOf(B, 5),
    ]);

    expect(state.parity?.sources.map(({ deployment }) => deployment)).toEqual(["Qm1", null]);
  });

  it("goes by how long evidence lasts on this chain", () => {
    const longMs = 24 * 3_600_000;
    const chain = { ...BASE, thresholds: { ...BASE.thresholds, staleMs: longMs } };
    const resultAfter = (watched: WatchedChain) => {
      const equal = observeParity(HEALTHY, watched, [readingOf(A, 5), readingOf(B, 5)]);
      return observeParity(equal, watched, [readingOf(A, 5, T0 + longMs)]).parity?.pairs[0]?.result;
    };

    expect(resultAfter({ ...WATCHED, chain })).toBe("equal");
    expect(resultAfter(WATCHED)).toBe("unknown");
  });

  it.each<{ case: string; state: ChainState; values: readonly string[] }>([
    { case: "is healthy", state: HEALTHY, values: ["6"] },
    { case: "was never heard", state: { ...HEALTHY, sources: [] }, values: ["5"] },
    {
      case: "failed to tell a height",
      state: withSource(HEALTHY, A, {
        last: { kind: "failed", reason: "timeout", detail: "", sentAtMs: T0, receivedAtMs: T0 },
      }),
      values: ["5"],
    },
    {
      case: "lacks the chain",
      state: withSource(HEALTHY, A, { last: { kind: "missing", sentAtMs: T0, receivedAtMs: T0 } }),
      values: ["5"],
    },
    { case: "was never polled", state: withSource(HEALTHY, A, { last: null }), values: ["5"] },
    {
      case: "has a failed deployment",
      state: withSource(HEALTHY, A, { verdict: { status: "failed", dissent: 0 } }),
      values: ["5"],
    },
    {
      case: "has jumped",
      state: withSource(HEALTHY, A, { beforeJump: { samples: [], peak: null } }),
      values: ["5"],
    },
    {
      case: "is lagging",
      state: withSource(HEALTHY, A, { verdict: { status: "lagging", dissent: 0 } }),
      values: ["6"],
    },
    { case: "has not been judged", state: withSource(HEALTHY, A, { verdict: null }), values: ["6"] },
    {
      case: "is diverged",
      state: withSource(HEALTHY, A, { verdict: { status: "diverged", dissent: 0 } }),
      values: [],
    },
    { case: "is contradicted", state: opposed(A, "ahead"), values: [] },
    { case: "is merely lower than the others", state: opposed(A, "below"), values: ["6"] },
    { case: "is beside one that is contradicted", state: opposed(B, "ahead"), values: ["6"] },
    {
      case: "is on one side of a dispute",
      state: { ...HEALTHY, consensus: { ...HEALTHY.consensus, undecided: [[B], [A]] } },
      values: [],
    },
    {
      case: "is on no side of a dispute",
      state: { ...HEALTHY, consensus: { ...HEALTHY.consensus, undecided: [[B], ["c"]] } },
      values: ["6"],
    },
  ])("keeps $values of a target that $case", ({ state, values }) => {
    expect(valuesAfter(state)).toEqual(values);
  });
});

function opposed(source: string, kind: "ahead" | "below"): ChainState {
  const opposition = { source, kind, by: [], block: 1, blocks: 1, offMs: null };
  return { ...HEALTHY, consensus: { ...HEALTHY.consensus, opposed: [opposition] } };
}
