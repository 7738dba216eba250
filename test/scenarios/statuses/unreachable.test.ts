import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO } from "./fleets.ts";

describe("`unreachable`", () => {
  it("keeps the last height for as long as that is evidence", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    const last = play.head();
    play.script("multichain", () => ({ failed: "no_indexers", detail: "bad indexers" }));

    const early = play.run("3m").target("multichain");
    const late = play.run("3m").target("multichain");

    expect(early).toMatchObject({ status: "unreachable", up: false, block_number: last, lag_blocks: 0 });
    expect(early.detail).toBe("no usable answer: no_indexers (bad indexers); last height 3 min ago");
    expect(late).toMatchObject({ status: "unreachable", block_number: null, lag_blocks: null });
  });

  it("is what the targets of a single host are that has never replied", () => {
    const play = new ScriptedFleet(fleetYaml(["multichain"])).script("multichain", () => "connect");

    expect(play.run("2m").statuses()).toEqual(["unreachable"]);
  });

  it("moves the preference to the other variant, and back", () => {
    const play = new ScriptedFleet(TRIO).run("10m").script("multichain", () => "connect");
    const preferred = () => play.chain().targets.filter((target) => target.preferred);

    play.run("2m");
    const meanwhile = preferred().map(({ variant }) => variant);
    play.script("multichain", behind(0)).run("2m");

    expect(meanwhile).toEqual(["subgraph"]);
    expect(preferred().map(({ variant }) => variant)).toEqual(["multichain"]);
  });
});
