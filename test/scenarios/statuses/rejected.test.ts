import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { TRIO } from "./fleets.ts";

describe("`rejected`", () => {
  it("says what the provider said of our key, and when there was a height last", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    play.script("multichain", () => ({ failed: "unauthorized", detail: "auth error: API key not found" }));

    play.run("12m");

    expect(play.target("multichain")).toMatchObject({
      status: "rejected",
      up: false,
      block_number: null,
      lag_seconds: null,
    });
    expect(play.target("multichain").detail).toBe(
      "our key is missing, wrong or unpaid: unauthorized (auth error: API key not found); last height 12 min ago",
    );
    expect(play.check("airdrops/base/multichain").exitCode).toBe(2);
  });
});
