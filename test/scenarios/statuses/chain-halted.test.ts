import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { dated, type Script } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO_AND_NODE } from "./fleets.ts";

describe("`chain_halted`", () => {
  it("holds once an RPC node has stood still for `stalled`, for all that stand where it stands, and ends with the halt", () => {
    const play = new ScriptedFleet(TRIO_AND_NODE).run("10m").haltChains();

    expect(play.run("10m").statuses()).toEqual(["ok", "ok", "ok"]);
    expect(play.run("1m").statuses()).toEqual(["chain_halted", "chain_halted", "chain_halted"]);

    expect(play.target("multichain")).toMatchObject({ lag_blocks: 0, lag_seconds: 0 });
    expect(play.target("multichain").detail).toMatch(
      /^the chain itself stands still, as an independent RPC node shows; this target is level with the reference seen by 4 sources$/,
    );
    expect(play.values("synclag_status", "chain_halted")).toEqual([1, 1, 1]);
    play.resumeChains();
    expect(play.run("1m").statuses()).toEqual(["ok", "ok", "ok"]);
  });

  it("includes a target that stands a little below the head", () => {
    const play = new ScriptedFleet(TRIO_AND_NODE).script("mirror", ({ head }) => head - 40).run("10m");

    play.haltChains().run("11m");

    expect(play.statuses()).toEqual(["chain_halted", "chain_halted", "chain_halted"]);
  });

  it("is known by the age of the node's block where the halt began before we did", () => {
    const play = new ScriptedFleet(TRIO_AND_NODE).haltChains().wait("1h");

    play.run("1m");

    expect(play.statuses()).toEqual(["chain_halted", "chain_halted", "chain_halted"]);
  });

  it("does not go by a node that stands still while the chain goes on, nor by one of another chain", () => {
    const said = [0, 30_000_000].map((ahead) => {
      const play = new ScriptedFleet(TRIO_AND_NODE).run("10m");
      const stuck = play.head() + ahead;
      play.script("rpc", ({ time }) => ({ block: stuck, timestampSec: time(play.head()) }));
      return play.statusesDuring("30m");
    });

    expect(said).toEqual([["ok"], ["ok"]]);
  });

  it("goes by another node where one of them still advances", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph"], { rpc: 2 })).run("10m");
    const stuck = play.head();
    play.script("node1.test", () => stuck).script("airdrops", () => stuck);

    expect(play.run("20m").statuses()).toEqual(["stalled", "stalled"]);
    expect(play.target("multichain").detail).toMatch(/^has not advanced for 20 min while its chain does/);
  });

  it.each([
    { case: "the packaged thresholds", batch: 30, thresholds: {} },
    {
      case: "a `lagging` that is shorter than `stalled`",
      batch: 15,
      thresholds: { lagging: "1m", critical: "5m", stalled: "90s" },
    },
  ])(
    "is not preceded by `lagging`, though some write blocks in batches, with $case",
    ({ batch, thresholds }) => {
      const yaml = fleetYaml(["multichain", "subgraph", "mirror"], { rpc: 1, thresholds });
      const inBatches: Script = ({ head, time }) => dated()({ head: head - (head % batch), time });
      const play = new ScriptedFleet(yaml)
        .script("airdrops", dated())
        .script("subgraph", inBatches)
        .run("20m");

      play.haltChains();

      const statuses = play.statusesDuring("30m");
      expect(statuses.filter((status) => status === "lagging" || status === "syncing")).toEqual([]);
      expect(play.statuses()).toEqual(["chain_halted", "chain_halted", "chain_halted"]);
    },
  );
});
