import { FASTEST_INTERVAL_MS, mostBlocksIn, type Pace } from "./pace.ts";
import { extrapolated, secondHighest } from "./second-highest.ts";

/** The corroborated head of a chain, as it is remembered. */
export interface ReferenceState {
  readonly block: number;
  /** When the chain was first, and last, known to stand at this block. */
  readonly reachedMs: number;
  readonly atMs: number;
  /** `atMs` is known to within this. */
  readonly slackMs: number;
  /** How many sources agree with it. */
  readonly sources: number;
  /** After this it is only a memory: nothing may be derived from it. */
  readonly freshUntilMs: number;
  /** Where the chain stood before a jump that no pace explains: the way back, should the jump prove false. */
  readonly former: { readonly block: number; readonly atMs: number } | null;
  /** Whether a source that keeps the chain's pace has confirmed it: till then it bounds nobody. */
  readonly firm: boolean;
}

/** What one source says of the chain's head. */
export interface Vote {
  readonly block: number;
  readonly atMs: number;
  /** The height was read within so much of `atMs`. */
  readonly slackMs: number;
  readonly timestampSec: number | null;
  readonly freshUntilMs: number;
  readonly pollIntervalMs: number;
  /**
   * `proof`: an RPC node whose block time fits the wall clock. `behind`: by its own timestamp or by its haste it is
   * not at the head. `suspect`: a source, but not believed.
   */
  readonly weight: "proof" | "normal" | "behind" | "suspect";
  /** Its source has been heard often enough to know that it keeps the chain's pace. */
  readonly steady: boolean;
}

/** Sources within this of the reference agree with it. */
const AGREE_BLOCKS = 10;
const AGREE_MS = 60_000;
/** A head that nobody has confirmed for so long may be replaced by a lower one: testnets are reset. */
const FORGET_MS = 6 * 3_600_000;
/** Timestamps are whole seconds, and two sources are not asked at one instant. */
const TIME_TOLERANCE_MS = 120_000;

/** The highest block that the chain can have reached at `atMs`, or null while nothing firm is known. */
export function highestPossible(reference: ReferenceState | null, pace: Pace, atMs: number): number | null {
  return reference?.firm !== true ? null : reference.block + mostBlocksIn(atMs - reference.reachedMs, pace);
}

/** Folds the votes of one instant into the reference. Without two sources or a proof it stays what it was. */
export function updateReference(
  previous: ReferenceState | null,
  votes: readonly Vote[],
  context: { readonly nowMs: number; readonly pace: Pace },
): ReferenceState | null {
  const { nowMs, pace } = context;
  const candidate = candidateOf(previous, votes, pace);
  if (candidate === null) {
    // A first guess that nobody stands by once its source is seen to back-fill is no reference.
    return previous?.firm === true ? previous : null;
  }
  const next = newReference(candidate, votes, { pace, wasFirm: previous?.firm === true });
  if (previous === null || nowMs - previous.freshUntilMs > FORGET_MS) {
    return next;
  }
  if (next.block === previous.block) {
    const atMs = Math.max(next.atMs, previous.atMs);
    return { ...next, atMs, reachedMs: previous.reachedMs, former: previous.former };
  }
  if (next.block < previous.block) {
    return fallBack(previous, next, { votes, pace });
  }
  const jumped = next.block > previous.block + mostBlocksIn(next.atMs - previous.reachedMs, pace);
  const former = jumped ? { block: previous.block, atMs: previous.reachedMs } : previous.former;
  return former === null ? next : { ...next, former };
}

/** Whether the reference is new, or has left its former track: what was seen before says nothing of what comes. */
export function isDiscontinuous(before: ReferenceState | null, after: ReferenceState): boolean {
  return before === null || after.block < before.block || after.former?.block === before.block;
}

type Candidate = Pick<Vote, "block" | "atMs" | "slackMs">;

function candidateOf(previous: ReferenceState | null, votes: readonly Vote[], pace: Pace): Candidate | null {
  const proofs = votes.filter((vote) => vote.weight === "proof");
  const corroborated = votes.length < 2 ? null : corroborate(previous, votes, pace);
  return highest(corroborated === null ? proofs : [...proofs, corroborated]);
}

function corroborate(previous: ReferenceState | null, votes: readonly Vote[], pace: Pace): Candidate | null {
  const normal = votes.filter((vote) => vote.weight === "normal" || vote.weight === "proof");
  // Where all are behind by their own word, none is at the head: they can only confirm that it has not moved.
  const believed =
    normal.length > 0
      ? normal
      : votes.filter(({ block, weight }) => weight === "behind" && block === previous?.block);
  const [first, second, third] = believed;
  if (first === undefined || second === undefined) {
    return first ?? null;
  }
  if (normal.length === 0 || third === undefined) {
    return previous === null && contradict(first, second, pace) ? null : highest(believed);
  }
  return secondHighest(believed, pace);
}

function highest(candidates: readonly Candidate[]): Candidate | null {
  let best: Candidate | null = null;
  for (const candidate of candidates) {
    const { block, atMs } = candidate;
    // Of equal heights the earliest instant counts: a follower that arrives there later proves no standstill.
    if (best === null || block > best.block || (block === best.block && atMs < best.atMs)) {
      best = candidate;
    }
  }
  return best;
}

/** Whether two heights are further apart than their own block times allow, so that one is of another chain. */
function contradict(a: Vote, b: Vote, pace: Pace): boolean {
  if (a.timestampSec === null || b.timestampSec === null) {
    return false;
  }
  const [low, high] = a.block < b.block ? [a, b] : [b, a];
  const spanMs = ((high.timestampSec ?? 0) - (low.timestampSec ?? 0)) * 1_000;
  return high.block - low.block > mostBlocksIn(spanMs + TIME_TOLERANCE_MS, pace);
}

/** The reference as it is where nothing is known of before. Whole at once: an object that grows costs several times as much. */
function newReference(
  { block, atMs, slackMs }: Candidate,
  votes: readonly Vote[],
  { pace, wasFirm }: { readonly pace: Pace; readonly wasFirm: boolean },
): ReferenceState {
  const intervalMs = pace.intervalMs ?? FASTEST_INTERVAL_MS;
  const floor = block - Math.max(AGREE_BLOCKS, AGREE_MS / intervalMs);
  let sources = 0;
  let freshUntilMs = Number.NEGATIVE_INFINITY;
  let firm = wasFirm;
  for (const vote of votes) {
    if (vote.weight !== "suspect" && extrapolated(vote, atMs, pace) >= floor) {
      sources += 1;
      freshUntilMs = Math.max(freshUntilMs, vote.freshUntilMs);
      firm ||= vote.weight === "proof" || (vote.weight === "normal" && vote.steady);
    }
  }
  return { block, reachedMs: atMs, atMs, slackMs, sources, freshUntilMs, former: null, firm };
}

/**
 * A chain's head does not fall: a lower candidate leaves the reference as it is. The one exception is the way back
 * from a jump that nobody stands by any more.
 */
function fallBack(
  previous: ReferenceState,
  candidate: ReferenceState,
  context: { readonly votes: readonly Vote[]; readonly pace: Pace },
): ReferenceState {
  const { former } = previous;
  if (former === null) {
    return previous;
  }
  const reachable = former.block + mostBlocksIn(candidate.atMs - former.atMs, context.pace);
  const stillClaimed = context.votes.some((vote) => vote.weight !== "suspect" && vote.block > reachable);
  return stillClaimed ? previous : candidate;
}
