import { readAtMs } from "../model/sample.ts";
import type { Pace, Track } from "./chain-state.ts";
import {
  areLevel,
  type Claim,
  carriedTo,
  heaviest,
  highestIn,
  isWithinMinute,
  keysOf,
  providersOf,
} from "./claim.ts";

export interface Choice {
  readonly chosen: Claim | null;
  readonly track: Track | null;
  /** Whether another provider confirms it. */
  readonly isConfirmed: boolean;
  /** What another provider has shown at about the same time: what the chain's pace is measured from. */
  readonly witness: Claim | null;
}

/** Another height confirms a height if it gets there in time, within this share of the time between the two replies. */
const NEAR_SHARE = 0.05;
/** Block times lie on one line with so many blocks, so much time and so large a share of the time between to spare. */
const LINE_BLOCKS = 5;
const LINE_MS = 30_000;
const LINE_SHARE = 0.25;
/** Where blocks come at random, their number is seldom off by more standard deviations. */
const DEVIATIONS = 3;
/** A source is asked about as often as another if their poll intervals differ by no more than this factor. */
const AS_OFTEN = 2;
/** A reply belongs to the present round for so many poll intervals. */
const SAME_ROUND = 1.5;
/** A witness was asked within so much time. */
const WITNESS_MS = 60_000;
/** So many heights without a new block: it makes its blocks in large steps, and says little of where the head is now. */
const STEP_SAMPLES = 8;
/** The time needed to distinguish sources that fall behind the track from a source that creeps ahead of it. */
const ANCHOR_MS = 600_000;
/** One that is further above the track than another by so much is clearly ahead of it. */
const LEAD_MS = 5_000;
const LEAD_BLOCKS = 1.5;

/** The head of sources that can be right together: the highest block at the majority's position that two providers confirm. */
export function chooseHead(set: readonly Claim[], track: Track | null, pace: Pace): Choice {
  const voters = votersOf(set, pace);
  const usual = topOf(placeOf(voters, set, pace), voters, set, pace);
  const isAlone = set.length < 2 && usual !== null && !usual.isProof && !usual.isOnTrack;
  return usual === null || isAlone
    ? { chosen: null, track, isConfirmed: false, witness: null }
    : followTrack(usual, voters, set, track, pace);
}

/**
 * The sources that may show the head: not those that stand below another, are late by their own block time or back-fill, nor those
 * that advance in large steps while others do not. If all back-fill from the track on, the chain itself makes blocks in a burst.
 */
function votersOf(set: readonly Claim[], pace: Pace): readonly Claim[] {
  const highest = highestIn(set);
  const voters = set.filter((claim) => !claim.isBackfilling && (claim.isMoving || highest.includes(claim)));
  const steady = voters.filter(
    (claim) => !goesInSteps(claim, voters, pace) && !isBehind(claim, voters, pace),
  );
  // Two that are above all of these are at the head: the chain has become faster.
  const isAbove = (claim: Claim): boolean =>
    steady.every((other) => claim.block > other.block && !areLevel(claim, other, pace));
  if (voters.length > 0) {
    return steady.length === 0 || providersOf(voters.filter(isAbove)) > 1 ? voters : steady;
  }
  const bursting = set.filter(
    ({ aboveTrack, isMoving, wasOnTrack }) => isMoving && wasOnTrack && aboveTrack > 0,
  );
  return providersOf(bursting) > 1 ? bursting : [];
}

/** Whether it is behind others by its own word: its block was not new when it was read. */
function isBehind(claim: Claim, voters: readonly Claim[], pace: Pace): boolean {
  const isLate = claim.timeMs !== null && claim.age !== "fresh";
  return isLate && voters.some((other) => other.block > claim.block && !areLevel(other, claim, pace));
}

/** Whether a source without block times advances in large steps and so rarely shows the head: it follows final blocks or works in batches. */
function goesInSteps(
  { block, source: { samples }, timeMs }: Claim,
  voters: readonly Claim[],
  pace: Pace,
): boolean {
  const { intervalMs } = pace;
  if (timeMs !== null || intervalMs === null) {
    return false;
  }
  // At the highest block it may be the chain that stands still.
  const isBelow = voters.some((other) => other.block > block);
  const stands = isBelow && samples.length >= STEP_SAMPLES && samples.at(-1)?.block === samples[0]?.block;
  return (
    stands ||
    samples.some((sample, index) => {
      const before = samples[index - 1] ?? sample;
      const usual = (readAtMs(sample) - readAtMs(before)) / intervalMs;
      return !isWithinMinute(sample.block - before.block - usual - deviationOf(usual), pace);
    })
  );
}

