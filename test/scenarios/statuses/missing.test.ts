import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind } from "../../support/scripted-reply.ts";
import { TRIO } from "./fleets.ts";

describe("`missing`", () => {
  it("takes two answers without the chain, and ends with the first that has it", () => {
    const play = new ScriptedFleet(TRIO).run("10m").script("multichain", () => "missing");

    expect(play.changes("multichain", "20m")).toEqual(["30s missing"]);

    expect(play.target("multichain")).toMatchObject({ up: false, reason: null, block_number: null });
    expect(play.target("multichain").detail).toBe(
      "the answer lacks this chain, though it is expected there; last height 20 min ago",
    );
    play.script("multichain", behind(0));
    expect(play.changes("multichain", "2m")).toEqual(["15s ok"]);
  });
});
