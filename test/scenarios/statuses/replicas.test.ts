import { describe, expect, it } from "vitest";
import { createRandom } from "../../../src/sim/model/random.ts";
import { ScriptedFleet } from "../../support/scripted-fleet.ts";
import { behind, inTurn } from "../../support/scripted-reply.ts";
import { fleetYaml, TRIO } from "./fleets.ts";

/** 55 h of blocks of two seconds. */
const FAR = 99_000;

/** From now on the answers of `multichain` are low where the pattern has an `l`, again and again. */
function alternate(play: ScriptedFleet, pattern: string): ScriptedFleet {
  return play.script("multichain", inTurn(...[...pattern].map((letter) => behind(letter === "l" ? FAR : 0))));
}

function healthy(): ScriptedFleet {
  return new ScriptedFleet(TRIO).run("3m");
}

/** The statuses it changes to, without the times. */
function statusesOf(changes: readonly string[]): readonly (string | undefined)[] {
  return changes.map((change) => change.split(" ").at(-1));
}

describe("replicas that disagree behind one URL", () => {
  it("leave the status to the high ones where few answers are low, and the detail says so", () => {
    const play = alternate(healthy(), "hhlhhhhhlh");

    expect(play.changes("multichain", "1h")).toEqual([]);

    expect(play.target("multichain")).toMatchObject({ status: "ok", lag_blocks: 0 });
    expect(play.target("multichain").detail).toMatch(
      /^advances, level with the reference seen by 3 sources; its replicas disagree by 99,0\d\d blocks: 13 of its last 64 answers were that far behind the others$/,
    );
  });

  it.each(["hll", "lllh", "llhlhl"])(
    "make it `lagging` where most are low (%s), with the height and lag of these",
    (pattern) => {
      const play = alternate(healthy(), pattern);

      expect(statusesOf(play.changes("multichain", "1h"))).toEqual(["lagging"]);

      const { block_number, detail, lag_blocks, lag_seconds } = play.target("multichain");
      expect(play.head() - (block_number ?? 0)).toBeGreaterThanOrEqual(FAR);
      expect(lag_blocks).toBeGreaterThanOrEqual(FAR);
      expect(lag_seconds).toBeGreaterThan(FAR * 1.99);
      expect(detail).toMatch(
        /^users are served by replicas that are behind, about 2 d [67] h \(99,\d+ blocks\) behind the reference seen by 3 sources; its replicas disagree by 9[89],\d+ blocks: \d+ of its last 64 answers/,
      );
      expect(play.chain().gaps.map(({ against }) => against)).not.toContain("multichain");
      expect(play.chain().reference).toMatchObject({ block_number: play.head() });
    },
  );

  it("give it the highest of the last three low heights, for the low replicas disagree, too", () => {
    const play = healthy().script("multichain", inTurn(behind(FAR), behind(0), behind(FAR + 500)));
    play.run("30m");

    for (let poll = 0; poll < 6; poll += 1) {
      const { lag_blocks: blocks } = play.run("15s").target("multichain");
      expect(Math.abs((blocks ?? 0) - FAR)).toBeLessThan(30);
    }
  });

  it("leave it `ok` where most are low, but none so low that it lags", () => {
    const thresholds = { lagging: "72h", critical: "96h" };
    const yaml = fleetYaml(["multichain", "subgraph", "mirror"], { thresholds });
    const play = alternate(new ScriptedFleet(yaml).run("3m"), "hll");

    expect(play.changes("multichain", "1h")).toEqual([]);

    expect(play.target("multichain").status).toBe("ok");
    expect(play.target("multichain").detail).toMatch(
      /^users are served by replicas that are behind, about 2 d/,
    );
  });

  it("make it `lagging` within about half an hour where half of the answers are low", () => {
    const random = createRandom("half");
    const play = healthy().script("multichain", ({ head }) => head - (random() < 0.5 ? FAR : 0));

    const changes = play.changes("multichain", "45m");

    expect(statusesOf(changes)).toEqual(["lagging"]);
  });

  it("make it `lagging` with the second poll in which low answers outnumber the others by ten", () => {
    const play = alternate(healthy(), `hlh${"l".repeat(30)}`);

    expect(play.changes("multichain", "5m")).toEqual(["3m 30s lagging"]);
  });

  it("make it `lagging` once no high answer is evidence any more, where polls are rare", () => {
    const yaml = fleetYaml(["multichain", "subgraph", "mirror"], {
      schedules: { multichain: "0 */10 * * * *" },
    });
    const play = alternate(new ScriptedFleet(yaml).run("1h"), `hlh${"l".repeat(30)}`);

    const changes = play.changes("multichain", "90m");

    expect(statusesOf(changes)).toEqual(["lagging"]);
    expect(play.target("multichain").lag_blocks).toBeGreaterThanOrEqual(FAR);
  });

  it("leave the status unknown where no low answer is evidence any more and the high ones are few yet", () => {
    const yaml = fleetYaml(["multichain", "subgraph", "mirror"], {
      schedules: { multichain: "0 */10 * * * *" },
    });
    const play = alternate(new ScriptedFleet(yaml), "hllhlhhh").run("75m");

    expect(play.target("multichain").status).toBe("unknown");
    expect(play.target("multichain").detail).toBe(
      "its last height is 99,900 blocks below the highest that it reported; more answers must show which of the two it keeps to",
    );
  });

  it("are not concluded from a single low answer", () => {
    const play = alternate(healthy(), `l${"h".repeat(100)}`);

    const low = play.run("15s").target("multichain").detail;
    const high = play.run("1m").target("multichain").detail;

    expect([low, high].filter((detail) => detail.includes("replicas"))).toEqual([]);
  });

  it("are no steps back, re-indexes or advances each time", () => {
    const play = alternate(healthy(), "hllhlhlllhlhhl").run("1h");

    const { reindex, reorg } = play.target("multichain").regressions;
    expect(reorg + reindex).toBe(1);
  });

  it("do not advance by a return to the height at which they stood", () => {
    const play = healthy();
    const { last_advance } = play.target("multichain");
    const stood = play.head();
    play.script(
      "multichain",
      inTurn(
        () => stood,
        () => stood - FAR,
        () => stood - FAR,
      ),
    );

    play.run("5m");

    expect(play.target("multichain").last_advance).toBe(last_advance);
  });

  it("are forgotten once they agree again: `ok` after twelve high answers, without the sentence after 64", () => {
    const play = alternate(alternate(healthy(), "llh").run("30m"), "h");

    expect(play.changes("multichain", "10m")).toEqual(["3m ok"]);
    expect(play.run("10m").target("multichain").detail).toBe(
      "advances, level with the reference seen by 3 sources",
    );
  });

  it("are a re-index where only the low ones are left", () => {
    const play = alternate(alternate(healthy(), "hhl").run("15m"), "l");

    expect(statusesOf(play.changes("multichain", "30m"))).toEqual(["lagging"]);
    expect(play.target("multichain").detail).not.toContain("replicas");
    expect(play.target("multichain").regressions.reindex).toBe(1);
  });

  it("are remembered over a restart", () => {
    const play = alternate(healthy(), "llh").run("30m").restart();

    expect(play.changes("multichain", "30m")).toEqual([]);
  });

  it("are judged by their share although the first answers were low", () => {
    const play = alternate(alternate(new ScriptedFleet(TRIO), "l").run("30s"), "lllh");

    expect(play.changes("multichain", "1h").length).toBeLessThanOrEqual(2);
    expect(play.target("multichain").status).toBe("lagging");
  });
});
