import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { TRIO } from "./fleets.ts";

describe("`not_found`", () => {
  it("names no last height where there never was one", () => {
    const play = new ScriptedFleet(TRIO);
    play.script("multichain", () => ({ failed: "not_found", detail: "subgraph not found: no allocations" }));

    play.run("1m");

    expect(play.target("multichain").detail).toBe(
      "no such subgraph or deployment: not_found (subgraph not found: no allocations)",
    );
  });
});
