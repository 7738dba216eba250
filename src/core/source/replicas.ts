import type { Sample } from "../model/sample.ts";

/*
 * Several replicas may answer under one URL, and some may be far behind the others. A height that falls far and comes
 * back is no re-index, and its return no advance: once it does, the answers are kept as two tracks. The
 * source's samples are those of the high track, which tell what the chain has. Users are served by both, so the share of
 * low answers decides which of them the target is judged by.
 */

/** What the latest answers of a source say of its replicas, since one was first far below the others. */
export interface Replicas {
  /** The latest answers, oldest first: `h` near the highest height that the source has shown, `l` far below. */
  readonly answers: string;
  /** The highest block that an `h` gave. */
  readonly highBlock: number;
  /** The latest heights of an `l`, newest last. */
  readonly low: readonly Sample[];
  /** Whether it fell twice, or came back from afar in one step: a fall alone may be a re-index. */
  readonly disagree: boolean;
  /** Whether users are served low answers so often that the target is judged by these. */
  readonly isStale: boolean;
}

/** What is known of a source before its next answer. */
export interface AnswersBefore {
  readonly replicas: Replicas | null;
  /** The highest block of its track; 0: no height yet. */
  readonly peakBlock: number;
  /** Its newest height; of the high track while replicas disagree. */
  readonly newest: Sample | null;
  /** Whether its status says that it is behind. */
  readonly isBehind: boolean;
}

export interface AnswerContext {
  /** A step back of more blocks than this is large. */
  readonly largeStepBlocks: number;
  /** How long an answer stays evidence. */
  readonly staleAfterMs: number;
}

/** How many of the latest answers were low, and how far below the others the newest of these was. */
export interface Disagreement {
  readonly low: number;
  readonly of: number;
  readonly blocks: number;
}

/** A fall that lasts for so many answers is no replica's: the source itself fell back. */
const LASTING_FALL = "l".repeat(16);
/** How many replies are compared; if all of them are alike, the URL has no lagging replicas any more. */
const KEPT_ANSWERS = 64;
/** The highest of so many low heights is what the low replicas have reached. */
const KEPT_LOW = 3;
/** Stale once low answers outnumber the others by so many: practically never where one in three is low ... */
const EXCESS_TO_BE_STALE = 10;
/** ... and until so many answers in a row are not low. */
const HIGH_TO_RECOVER = 12;

/** Adds one height; null while none of the latest answers was far below the others, or all were. */
export function noteAnswer(before: AnswersBefore, sample: Sample, context: AnswerContext): Replicas | null {
  const { peakBlock, replicas } = before;
  const isLow = isFarBelow(sample.block, replicas?.highBlock ?? peakBlock, context);
  if (replicas === null) {
    return isLow ? firstFall(peakBlock, sample) : null;
  }
  const answers = `${replicas.answers}${isLow ? "l" : "h"}`.slice(-KEPT_ANSWERS);
  if (isUniform(answers, replicas)) {
    return null;
  }
  const disagree = replicas.disagree || hasFallenTwice(answers) || hasReturned(before, sample, context);
  const noted = {
    ...replicas,
    answers,
    disagree,
    isStale: disagree && (isStaleByShare(answers, before) || isHighOld(before, sample, context)),
  };
  return isLow
    ? { ...noted, low: [...replicas.low.slice(1 - KEPT_LOW), sample] }
    : { ...noted, highBlock: Math.max(replicas.highBlock, sample.block) };
}

/** Whether it is back, in one step and not by catching up, from what was taken for a re-index. */
export function hasReturned(
  { peakBlock, replicas }: AnswersBefore,
  { block }: Sample,
  context: AnswerContext,
): boolean {
  return (
    replicas !== null &&
    isFarBelow(peakBlock, replicas.highBlock, context) &&
    !isFarBelow(block, replicas.highBlock, context) &&
    block - peakBlock > (replicas.highBlock - peakBlock) / 2
  );
}

/** Whether a block is so far below the highest that it is no wobble. */
export function isFarBelow(
  block: number,
  highBlock: number,
  { largeStepBlocks }: Pick<AnswerContext, "largeStepBlocks">,
): boolean {
  return block < highBlock - largeStepBlocks;
}

function firstFall(highBlock: number, sample: Sample): Replicas {
  return { answers: "hl", highBlock, low: [sample], disagree: false, isStale: false };
}

/** In what the latest answers disagree; null where they do not. */
export function disagreementOf(replicas: Replicas | null): Disagreement | null {
  const newest = replicas?.low.at(-1);
  return replicas?.disagree !== true || newest === undefined
    ? null
    : {
        low: replicas.answers.split("l").length - 1,
        of: replicas.answers.length,
        blocks: replicas.highBlock - newest.block,
      };
}

function hasFallenTwice(answers: string): boolean {
  return answers.indexOf("hl") !== answers.lastIndexOf("hl");
}

/** Whether the low ones alone have answered for so long that the others say nothing any more. */
function isHighOld({ newest, replicas }: AnswersBefore, sample: Sample, context: AnswerContext): boolean {
  return (
    replicas?.disagree === true &&
    newest !== null &&
    isFarBelow(sample.block, replicas.highBlock, context) &&
    sample.receivedAtMs - newest.receivedAtMs >= context.staleAfterMs
  );
}

/** Whether the evidence of replicas has ended: a drop that lasts is not caused by replicas. */
function isUniform(answers: string, { disagree }: Replicas): boolean {
  return !(answers.includes("h") && answers.includes("l")) || (!disagree && answers.endsWith(LASTING_FALL));
}

/** At first it keeps its status. */
function isStaleByShare(answers: string, { isBehind, replicas }: AnswersBefore): boolean {
  const wasStale = replicas?.disagree === true ? replicas.isStale : isBehind;
  return wasStale ? answers.slice(-HIGH_TO_RECOVER).includes("l") : mostExcess(answers) >= EXCESS_TO_BE_STALE;
}

/** By how many the low answers outnumber the others, at most, in the answers since some moment. */
function mostExcess(answers: string): number {
  let excess = 0;
  for (const answer of answers) {
    excess = Math.max(0, excess + (answer === "l" ? 1 : -1));
  }
  return excess;
}
