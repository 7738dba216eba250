import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind, dated, inTurn } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO } from "./fleets.ts";

describe("`ok`", () => {
  it("holds from the first round on for all that are at the head", () => {
    const play = new ScriptedFleet(TRIO).run("5s");

    expect(play.statusesDuring("30m")).toEqual(["ok"]);

    expect(
      play.chain().targets.map(({ lag_blocks, lag_seconds, up }) => ({ lag_blocks, lag_seconds, up })),
    ).toEqual(Array.from({ length: 3 }, () => ({ lag_blocks: 0, lag_seconds: 0, up: true })));
    expect(play.target("multichain").detail).toBe("advances, level with the reference seen by 3 sources");
    expect(play.check()).toMatchObject({ exitCode: 0 });
  });

  it("holds within `lagging`, and says how far behind it is", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", behind(30)).run("10m");

    expect(play.target("multichain")).toMatchObject({ status: "ok", lag_blocks: 30 });
    expect(play.target("multichain").detail).toBe(
      "advances, 60 s (30 blocks) behind the reference seen by 3 sources",
    );
  });

  it("holds through small steps back, each counted once as a reorg", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    play.script("multichain", inTurn(behind(200), behind(0), behind(0), behind(0)));

    expect(play.statusesDuring("5m")).toEqual(["ok"]);
    expect(play.target("multichain").regressions).toEqual({ reorg: 5, reindex: 0 });
  });

  it("holds through a large step back that two answers show and a third does not", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    play.script("multichain", behind(400_000)).run("30s").script("multichain", behind(0));

    expect(play.statusesDuring("10m")).toEqual(["ok"]);
    expect(play.target("multichain").regressions).toEqual({ reorg: 1, reindex: 0 });
  });

  it.each([
    { case: "256 blocks of a slow chain", blockTime: "12s", back: 250, reindex: 0 },
    { case: "more than that", blockTime: "12s", back: 320, reindex: 1 },
    { case: "ten minutes of a fast chain", blockTime: "0.5s", back: 1_100, reindex: 0 },
    { case: "more than these", blockTime: "0.5s", back: 1_300, reindex: 1 },
    { case: "256 blocks where the pace is unknown", blockTime: null, back: 250, reindex: 0 },
  ])("counts a lasting step back of $case as $reindex re-indexes", ({ back, blockTime, reindex }) => {
    const play = new ScriptedFleet(fleetYaml(["multichain", "subgraph", "mirror"], { blockTime })).run("10m");

    play.script("multichain", behind(back)).run("2m");

    expect(play.target("multichain").regressions.reindex).toBe(reindex);
  });

  it("counts changes of the deployment, but not its absence", () => {
    const deployments = ["Qm1", null, "Qm1", "Qm2", "Qm2", "Qm3"];
    const play = new ScriptedFleet(TRIO);
    play.script(
      "multichain",
      inTurn(
        ...deployments.map((deployment) => ({ head }: { head: number }) => ({ block: head, deployment })),
      ),
    );

    play.run("75s");

    expect(play.target("multichain")).toMatchObject({ deployment: "Qm3", deployment_changes: 2 });
  });

  it("keeps the last known block time where an answer leaves it out, and takes none of the future", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", dated(0, -10)).run("1m");
    const known = play.target("multichain").block_timestamp;
    play.script("multichain", behind(0)).run("30s");
    play.script("subgraph", dated(0, 1_000_000)).run("30s");

    expect(play.target("multichain").block_timestamp).toBe(known);
    expect(known).not.toBeNull();
    expect(play.target("subgraph").block_timestamp).toBeNull();
  });
});
