import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { TRIO } from "./fleets.ts";

describe("`throttled`", () => {
  it("says which budget is spent", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    play.script("multichain", () => ({ failed: "budget", detail: "3,000 of 3,000 requests of today" }));

    play.run("4m");

    expect(play.target("multichain")).toMatchObject({ status: "throttled", up: false });
    expect(play.target("multichain").detail).toBe(
      "polled too often, or our budget is spent: budget (3,000 of 3,000 requests of today); last height 4 min ago",
    );
  });
});