/** The largest group of level voters by number of providers, including sources with block times on the same line. */
function placeOf(voters: readonly Claim[], set: readonly Claim[], pace: Pace): readonly Claim[] {
  const furthest = furthestOf(voters, pace);
  if (furthest === null || voters.every((claim) => areLevel(claim, furthest, pace))) {
    return voters;
  }
  const groups = voters.map((top) => ({ top, group: voters.filter((claim) => areLevel(claim, top, pace)) }));
  const [largest] = heaviest(groups, ({ group, top }) => {
    const backers = set.filter((claim) => group.includes(claim) || isOnLine(claim, top, pace));
    return [
      providersOf(backers),
      backers.length,
      Number(group.some(({ isProof }) => isProof)),
      group.filter(({ isOnTrack }) => isOnTrack).length,
      carriedTo(furthest.atMs, top, pace),
    ];
  });
  return largest?.group ?? [];
}

/** The furthest, had all been asked at one instant. */
function furthestOf(claims: readonly Claim[], pace: Pace): Claim | null {
  const atMs = claims[0]?.atMs ?? 0;
  return heaviest(claims, (claim) => [carriedTo(atMs, claim, pace)])[0] ?? null;
}

/** The claim with the highest block; of equal ones the earliest, because a later arrival proves no halt. */
function highestOf(claims: readonly Claim[]): Claim | null {
  return heaviest(claims, ({ atMs, block }) => [block, -atMs])[0] ?? null;
}

/**
 * Whether the chain can have come from a source's block, at its time, to another's, at about its pace. That it made fewer blocks
 * proves nothing: chains pause.
 */
function isOnLine(claim: Claim, top: Claim, { intervalMs }: Pace): boolean {
  if (top.age === "old" || claim.timeMs === null || top.timeMs === null || intervalMs === null) {
    return false;
  }
  const blocks = top.block - claim.block;
  const usual = (top.timeMs - claim.timeMs) / intervalMs;
  const tolerance = LINE_BLOCKS + LINE_MS / intervalMs;
  const spread = Math.max(LINE_SHARE * usual, deviationOf(usual));
  return blocks >= 0 && usual >= -tolerance && blocks - usual <= tolerance + spread;
}

/** By how much a number of blocks may differ from the usual one, where blocks come at random. */
function deviationOf(usual: number): number {
  return DEVIATIONS * Math.sqrt(Math.max(0, usual));
}

/** The highest block of the place that another provider confirms; of two the higher; or the block of a fresh RPC node above it. */
function topOf(
  place: readonly Claim[],
  voters: readonly Claim[],
  set: readonly Claim[],
  pace: Pace,
): Claim | null {
  const areFew = providersOf(voters) < 3;
  const newestMs = set.reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
  const sure = place.filter(
    (claim) => !isOvertaken(claim, place, newestMs, pace) && (areFew || isConfirmed(claim, place, set, pace)),
  );
  const proofs = voters.filter(({ isProof }) => isProof);
  // Nodes that are not level prove nothing.
  const areOne = proofs.every((one) => proofs.every((other) => areLevel(one, other, pace)));
  return highestOf(areOne ? [...sure, ...proofs] : sure);
}

/** Whether two providers that are asked as often will be above it once they answer: it may only be the first of this round. */
function isOvertaken(claim: Claim, place: readonly Claim[], newestMs: number, pace: Pace): boolean {
  const { atMs, block, source } = claim;
  const above = place.filter(
    (other) =>
      carriedTo(atMs, other, pace) > block &&
      other.source.pollIntervalMs <= AS_OFTEN * source.pollIntervalMs &&
      newestMs - other.atMs <= SAME_ROUND * other.source.pollIntervalMs,
  );
  return providersOf(above) > 1;
}

