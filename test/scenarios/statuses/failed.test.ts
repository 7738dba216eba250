import { describe, expect, it } from "vitest";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind } from "../../support/scripted-reply.ts";
import { TRIO } from "./fleets.ts";

describe("`failed`", () => {
  it("holds while the indexer flags indexing errors, though its height grows", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    play.script("multichain", ({ head }) => ({ block: head - 5_400, indexingErrors: true }));

    expect(play.changes("multichain", "10m")).toEqual(["30s failed"]);

    expect(play.target("multichain")).toMatchObject({ up: true, reason: null, indexing_errors: true });
    expect(play.target("multichain").detail).toMatch(
      /^the indexer reports indexing errors, and is about 3 h \(5,4\d\d blocks\) behind the reference seen by 2 sources$/,
    );
    play.script("multichain", ({ head }) => ({ block: head, indexingErrors: false }));
    expect(play.changes("multichain", "2m")).toEqual(["30s ok"]);
  });

  it("says what the indexer gives as the cause", () => {
    const play = new ScriptedFleet(TRIO).script("multichain", ({ head }) => ({
      block: head,
      indexingErrors: true,
      failure: "out of memory",
    }));

    play.run("1m");

    expect(play.target("multichain").detail).toBe(
      "the indexer reports a failed deployment: out of memory; it is level with the reference seen by 3 sources",
    );
  });

  it("keeps its cause apart from a later poll that fails in another way", () => {
    const play = new ScriptedFleet(TRIO)
      .run("10m")
      .script("multichain", () => "indexing_error")
      .run("1m");

    play.wait("15s").poll("multichain", "connect");

    expect(play.target("multichain")).toMatchObject({
      status: "failed",
      reason: "connect",
      detail: "the indexer reports a failed deployment; the last poll failed: connect",
    });
  });

  it("is not concluded from a flag that says that all is well, nor prevents another status", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    const stuck = play.head();
    play.script("multichain", () => ({ block: stuck, indexingErrors: false }));

    expect(play.changes("multichain", "20m")).toEqual(["10m 30s stalled"]);
  });

  it("ends when the indexer does not report errors any more, and not when it leaves the flag out for one poll", () => {
    const play = new ScriptedFleet(TRIO).run("10m");
    play.script("multichain", ({ head }) => ({ block: head, indexingErrors: true })).run("2m");

    play.script("multichain", behind(0));

    expect(play.changes("multichain", "2m")).toEqual(["30s ok"]);
  });
});
