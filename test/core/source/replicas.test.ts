import { describe, expect, it } from "vitest";
import {
  type AnswersBefore,
  disagreementOf,
  noteAnswer,
  type Replicas,
} from "../../../src/core/source/replicas.ts";

const CONTEXT = { largeStepBlocks: 100, staleAfterMs: 300_000 };
const HIGH = 1_000;
const LOW = 500;

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
    const block = answer === "h" ? HIGH : LOW;
    const sample = { block, timestampSec: null, hash: null, sentAtMs: atMs, receivedAtMs: atMs };
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
    { case: "a fall that lasts", answers: `h${"l".repeat(16)}`, disagree: undefined },
  ])("says of $case that replicas disagree: $disagree", ({ answers, disagree }) => {
    expect(noted(answers)?.disagree).toBe(disagree);
  });

  it.each([
    { case: "one in two, for a few answers", answers: "hl".repeat(9), isStale: false },
    { case: "two in three", answers: "hll".repeat(11), isStale: true },
    { case: "one in three", answers: "hhl".repeat(40), isStale: false },
    { case: "ten low ones in a row", answers: `hlh${"l".repeat(11)}`, isStale: true },
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

  it("forgets replicas once 64 answers are alike", () => {
    expect(noted(`hlhl${"l".repeat(62)}`)).not.toBeNull();
    expect(noted(`hlhl${"l".repeat(63)}`)).toBeNull();
    expect(noted(`hlhl${"h".repeat(64)}`)).toBeNull();
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
