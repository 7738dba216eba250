import { describe, expect, it } from "vitest";
import { BASE, headOf, Play, type Said, watch } from "./chain-fixture.ts";

const [A, B, C] = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain"];
/** 55 h of blocks of 2 s. */
const FAR = 99_000;

/** A's answers are low where `pattern` has an `l`, again and again; B and C are healthy. */
function withA(pattern: string) {
  return ({
    nowMs,
    index,
  }: {
    readonly nowMs: number;
    readonly index: number;
  }): Readonly<Record<string, Said>> => ({
    [A]: headOf(nowMs) - (pattern[index % pattern.length] === "l" ? FAR : 0),
    [B]: headOf(nowMs),
    [C]: headOf(nowMs),
  });
}

/** The statuses that A changes to. */
function changes(played: Play, ticks: number, pattern: string): readonly string[] {
  const said = withA(pattern);
  let status = played.target(A).status;
  return Array.from({ length: ticks }, (_, index) => {
    played.run(1, ({ nowMs }) => said({ nowMs, index }));
    const before = status;
    status = played.target(A).status;
    return status === before ? [] : [status];
  }).flat();
}

describe("replicas behind one URL", () => {
  it("stays ok where few answers are low, and says so", () => {
    const played = new Play(watch(BASE, A, B, C)).run(10, withA("h"));

    expect(changes(played, 240, "hhlhhhhhlh")).toEqual([]);
    expect(played.target(A)).toMatchObject({ status: "ok", lagBlocks: 0, block: headOf(played.nowMs) });
    expect(played.target(A).detail).toBe(
      "advances, level with the reference seen by 3 sources; its replicas disagree by 99,008 blocks: 13 of its last 64 answers were that far behind the others",
    );
  });

  it.each(["hll", "lllh", "llhlhl"])(
    "is lagging where most are low (%s), with the height and the lag of these",
    (pattern) => {
      const played = new Play(watch(BASE, A, B, C)).run(10, withA("h"));

      expect(changes(played, 240, pattern)).toEqual(["lagging"]);
      const { block, detail, lagBlocks, lagMs } = played.target(A);
      expect(headOf(played.nowMs) - (block ?? 0)).toBeGreaterThanOrEqual(FAR);
      expect(lagBlocks).toBeGreaterThanOrEqual(FAR);
      expect(lagMs).toBeGreaterThan(FAR * 1_990);
      expect(detail).toMatch(
        /^users are served by replicas that are behind, about 2 d [67] h \(99,\d+ blocks\) behind the reference seen by 3 sources; its replicas disagree by 9[89],\d+ blocks: \d+ of its last 64 answers/u,
      );
      expect(played.report().gaps.find(({ target }) => target.key.startsWith(A))).toBeUndefined();
    },
  );

  it("counts neither each fall as a step back, nor each return as an advance", () => {
    const played = new Play(watch(BASE, A, B, C)).run(10, withA("h"));

    played.run(240, withA("hllhlhlllhlhhl"));

    const { reorg, reindex } = played.target(A).regressions;
    expect(reorg + reindex).toBe(1);
  });

  it("does not advance by returning to the height at which it stood", () => {
    const played = new Play(watch(BASE, A, B, C)).run(10, withA("h"));
    const { lastAdvanceMs } = played.target(A);
    const stood = headOf(played.nowMs);

    played.run(20, ({ nowMs, index }) => ({
      [A]: index % 4 === 0 ? stood : stood - FAR,
      [B]: headOf(nowMs),
      [C]: headOf(nowMs),
    }));

    expect(played.target(A).lastAdvanceMs).toBe(lastAdvanceMs);
  });

  it("is ok again after twelve answers that are not low", () => {
    const played = new Play(watch(BASE, A, B, C)).run(10, withA("h")).run(120, withA("llh"));

    expect(changes(played, 20, "h")).toEqual(["ok"]);
    played.run(60, withA("h"));
    expect(played.target(A).detail).toBe("advances, level with the reference seen by 3 sources");
  });

  it("has fallen back once only the low ones answer", () => {
    const played = new Play(watch(BASE, A, B, C)).run(10, withA("h")).run(60, withA("hhl"));

    expect(changes(played, 120, "l")).toEqual(["lagging"]);
    expect(played.target(A).detail).not.toContain("replicas");
    expect(played.target(A).regressions.reindex).toBe(1);
  });

  it("knows after a restart what it knew before", () => {
    const played = new Play(watch(BASE, A, B, C)).run(10, withA("h")).run(120, withA("llh"));

    expect(changes(played.restart(), 120, "llh")).toEqual([]);
  });

  it("judges by the share although the first answers of all were low", () => {
    const played = new Play(watch(BASE, A, B, C)).run(2, withA("l"));

    expect(changes(played, 240, "lllh").length).toBeLessThanOrEqual(2);
    expect(played.target(A).status).toBe("lagging");
  });
});
