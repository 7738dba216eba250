import { describe, expect, it } from "vitest";
import { isoTime } from "../../../src/core/model/text.ts";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { inTurn } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO, TRIO_AND_NODE } from "./fleets.ts";

/** `multichain` answers with the same block from now on. */
function freeze(play: ScriptedFleet): ScriptedFleet {
  const stuck = play.head();
  return play.script("multichain", () => stuck);
}

describe("`stalled`", () => {
  it("begins with the second poll after ten minutes without a new block, and ends with two new blocks", () => {
    const play = freeze(new ScriptedFleet(TRIO).run("1h"));

    expect(play.changes("multichain", "15m")).toEqual(["10m 30s stalled"]);

    expect(play.target("multichain")).toMatchObject({ up: true, lag_blocks: 450 });
    expect(play.target("multichain").lag_seconds).toBeCloseTo(900, -1);
    expect(play.target("multichain").detail).toBe(
      "has not advanced for 15 min while its chain does, 15 min (450 blocks) behind the reference seen by 2 sources",
    );
    expect(play.page()).toContain("1 of 3 targets needs attention: airdrops multichain, stalled");
    expect(play.check().exitCode).toBe(1);
    play.script("multichain", ({ head }) => head);
    expect(play.changes("multichain", "5m")).toEqual(["30s ok"]);
  });

  it.each([
    {
      case: "50 block times, where these are longer",
      options: { blockTime: "20s", thresholds: { lagging: "1h", critical: "2h" } },
      begins: "17m stalled",
    },
    {
      case: "the configured threshold",
      options: { thresholds: { stalled: "30m", lagging: "1h", critical: "2h" } },
      begins: "30m 30s stalled",
    },
  ])("begins after $case", ({ begins, options }) => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph", "mirror"], options)).run("1h");
    const stuck = play.chain().reference?.block_number ?? 0;
    play.script("multichain", () => stuck);

    expect(play.changes("multichain", "40m")).toEqual([begins]);
  });

  it("counts from the last new height, not from the last answer or from a return to an old one", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    const stuck = play.head();
    const { last_advance } = play.target("multichain");
    play.script(
      "multichain",
      inTurn(
        () => stuck - 3,
        () => stuck - 2,
        () => stuck,
      ),
    );

    expect(play.changes("multichain", "15m")).toEqual(["10m 30s stalled"]);
    expect(play.target("multichain").last_advance).toBe(last_advance);
    expect(play.target("multichain").last_success).toBe(isoTime(play.nowMs));
  });

  it("is not `lagging` first where both thresholds are ten minutes", () => {
    const play = freeze(new ScriptedFleet(TRIO_AND_NODE).run("1h"));

    expect(play.changes("multichain", "30m")).toEqual(["10m 30s stalled"]);
  });

  it("holds for all where every source stands still and no RPC node can say why", () => {
    const play = new ScriptedFleet(TRIO).run("10m").haltChains();

    play.run("15m");

    expect(play.statuses()).toEqual(["stalled", "stalled", "stalled"]);
    expect(play.target("multichain").detail).toMatch(/it is unknown whether the chain itself has halted$/);
    expect(play.chain().reference).toMatchObject({ block_number: play.head(), sources: 3 });
  });

  it("says that nothing else advances either where an RPC node has made one step since", () => {
    const play = new ScriptedFleet(TRIO_AND_NODE).run("10m");
    const stuck = play.head();
    play.script("airdrops", () => stuck);
    // A single block, after six minutes, and without its time.
    play.script("rpc", ({ head }) => (head < stuck + 180 ? stuck : stuck + 1));

    play.run("15m");

    expect(play.target("multichain").status).toBe("stalled");
    expect(play.target("multichain").detail).toMatch(/nor has any other source$/);
  });

  it("holds for the only source of a chain, without a lag where it reports no block times", () => {
    const play = freeze(new ScriptedFleet(fleetYaml(["multichain"])).run("10m"));

    expect(play.changes("multichain", "15m")).toEqual(["10m 30s stalled"]);
    expect(play.target("multichain").lag_seconds).toBeNull();
  });

  it("has not advanced when it was merely seen for the first time", () => {
    const play = new ScriptedFleet(TRIO).run("5s");

    expect(play.target("multichain").last_advance).toBeNull();
  });

  it("is known from the state file after a restart", () => {
    const play = freeze(new ScriptedFleet(TRIO).run("1h")).run("5m").restart();

    expect(play.changes("multichain", "10m")).toEqual(["5m 30s stalled"]);
  });
});
