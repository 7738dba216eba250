import { describe, expect, it } from "vitest";
import { startChain } from "../../../src/core/chain/watch-chain.ts";
import type { ChainState } from "../../../src/core/head/chain-state.ts";
import { NO_CONSENSUS } from "../../../src/core/head/consensus.ts";
import { reportStandings } from "../../../src/core/report/standings.ts";
import { newSource, type SourceState } from "../../../src/core/source/source-state.ts";
import { viewOf } from "../../../src/core/status/view.ts";
import { BASE, T0, watch } from "../chain/chain-fixture.ts";

const WATCHED = { ...watch(BASE, "a/x", "a/y"), providers: { x: "one.example" } };
const HEAD = { block: 1_000, reachedMs: T0, atMs: T0, slackMs: 0, freshUntilMs: T0 + 300_000 };

function sourceOf(key: string, agoMs = 0, pollIntervalMs = 15_000): SourceState {
  const times = { sentAtMs: T0 - agoMs - 50, receivedAtMs: T0 - agoMs };
  const sample = (block: number) => ({ block, timestampSec: null, hash: null, ...times });
  return { ...newSource({ key, kind: "indexer", pollIntervalMs }), samples: [sample(990), sample(1_000)] };
}

function standings(sources: readonly SourceState[], consensus: Partial<ChainState["consensus"]> = {}) {
  const state = { ...startChain(WATCHED), sources, consensus: { ...NO_CONSENSUS, head: HEAD, ...consensus } };
  return reportStandings(state, WATCHED, viewOf(state, BASE, T0));
}

describe("reportStandings()", () => {
  it("says of each source its newest height, its host, and with whom it agrees", () => {
    expect(standings([sourceOf("x"), sourceOf("y")], { members: ["x"] })).toEqual([
      { source: "x", host: "one.example", block: 1_000, stands: "agrees", detail: null },
      { source: "y", host: null, block: 1_000, stands: "apart", detail: null },
    ]);
  });

  it("says why one is excluded", () => {
    const opposition = { source: "y", by: ["x"], block: 5_000, blocks: 4_000, offMs: null } as const;

    const [x, y] = standings([sourceOf("x"), sourceOf("y")], {
      members: ["x"],
      opposed: [{ ...opposition, kind: "ahead" }],
    });

    expect(x?.stands).toBe("agrees");
    expect(y).toMatchObject({
      stands: "excluded",
      detail: "claims block 5,000, 4,000 beyond what x agree on",
    });
  });

  it("says on which side of a dispute one is", () => {
    const reported = standings(
      ["x", "y", "z"].map((key) => sourceOf(key)),
      { undecided: [["x"], ["y"]] },
    );

    expect(reported.map(({ detail, stands }) => [stands, detail])).toEqual([
      ["disputed", "side 1"],
      ["disputed", "side 2"],
      ["apart", null],
    ]);
  });

  it("says that nobody agrees with a head that is only a memory", () => {
    const head = { ...HEAD, freshUntilMs: T0 - 1 };

    expect(standings([sourceOf("x")], { members: ["x"], head })).toMatchObject([{ stands: "apart" }]);
  });

  it("leaves out who has said nothing, or nothing lately", () => {
    const silent = newSource({ key: "s", kind: "indexer", pollIntervalMs: 15_000 });

    const reported = standings([
      silent,
      sourceOf("x", 300_000),
      sourceOf("y", 300_001),
      sourceOf("z", 300_001, 200_000),
    ]);

    expect(reported.map(({ source }) => source)).toEqual(["x", "z"]);
  });
});
