import { describe, expect, it } from "vitest";
import { BASE, headOf, Play, type Said, watch } from "../chain/chain-fixture.ts";

const [A, B] = ["airdrops/multichain", "airdrops/subgraph"];

function dated(block: number, nowMs: number): Said {
  return { block, timestampSec: Math.floor(nowMs / 1_000) };
}

describe("the detail of a target that is back from the heights of another chain", () => {
  it("says that its heights differ, and not that its last answer is too old", () => {
    const play = new Play(watch(BASE, A, B));
    const details: string[] = [];
    const both = (offBlocks: (index: number) => number, polls: number) =>
      play.run(polls, ({ index, nowMs }) => ({
        [A]: dated(headOf(nowMs) + offBlocks(index), nowMs),
        [B]: dated(headOf(nowMs), nowMs),
      }));

    both(() => 0, 60);
    // The other chain is 2,000 blocks lower and three times as fast.
    both((index) => 14 * index - 2_000, 240);
    for (let poll = 0; poll < 40; poll += 1) {
      both(() => (poll % 3 === 0 ? -2_000 : 0), 1);
      const { detail, status } = play.target(A);
      details.push(...(status === "unknown" ? [detail] : []));
    }

    expect(details).not.toEqual([]);
    expect(
      details.filter((detail) => !/^its last height is [\d,]+ blocks below the highest/.test(detail)),
    ).toEqual([]);
  });
});

describe("the detail of a target that does not advance", () => {
  it.each([
    { case: "stands still", polls: 3, said: (block: number) => block, text: "has not advanced for 45 s" },
    { case: "does not reply", polls: 2, said: () => "timeout" as const, text: "last advanced 30 s ago" },
  ])("does not say that it advances once two polls passed: $case", ({ polls, said, text }) => {
    const play = new Play(watch(BASE, A, B));
    play.run(20, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: headOf(nowMs) }));
    const stood = headOf(play.nowMs);
    const next = ({ nowMs }: { readonly nowMs: number }) => ({ [A]: said(stood), [B]: headOf(nowMs) });

    const [first, last] = [play.run(1, next).target(A), play.run(polls - 1, next).target(A)];

    expect(first.detail).toMatch(/^advances/);
    expect(last.detail).toContain(text);
  });
});
