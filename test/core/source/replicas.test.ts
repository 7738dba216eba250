import { describe, expect, it } from "vitest";
import type { Sample } from "../../../src/core/model/sample.ts";
import {
  type AnswersBefore,
  disagreementOf,
  hasReturned,
  isFarBelow,
  noteAnswer,
  type Replicas,
} from "../../../src/core/source/replicas.ts";

const CONTEXT = { largeStepBlocks: 100, staleAfterMs: 300_000 };
const HIGH = 1_000;
const LOW = 500;

/** A height that was read at 0 ms. */
function sampleAt(block: number): Sample {
  return { block, timestampSec: null, hash: null, sentAtMs: 0, receivedAtMs: 0 };
}

interface Noted {
  readonly replicas: Replicas | null;
  readonly newest: AnswersBefore["newest"];
}

/** Notes answers 15 s apart: `h` at 1,000, `l` at 500. The status says that it is behind, if told so. */
function noted(
  answers: string,
  { status = "ok", everyMs = 15_000 }: { readonly status?: "ok" | "behind"; readonly everyMs?: number } = {},
): Replicas | null {
  let known: Noted = { replicas: null, newest: null };
  for (const [index, answer] of [...answers].entries()) {
    const atMs = index * everyMs;
    const sample = { ...sampleAt(answer === "h" ? HIGH : LOW), sentAtMs: atMs, receivedAtMs: atMs };
    const before = { ...known, peakBlock: HIGH, isBehind: status === "behind" };
    known = {
      replicas: noteAnswer(before, sample, CONTEXT),
      newest: answer === "h" ? sample : known.newest,
    };
  }
  return known.replicas;
}

describe("noteAnswer()", () => {
  it.each([
    { case: "no fall", answers: "hhhh", disagree: undefined },
    { case: "one fall", answers: "hhll", disagree: false },
    { case: "one fall and a return", answers: "hlh", disagree: false },
    { case: "two falls", answers: "hlhl", disagree: true },
    { case: "two falls, long apart", answers: `hl${"h".repeat(61)}l`, disagree: true },
    { case: "two falls, too long apart", answers: `hl${"h".repeat(64)}l`, disagree: false },
    {
      case: "two falls, the first of them forgotten",
      answers: `h${"l".repeat(10)}${"h".repeat(54)}l`,
      disagree: false,
    },
    { case: "a fall that lasts", answers: `h${"l".repeat(16)}`, disagree: undefined },
  ])("says of $case that replicas disagree: $disagree", ({ answers, disagree }) => {
    expect(noted(answers)?.disagree).toBe(disagree);
  });

  it.each([
    { case: "one in two, for a few answers", answers: "hl".repeat(9), isStale: false },
    { case: "two in three", answers: "hll".repeat(11), isStale: true },
    { case: "one in three", answers: "hhl".repeat(40), isStale: false },
    { case: "nine low ones in a row", answers: `hlh${"l".repeat(9)}`, isStale: false },
    { case: "ten low ones in a row", answers: `hlh${"l".repeat(10)}`, isStale: true },
    {
      case: "eleven high ones after it was stale",
      answers: `${"hll".repeat(11)}${"h".repeat(11)}`,
      isStale: true,
    },
    {
      case: "twelve high ones after it was stale",
      answers: `${"hll".repeat(11)}${"h".repeat(12)}`,
      isStale: false,
    },
  ])("says of $case that it is stale: $isStale", ({ answers, isStale }) => {
    expect(noted(answers)?.isStale).toBe(isStale);
  });

  it("goes on with the status that the target has when it is known that replicas disagree", () => {
    expect(noted("hlhl", { status: "behind" })?.isStale).toBe(true);
  });

  it("is stale once the last high answer is too old to be evidence", () => {
    const answers = "hlhlhlll";

    expect(noted(answers, { everyMs: 90_000 })?.isStale).toBe(false);
    expect(noted(answers, { everyMs: 100_000 })?.isStale).toBe(true);
  });

  it("is not stale yet with the second fall, though polls are as far apart as an answer is evidence", () => {
    expect(noted("hlhl", { everyMs: 300_000 })?.isStale).toBe(false);
    expect(noted("hlhll", { everyMs: 300_000 })?.isStale).toBe(true);
  });

  it("is not stale with a high answer, however long ago the one before was", () => {
    expect(noted("hlhlh", { everyMs: 150_000 })?.isStale).toBe(false);
  });

  it("begins to keep what low replicas say with the first fall, which proves nothing yet", () => {
    const before = { replicas: null, newest: null, peakBlock: HIGH, isBehind: true };

    expect(noteAnswer(before, sampleAt(LOW), CONTEXT)).toEqual({
      answers: "hl",
      highBlock: HIGH,
      low: [sampleAt(LOW)],
      disagree: false,
      isStale: false,
    });
  });

  it("keeps the last three heights of low replicas", () => {
    let replicas: Replicas | null = null;
    for (const block of [500, 501, 502, 503, 504]) {
      const before = { replicas, newest: null, peakBlock: HIGH, isBehind: false };
      replicas = noteAnswer(before, sampleAt(block), CONTEXT);
    }

    expect(replicas?.low.map(({ block }) => block)).toEqual([502, 503, 504]);
  });

  it("forgets replicas once 64 answers are alike", () => {
    expect(noted(`hlhl${"l".repeat(62)}`)).not.toBeNull();
    expect(noted(`hlhl${"l".repeat(63)}`)).toBeNull();
    expect(noted(`hlhl${"h".repeat(64)}`)).toBeNull();
  });
});

describe("hasReturned()", () => {
  const fallen = { answers: "hl", highBlock: HIGH, low: [], disagree: false, isStale: false };

  it.each([
    { case: "back at the height in one step", peakBlock: 500, block: 1_000, returned: true },
    { case: "still far below", peakBlock: 500, block: 899, returned: false },
    {
      case: "nearer by half of the way, which may be catching up",
      peakBlock: 850,
      block: 925,
      returned: false,
    },
    { case: "nearer by more than half of the way", peakBlock: 850, block: 926, returned: true },
    { case: "nearer by a few blocks, as when catching up", peakBlock: 899, block: 903, returned: false },
    { case: "higher, having never been far below", peakBlock: 900, block: 1_000, returned: false },
  ])("is $returned of a source that is $case", ({ peakBlock, block, returned }) => {
    const before = { replicas: fallen, newest: null, peakBlock, isBehind: false };

    expect(hasReturned(before, sampleAt(block), CONTEXT)).toBe(returned);
  });

  it("is false of a source that never fell", () => {
    const before = { replicas: null, newest: null, peakBlock: 500, isBehind: false };

    expect(hasReturned(before, sampleAt(HIGH), CONTEXT)).toBe(false);
  });
});

describe("isFarBelow()", () => {
  it.each([
    { block: 899, far: true },
    { block: 900, far: false },
    { block: 1_100, far: false },
  ])("is $far of block $block, where a step of 100 from 1,000 is no large one", ({ block, far }) => {
    expect(isFarBelow(block, HIGH, CONTEXT)).toBe(far);
  });
});

describe("disagreementOf()", () => {
  it("counts the low answers, and says how far below the others they are", () => {
    expect(disagreementOf(noted("hlhll"))).toEqual({ low: 3, of: 5, blocks: 500 });
  });

  it("is null while nothing shows that replicas disagree", () => {
    expect(disagreementOf(null)).toBeNull();
    expect(disagreementOf(noted("hl"))).toBeNull();
  });
});
