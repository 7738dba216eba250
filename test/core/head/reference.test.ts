import { describe, expect, it } from "vitest";
import { mostBlocksIn } from "../../../src/core/head/pace.ts";
import { highestPossible, isDiscontinuous } from "../../../src/core/head/reference.ts";
import { NOW, PACE, reference, update, vote } from "../../support/reference-votes.ts";

const HOUR = 3_600_000;

describe("mostBlocksIn()", () => {
  it.each([
    {
      case: "four times the measured pace, a minute and some blocks more",
      pace: PACE,
      most: 16 + (4 * 90) / 2,
    },
    {
      case: "eight times the configured pace",
      pace: { intervalMs: 2_000, measured: false },
      most: 16 + (8 * 90) / 2,
    },
    {
      case: "a fast chain's where nobody knows the pace",
      pace: { intervalMs: null, measured: false },
      most: 16 + 8 * 900,
    },
  ])("allows $case", ({ pace, most }) => {
    expect(mostBlocksIn(30_000, pace)).toBe(most);
  });

  it("allows no less where our clock was set back", () => {
    expect(mostBlocksIn(-30_000, PACE)).toBe(mostBlocksIn(0, PACE));
  });
});

describe("highestPossible()", () => {
  it("counts from when the reference was first reached", () => {
    const paused = reference(1_000, { reachedMs: NOW - 60_000, atMs: NOW });

    expect(highestPossible(paused, PACE, NOW)).toBe(1_000 + mostBlocksIn(60_000, PACE));
  });

  it.each([null, reference(1_000, { firm: false })])("is unknown while nothing firm is known", (none) => {
    expect(highestPossible(none, PACE, NOW)).toBeNull();
  });
});

