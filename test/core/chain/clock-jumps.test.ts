import { describe, expect, it } from "vitest";
import { BASE, headOf, Play, type Said, watch } from "./chain-fixture.ts";

const HOUR_MS = 3_600_000;
const NAMES = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain"];
/** What no jump of our own clock may make of an indexer that runs as ever. */
const SLANDER = ["stalled", "diverged", "chain_halted", "failed", "missing", "lagging", "syncing"];

interface Jump {
  readonly jump: string;
  readonly byMs: number;
}

const JUMPS: readonly Jump[] = [
  { jump: "a minute forwards", byMs: 60_000 },
  { jump: "an hour forwards", byMs: HOUR_MS },
  { jump: "three hours forwards", byMs: 3 * HOUR_MS },
  { jump: "a month forwards", byMs: 720 * HOUR_MS },
  { jump: "a minute backwards", byMs: -60_000 },
  { jump: "an hour backwards", byMs: -HOUR_MS },
  { jump: "three hours backwards", byMs: -3 * HOUR_MS },
  { jump: "a month backwards", byMs: -720 * HOUR_MS },
];

const SOURCES: readonly { readonly from: string; readonly says: (block: number, trueMs: number) => Said }[] =
  [
    { from: "without times", says: (block) => block },
    { from: "with times", says: (block, trueMs) => ({ block, timestampSec: Math.floor(trueMs / 1_000) }) },
  ];

const BOTH = JUMPS.flatMap((jump) => SOURCES.map((source) => ({ ...jump, ...source })));
/** A clock that is an hour fast cannot know it: then every block that says its time looks an hour old. */
const looksOld = ({ from, byMs }: (typeof BOTH)[number]) => from === "with times" && byMs >= HOUR_MS;

describe("the wall clock jumps", () => {
  it.each(BOTH.filter((one) => !looksOld(one)))(
    "$jump, heights $from: nobody is slandered, and all is known again",
    ({ byMs, says }) => {
      const play = new Play(watch(BASE, ...NAMES));
      const tick = (aheadMs: number) => (at: { readonly nowMs: number }) =>
        Object.fromEntries(NAMES.map((name) => [name, says(headOf(at.nowMs - aheadMs), at.nowMs - aheadMs)]));
      play.run(60, tick(0));

      play.wait(byMs);
      const seen: string[] = [];
      for (let index = 0; index < 60; index += 1) {
        seen.push(...look(play.run(1, tick(byMs))));
      }

      expect(seen).toEqual([]);
      expect(play.report().targets.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
      expect(play.report().reference?.block).toBe(headOf(play.nowMs - byMs));
    },
  );

  it.each(BOTH.filter(looksOld))(
    "$jump, heights $from: blocks look old, until the clock is right",
    ({ byMs, says }) => {
      const play = new Play(watch(BASE, ...NAMES));
      const tick = (aheadMs: number) => (at: { readonly nowMs: number }) =>
        Object.fromEntries(NAMES.map((name) => [name, says(headOf(at.nowMs - aheadMs), at.nowMs - aheadMs)]));
      play.run(60, tick(0));

      play.wait(byMs).run(60, tick(byMs));
      const meanwhile = play.report().targets.map(({ status }) => status);
      play.wait(-byMs).run(60, tick(0));

      expect(meanwhile).toEqual(["lagging", "lagging", "lagging"]);
      expect(look(play)).toEqual([]);
      expect(play.report().targets.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
    },
  );

  it.each([1, 8, 72])("a laptop sleeps for %i hours, and wakes to a chain that went on", (hours) => {
    const play = new Play(watch(BASE, ...NAMES));
    const tick = (at: { readonly nowMs: number }) =>
      Object.fromEntries(NAMES.map((name) => [name, headOf(at.nowMs)]));
    play.run(60, tick);

    play.wait(hours * HOUR_MS);
    const asleep = play.report().targets.map(({ status }) => status);
    const seen: string[] = [];
    for (let index = 0; index < 20; index += 1) {
      seen.push(...look(play.run(1, tick)));
    }

    expect(asleep).toEqual(["unknown", "unknown", "unknown"]);
    expect(seen).toEqual([]);
    expect(play.report().targets.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  });
});

/** All that is wrong with a report. */
function look(play: Play): readonly string[] {
  const { targets, gaps, blockIntervalMs } = play.report();
  const judged = targets
    .filter(({ status }) => SLANDER.includes(status))
    .map(({ status }) => `${status} at ${play.nowMs}`);
  const lags = targets
    .flatMap(({ lagBlocks, lagMs }) => [lagBlocks, lagMs])
    .filter((lag) => lag !== null && (lag < 0 || lag > 60_000))
    .map((lag) => `lag ${lag}`);
  const apart = gaps.filter(({ blocks }) => Math.abs(blocks) > 30).map(({ blocks }) => `gap ${blocks}`);
  const pace = blockIntervalMs !== null && blockIntervalMs <= 0 ? [`pace ${blockIntervalMs}`] : [];
  return [...judged, ...lags, ...apart, ...pace];
}
