import { describe, expect, it } from "vitest";
import type { Pace } from "../../../src/core/head/pace.ts";
import { corroboratedJumps } from "../../../src/core/head/pending-jump.ts";
import type { ReferenceState } from "../../../src/core/head/reference.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";

const PACE: Pace = { intervalMs: 2_000, measured: true };
const DAY_BLOCKS = 43_200;

/** A source that claims a block beyond the chain's pace. */
function claiming(
  key: string,
  [block, polls]: readonly [number, number],
  changed: Partial<SourceState> = {},
): SourceState {
  const sample = { block, timestampSec: null, hash: null, sentAtMs: 0, receivedAtMs: 0 };
  return {
    ...newSource({ key, kind: "indexer", pollIntervalMs: 15_000 }),
    claim: { sample, polls },
    ...changed,
  };
}

const REFERENCE: ReferenceState = {
  block: 1_000,
  reachedMs: 0,
  atMs: 0,
  slackMs: 0,
  sources: 3,
  freshUntilMs: 300_000,
  former: null,
  firm: true,
};

function believed(
  sources: readonly SourceState[],
  {
    pace = PACE,
    reference = REFERENCE,
  }: { readonly pace?: Pace; readonly reference?: ReferenceState | null } = {},
): readonly string[] {
  return corroboratedJumps(sources, { reference, pace }).map(({ key }) => key);
}

describe("believedClaims()", () => {
  const silent = newSource({ key: "c", kind: "indexer", pollIntervalMs: 15_000 });
  const known = { samples: [{ block: 1, timestampSec: null, hash: null, sentAtMs: 0, receivedAtMs: 0 }] };

  it.each([
    { case: "nobody claims", sources: [silent], keys: [] },
    { case: "one claims, however often", sources: [claiming("a", [50_000, 9]), silent], keys: [] },
    {
      case: "two claim the same once",
      sources: [claiming("a", [50_000, 1]), claiming("b", [50_007, 1])],
      keys: [],
    },
    {
      case: "two claim the same, one of them twice",
      sources: [claiming("a", [50_000, 2]), claiming("b", [50_007, 1])],
      keys: ["a", "b"],
    },
    {
      case: "two claim heights a minute's burst apart",
      sources: [claiming("a", [50_000, 2]), claiming("b", [50_136, 2])],
      keys: ["a", "b"],
    },
    {
      case: "two claim heights further apart",
      sources: [claiming("a", [50_000, 2]), claiming("b", [50_137, 2])],
      keys: [],
    },
    {
      case: "a third claims something else",
      sources: [claiming("a", [50_000, 2]), claiming("b", [50_000, 2]), claiming("c", [90_000, 5])],
      keys: ["a", "b"],
    },
    {
      case: "a new RPC node claims twice to be 29 days ahead",
      sources: [claiming("r", [1_000 + 29 * DAY_BLOCKS, 2], { kind: "rpc" })],
      keys: ["r"],
    },
    {
      case: "a new RPC node claims it once",
      sources: [claiming("r", [1_000 + 29 * DAY_BLOCKS, 1], { kind: "rpc" })],
      keys: [],
    },
    {
      case: "a new RPC node claims to be 31 days ahead",
      sources: [claiming("r", [1_000 + 31 * DAY_BLOCKS, 2], { kind: "rpc" })],
      keys: [],
    },
    {
      case: "an RPC node that was heard before claims it",
      sources: [claiming("r", [50_000, 2], { kind: "rpc", ...known })],
      keys: [],
    },
    {
      case: "a new RPC node claims to be 30 days ahead",
      sources: [claiming("r", [1_000 + 30 * DAY_BLOCKS, 2], { kind: "rpc" })],
      keys: ["r"],
    },
    {
      case: "a new RPC node claims nothing",
      sources: [newSource({ key: "r", kind: "rpc", pollIntervalMs: 15_000 })],
      keys: [],
    },
    {
      case: "only one of two sources claims",
      sources: [silent, claiming("a", [50_000, 9])],
      keys: [],
    },
    { case: "a new indexer claims it", sources: [claiming("a", [50_000, 2])], keys: [] },
  ])("believes $keys where $case", ({ sources, keys }) => {
    expect(believed(sources)).toEqual(keys);
  });

  it("believes no RPC node's distance where nobody knows the pace", () => {
    expect(
      believed([claiming("r", [50_000, 2], { kind: "rpc" })], {
        pace: { intervalMs: null, measured: false },
      }),
    ).toEqual([]);
  });

  it("counts an RPC node's distance from genesis while there is no reference", () => {
    const [near, far] = [30 * DAY_BLOCKS, 30 * DAY_BLOCKS + 1].map((block) =>
      believed([claiming("r", [block, 2], { kind: "rpc" })], { reference: null }),
    );

    expect([near, far]).toEqual([["r"], []]);
  });

  it("allows for the time between two claims", () => {
    const later = (atMs: number) => {
      const { claim, ...rest } = claiming("b", [50_200, 2]);
      return {
        ...rest,
        claim:
          claim === null
            ? null
            : { ...claim, sample: { ...claim.sample, sentAtMs: atMs, receivedAtMs: atMs } },
      };
    };

    expect(believed([claiming("a", [50_000, 2]), later(31_999)])).toEqual([]);
    expect(believed([claiming("a", [50_000, 2]), later(32_000)])).toEqual(["a", "b"]);
    expect(believed([later(900_000), later(900_000)])).toEqual(["b", "b"]);
  });
});