describe("updateReference()", () => {
  it.each([
    { case: "nobody votes", votes: [], block: null },
    { case: "one source votes", votes: [vote(100)], block: null },
    { case: "one RPC node proves it", votes: [vote(100, { weight: "proof" })], block: 100 },
    { case: "two vote", votes: [vote(100), vote(90)], block: 100 },
    { case: "one of two is not believed", votes: [vote(900, { weight: "suspect" }), vote(90)], block: 90 },
    { case: "one of two is back-filling", votes: [vote(900), vote(90, { weight: "behind" })], block: 900 },
    {
      case: "all are behind by their own word",
      votes: [vote(900, { weight: "behind" }), vote(90, { weight: "behind" })],
      block: null,
    },
    { case: "three vote", votes: [vote(80), vote(100), vote(90)], block: 90 },
    {
      case: "an RPC node is above what indexers agree on",
      votes: [vote(80), vote(100, { weight: "proof" }), vote(90)],
      block: 100,
    },
    {
      case: "an RPC node is below it",
      votes: [vote(80, { weight: "proof" }), vote(100), vote(95)],
      block: 95,
    },
    {
      case: "two contradict each other by their block times",
      votes: [vote(100_000, { timestampSec: 1_000 }), vote(100, { timestampSec: 1_000 })],
      block: null,
    },
    {
      case: "two are as far apart as their block times",
      votes: [vote(100_000, { timestampSec: 200_000 }), vote(100, { timestampSec: 200 })],
      block: 100_000,
    },
    {
      case: "only one of two tells its block time",
      votes: [vote(100_000, { timestampSec: 1_000 }), vote(100)],
      block: 100_000,
    },
  ])("is $block at first where $case", ({ votes, block }) => {
    expect(update(null, ...votes)?.block ?? null).toBe(block);
  });

  it("takes the instant of the earliest of equals", () => {
    const early = vote(100, { atMs: NOW - 400, slackMs: 10 });

    expect(update(null, vote(100), early)).toMatchObject({
      atMs: NOW - 400,
      slackMs: 10,
      reachedMs: NOW - 400,
    });
  });

  it("counts those that agree, carried to its instant, and is fresh as long as the last of them", () => {
    const votes = [
      vote(1_000),
      vote(1_000, { freshUntilMs: NOW + 900_000 }),
      vote(970),
      vote(969),
      vote(960, { atMs: NOW - 20_000 }),
      vote(1_000, { weight: "suspect", freshUntilMs: NOW + 9_000_000 }),
    ];

    expect(update(null, ...votes)).toMatchObject({ block: 1_000, sources: 4, freshUntilMs: NOW + 900_000 });
  });

  it.each([
    { case: "firm by a steady source", votes: [vote(100), vote(100, { steady: false })], firm: true },
    { case: "firm by proof", votes: [vote(100, { steady: false, weight: "proof" })], firm: true },
    {
      case: "a guess while all are new",
      votes: [vote(100, { steady: false }), vote(100, { steady: false })],
      firm: false,
    },
  ])("is $case", ({ votes, firm }) => {
    expect(update(null, ...votes)?.firm).toBe(firm);
  });

  it("stays firm, and stays what it was, where nobody votes", () => {
    const previous = reference(100);

    expect(update(previous)).toBe(previous);
    expect(update(reference(100, { firm: false }))).toBeNull();
  });

  it("is confirmed by sources that are behind by their own word, where it stands still", () => {
    const old = vote(100, { weight: "behind", freshUntilMs: NOW + 300_000 });

    expect(update(reference(100), old, old)).toMatchObject({
      block: 100,
      atMs: NOW,
      reachedMs: NOW - 15_000,
      sources: 2,
    });
    expect(update(reference(101), old, old)).toEqual(reference(101));
  });

  it("does not fall", () => {
    const previous = reference(1_000);

    expect(update(previous, vote(900), vote(900), vote(900))).toBe(previous);
  });

  it.each([
    { hours: 6.2, block: 900 },
    { hours: 5.8, block: 1_000 },
  ])("is $block when nobody has confirmed a higher one for $hours h", ({ hours, block }) => {
    const previous = reference(1_000, { freshUntilMs: NOW - hours * HOUR });

    expect(update(previous, vote(900), vote(900), vote(900))?.block).toBe(block);
  });

  it("remembers where it was before a jump that no pace explains, and goes back when nobody stands by it", () => {
    const previous = reference(1_000);

    const jumped = update(previous, vote(50_000), vote(50_000), vote(1_007));
    const back = update(jumped, vote(1_007), vote(1_007), vote(1_007));

    expect(jumped).toMatchObject({ block: 50_000, former: { block: 1_000, atMs: NOW - 15_000 } });
    expect(back).toMatchObject({ block: 1_007, former: null, firm: true });
    expect(jumped !== null && isDiscontinuous(previous, jumped)).toBe(true);
    expect(back !== null && isDiscontinuous(jumped, back)).toBe(true);
  });

  it.each([
    { case: "one source still claims the jump", votes: [vote(50_000), vote(1_007), vote(1_007)] },
    {
      case: "the lower height does not fit the former track",
      votes: [vote(40_000), vote(40_000), vote(40_000)],
    },
  ])("does not go back where $case", ({ votes }) => {
    const jumped = reference(50_000, { former: { block: 1_000, atMs: NOW - 15_000 } });

    expect(update(jumped, ...votes)).toBe(jumped);
  });

  it("goes back although a source that is not believed claims the jump", () => {
    const jumped = reference(50_000, { former: { block: 1_000, atMs: NOW - 15_000 } });

    expect(update(jumped, vote(50_000, { weight: "suspect" }), vote(1_007), vote(1_007))?.block).toBe(1_007);
  });

  it("has not leapt while it goes at the chain's pace", () => {
    const previous = reference(1_000, { former: { block: 5, atMs: 5 } });
    const next = update(previous, vote(1_007), vote(1_007), vote(1_007));

    expect(next).toMatchObject({ block: 1_007, former: { block: 5, atMs: 5 }, reachedMs: NOW });
    expect(next !== null && isDiscontinuous(previous, next)).toBe(false);
  });
});

describe("updateReference() with sources that are asked rarely", () => {
  const rare = { pollIntervalMs: 1_800_000 };

  it("lets an old vote corroborate what the chain can have made since", () => {
    const old = vote(1_000, { ...rare, atMs: NOW - 600_000 });

    expect(update(null, vote(1_300), old, { ...old, block: 990 })?.block).toBe(1_300);
  });

  it("does not let it corroborate more", () => {
    const old = vote(1_000, { ...rare, atMs: NOW - 600_000 });

    expect(update(null, vote(90_000), old, { ...old, block: 990 })?.block).toBe(1_000);
  });

  it("takes the second of one round as it was read", () => {
    expect(update(null, vote(1_010), vote(1_000, { atMs: NOW - 15_000 }), vote(800))).toMatchObject({
      block: 1_000,
      atMs: NOW - 15_000,
    });
  });
});