/** Whether another provider there has reached its block, or will have by the time at which that was read. */
function isConfirmed(claim: Claim, place: readonly Claim[], set: readonly Claim[], pace: Pace): boolean {
  const { atMs, block, provider } = claim;
  const others = place.filter((other) => other.provider !== provider);
  return others.length === 0
    ? isBackedByTimes(claim, set, pace)
    : others.some((other) => {
        const nearMs = NEAR_SHARE * Math.abs(atMs - other.atMs);
        return Math.max(other.block, carriedTo(atMs + nearMs, other, pace)) >= block;
      });
}

/** Whether the block times of another provider's source confirm that the chain has reached this height. */
function isBackedByTimes(claim: Claim, set: readonly Claim[], pace: Pace): boolean {
  return set.some((other) => other.provider !== claim.provider && isOnLine(other, claim, pace));
}

/**
 * Compares the usual head with the track. If it has fallen below the track, and a source that is still on the track has shown
 * more, that source is the head; it does not move the track. Else the track leads from this head, if another provider's witness
 * confirms it: while the head is on it, only every few minutes, and if the witness is on it too. One that falls back slowly, or
 * creeps ahead, would take it along.
 */
function followTrack(
  usual: Claim,
  voters: readonly Claim[],
  set: readonly Claim[],
  track: Track | null,
  pace: Pace,
): Choice {
  const group = voters.filter((claim) => areLevel(claim, usual, pace));
  const isShared = providersOf(group) > 1;
  const isProven = usual.isProof || (!isShared && isBackedByTimes(usual, set, pace));
  const lead = Math.max(LEAD_BLOCKS, LEAD_MS / (pace.intervalMs ?? LEAD_MS));
  // Two providers that never were on the track, or are below it by newer blocks, have not fallen behind: they refute it.
  const isRefuted =
    providersOf(group.filter((claim) => !claim.wasOnTrack || isNewerThanTrack(claim, pace))) > 1;
  const ahead = voters.filter(
    ({ aboveTrack, block, isOnTrack }) =>
      !isRefuted && isOnTrack && block > usual.block && aboveTrack > usual.aboveTrack + lead,
  );
  const onward = usual.offTrack < 0 ? highestOf(ahead) : null;
  if (onward !== null) {
    return { chosen: onward, track, isConfirmed: false, witness: null };
  }
  const witness = isProven ? usual : witnessOf(usual, group, pace);
  const isDue =
    track === null ||
    usual.offTrack !== 0 ||
    (usual.atMs - track.atMs > ANCHOR_MS && witness?.offTrack === 0);
  return {
    chosen: usual,
    track:
      witness !== null && ahead.length === 0 && isDue
        ? movedTrack(track, usual, witness, group, pace)
        : track,
    isConfirmed: isProven || isShared,
    witness,
  };
}

/** Whether its block is clearly newer than that of a source that is late by as much as it is below the track. */
function isNewerThanTrack({ atMs, offTrack, timeMs }: Claim, { intervalMs }: Pace): boolean {
  return timeMs !== null && intervalMs !== null && atMs - timeMs < (-offTrack * intervalMs) / 2;
}

/** The furthest of another provider that was asked at about the same time. */
function witnessOf({ atMs, provider, source }: Claim, group: readonly Claim[], pace: Pace): Claim | null {
  return furthestOf(
    group.filter((claim) => {
      const roundMs = Math.min(claim.source.pollIntervalMs, source.pollIntervalMs);
      return claim.provider !== provider && Math.abs(claim.atMs - atMs) <= Math.max(WITNESS_MS, roundMs);
    }),
    pace,
  );
}

/**
 * It leads from where the witness stands, so that a head which creeps ahead does not carry it along; or from the head itself, if
 * that is where it led: the witness may be falling back. While it advances, its members stay members.
 */
function movedTrack(
  track: Track | null,
  head: Claim,
  witness: Claim,
  group: readonly Claim[],
  pace: Pace,
): Track {
  const { aboveTrack, atMs, block, offTrack } = head;
  const shown = Math.min(block, Math.max(witness.block, Math.round(carriedTo(atMs, witness, pace))));
  const led = track === null || offTrack !== 0 ? shown : block - aboveTrack;
  const former = track !== null && isWithinMinute(Math.abs(aboveTrack), pace) ? track.members : [];
  return {
    block: Math.abs(block - led) < Math.abs(shown - led) ? block : shown,
    atMs,
    intervalMs: pace.intervalMs,
    members: [...new Set([...former, ...keysOf(group)])],
  };
}
