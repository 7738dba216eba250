import { readAtMs } from "../model/sample.ts";
import { type Claim, isProof, providersOf } from "./claim.ts";
import { areBeside, Paces } from "./paces.ts";
import {
  aboveTrack,
  areLevel,
  carried,
  carriedTo,
  isOnTrack,
  isWithinMinute,
  leadBlocks,
  offTrack,
  type Scene,
  type Track,
} from "./scene.ts";
import { compareWeights } from "./selection.ts";
import { AS_OFTEN, mayMoveTrack, mayTakeOver, movedTrack, newTrack } from "./track.ts";

/** The corroborated head of a chain: a block that one of its sources has shown. */
export interface HeadState {
  readonly block: number;
  /** The first and last time at which the chain was seen at this block, within `slackMs`. */
  readonly reachedMs: number;
  readonly atMs: number;
  readonly slackMs: number;
  /** After this it is only a memory: nothing may be derived from it. */
  readonly freshUntilMs: number;
}

export interface Choice {
  readonly chosen: Claim | null;
  readonly track: Track | null;
  /** Whether another provider confirms it. */
  readonly isConfirmed: boolean;
  /** What another provider has shown at about the same time: what the chain's pace is measured from. */
  readonly witness: Claim | null;
}

/**
 * Another height confirms a height if it gets there in time, within this share of the time between the two
 * replies.
 */
const NEAR_SHARE = 0.05;
/** Block times lie on one line with so many blocks, so much time and so large a share of the time between to spare ... */
const LINE_BLOCKS = 5;
const LINE_MS = 30_000;
const LINE_SHARE = 0.25;
/** ... or what the number of blocks varies by where they come at random. */
const LINE_DEVIATIONS = 3;
/** A witness was asked within so much time. */
const WITNESS_MS = 60_000;
/** Two answers so many poll intervals apart are of one round. */
const SAME_ROUND = 1.5;
/** So many heights without a new block: it makes its blocks in large steps, and says little of where the head is now. */
const STEP_SAMPLES = 8;

/**
 * The head of a consistent set of sources: the highest block at the majority's position that two providers
 * confirm.
 */
export function chooseHead(set: readonly Claim[], scene: Scene): Choice {
  const { track } = scene;
  const paces = new Paces(set, scene);
  const voters = votersOf(paces, scene);
  const place = placeOf(voters, set, scene);
  const top = topOf(place, { voters, set, paces, scene });
  const usual = top ?? highestOf(voters.filter((claim) => isOnTrack(claim, scene) && voters.length === 1));
  const isAlone = set.length < 2 && !(usual !== null && (isProof(usual) || isOnTrack(usual, scene)));
  if (usual === null || isAlone) {
    return { chosen: null, track, isConfirmed: false, witness: null };
  }
  return followTrack(usual, { voters, set, paces, scene });
}

/** Whether it is behind others by its own word: its block was not new when it was read. */
function isBehind(claim: Claim, voters: readonly Claim[], scene: Scene): boolean {
  return (
    claim.timeMs !== null &&
    claim.age !== "fresh" &&
    voters.some((other) => other.block > claim.block && !areLevel(other, claim, scene))
  );
}

/**
 * Whether a source advances in large steps and so rarely shows the head: it follows final blocks or works in
 * batches.
 */
function goesInSteps({ samples, timeMs }: Claim, { pace }: Scene): boolean {
  const [first] = samples;
  // Its block times show its position.
  if (timeMs !== null) {
    return false;
  }
  return (
    (samples.length >= STEP_SAMPLES && samples.every(({ block }) => block === first?.block)) ||
    samples.some((sample, index) => {
      const before = samples[index - 1] ?? sample;
      const usual =
        pace.intervalMs === null
          ? Number.POSITIVE_INFINITY
          : (readAtMs(sample) - readAtMs(before)) / pace.intervalMs;
      return !isWithinMinute(sample.block - before.block - usual, { pace });
    })
  );
}

/**
 * Excludes sources that back-fill, and those that lag or advance in large steps while others do not. If all sources back-fill from the track on,
 * and they have two providers or more, the chain itself makes blocks in a burst.
 */
function votersOf({ moving }: Paces, scene: Scene): readonly Claim[] {
  const { track } = scene;
  const voters = moving.filter(({ isBackfilling }) => !isBackfilling);
  const steady = voters.filter((claim) => !goesInSteps(claim, scene) && !isBehind(claim, voters, scene));
  if (steady.length > 0) {
    return steady;
  }
  if (voters.length > 0 || track === null) {
    return voters;
  }
  const bursting = moving.filter(({ block, key }) => block >= track.block && track.members.includes(key));
  return providersOf(bursting) > 1 ? bursting : [];
}

/**
 * The largest group of level voters by number of providers, including sources with block times on the same
 * line.
 */
function placeOf(voters: readonly Claim[], set: readonly Claim[], scene: Scene): readonly Claim[] {
  const furthest = furthestOf(voters, scene);
  if (furthest === null || voters.every((claim) => areLevel(claim, furthest, scene))) {
    return voters;
  }
  let best: readonly Claim[] = [];
  let bestWeight: readonly number[] = [];
  for (const top of voters) {
    const group = voters.filter((claim) => areLevel(claim, top, scene));
    const backers = set.filter((claim) => group.includes(claim) || isOnLine(claim, top, scene));
    const weight = [
      providersOf(backers),
      backers.length,
      Number(group.some(isProof)),
      group.filter((claim) => isOnTrack(claim, scene)).length,
      carried(top, scene),
    ];
    if (compareWeights(weight, bestWeight) > 0) {
      best = group;
      bestWeight = weight;
    }
  }
  return best;
}

function furthestOf(claims: readonly Claim[], scene: Scene): Claim | null {
  let furthest: Claim | null = null;
  let height = Number.NEGATIVE_INFINITY;
  for (const claim of claims) {
    const own = carried(claim, scene);
    if (own > height) {
      furthest = claim;
      height = own;
    }
  }
  return furthest;
}

/**
 * Whether the chain can have come from a source's block, at its time, to another's, at about its pace. That it made fewer blocks
 * proves nothing: chains pause.
 */
function isOnLine(claim: Claim, top: Claim, { pace }: Scene): boolean {
  if (top.age === "old" || claim.timeMs === null || top.timeMs === null || pace.intervalMs === null) {
    return false;
  }
  const blocks = top.block - claim.block;
  const usual = (top.timeMs - claim.timeMs) / pace.intervalMs;
  const tolerance = LINE_BLOCKS + LINE_MS / pace.intervalMs;
  const spread = Math.max(LINE_SHARE * usual, LINE_DEVIATIONS * Math.sqrt(Math.max(0, usual)));
  return blocks >= 0 && usual >= -tolerance && blocks - usual <= tolerance + spread;
}

interface Candidates {
  readonly voters: readonly Claim[];
  readonly set: readonly Claim[];
  readonly paces: Paces;
  readonly scene: Scene;
}

/** The highest block of the place that another provider confirms; of two the higher; or the block of a fresh RPC node above it. */
function topOf(place: readonly Claim[], { voters, set, paces, scene }: Candidates): Claim | null {
  const areFew = providersOf(voters) < 3 && set.length > 1;
  const byHeight = place.toSorted((a, b) => b.block - a.block || a.atMs - b.atMs);
  const isSure = (claim: Claim) =>
    areFew || isProof(claim) || isConfirmed(claim, place, { voters, set, paces, scene });
  const top =
    byHeight.find((claim) => !paces.isOff(claim) && !isOvertaken(claim, place, scene) && isSure(claim)) ??
    (byHeight.every((claim) => paces.isOff(claim)) ? byHeight.find(isSure) : undefined) ??
    null;
  const proof = highestOf(voters.filter((claim) => isProof(claim) && !paces.isOff(claim)));
  return proof !== null && (top === null || proof.block > top.block) ? proof : top;
}

function isConfirmed(claim: Claim, place: readonly Claim[], { set, paces, scene }: Candidates): boolean {
  const others = place.filter((other) => other.provider !== claim.provider && areBeside(other, claim));
  return others.length > 0
    ? others.some((other) => hasReached(other, claim, scene) && !paces.isOff(other))
    : isBackedByTimes(claim, set, scene);
}

/** Whether two providers that are asked as often will be above it once they answer: it may only be the first of this round. */
function isOvertaken(claim: Claim, place: readonly Claim[], scene: Scene): boolean {
  const own = carriedTo(claim, scene.newestMs, scene);
  const above = place.filter(
    (other) =>
      carriedTo(other, scene.newestMs, scene) > own &&
      other.pollIntervalMs <= AS_OFTEN * claim.pollIntervalMs &&
      scene.newestMs - other.atMs <= SAME_ROUND * other.pollIntervalMs,
  );
  return providersOf(above) > 1;
}

/** Whether the block times of the sources behind confirm that the chain has reached this height. */
function isBackedByTimes(claim: Claim, set: readonly Claim[], scene: Scene): boolean {
  return set.some((other) => other.provider !== claim.provider && isOnLine(other, claim, scene));
}

/** Whether a source has reached another's block, or will have by the time at which that was read. */
function hasReached(claim: Claim, top: Claim, scene: Scene): boolean {
  const { intervalMs } = scene.pace;
  const near = intervalMs === null ? 0 : (NEAR_SHARE * Math.abs(top.atMs - claim.atMs)) / intervalMs;
  return Math.max(claim.block, carriedTo(claim, top.atMs, scene)) >= top.block - near;
}

/** The claim with the highest block; of equal ones the earliest, because a later arrival proves no halt. */
function highestOf(claims: readonly Claim[]): Claim | null {
  return claims.reduce<Claim | null>(
    (highest, claim) =>
      highest === null ||
      claim.block > highest.block ||
      (claim.block === highest.block && claim.atMs < highest.atMs)
        ? claim
        : highest,
    null,
  );
}

/**
 * Compares the usual head with the track. If all sources at the usual head have fallen below the track, and a source on the track has
 * shown more, that source is the head; it does not move the track.
 */
function followTrack(usual: Claim, { voters, set, paces, scene }: Candidates): Choice {
  const { track } = scene;
  const group = voters.filter(
    (claim) => areLevel(claim, usual, scene) && areBeside(claim, usual) && !paces.isOff(claim),
  );
  const isShared = providersOf(group) > 1;
  const isProven = isProof(usual) || (!isShared && isBackedByTimes(usual, set, scene));
  const witness = isProven ? usual : witnessOf(usual, group, scene);
  const isConfirmed = isProven || isShared;
  if (track === null) {
    return {
      chosen: usual,
      track: witness === null ? null : newTrack(usual, witness, { group, scene }),
      isConfirmed,
      witness,
    };
  }
  const off = offTrack(usual, scene);
  const least = aboveTrack(usual, scene) + leadBlocks(scene);
  const ahead = voters.filter(
    (claim) => claim.block > usual.block && isOnTrack(claim, scene) && aboveTrack(claim, scene) > least,
  );
  const onward = off < 0 ? highestOf(ahead) : null;
  const others = group.filter((claim) => !ahead.includes(claim));
  if (onward !== null && others.every(({ key }) => scene.onceOnTrack.has(key))) {
    return { chosen: onward, track, isConfirmed: false, witness: null };
  }
  if (!isConfirmed && !mayTakeOver(usual, track, scene)) {
    return { chosen: null, track, isConfirmed, witness: null };
  }
  const mayMove = witness !== null && mayMoveTrack(usual, witness, { track, ahead, scene });
  const moved = mayMove ? movedTrack(usual, track, newTrack(usual, witness, { group, scene }), scene) : track;
  return { chosen: usual, track: moved, isConfirmed, witness };
}

/** The furthest of another provider that was asked at about the same time. */
function witnessOf(head: Claim, group: readonly Claim[], scene: Scene): Claim | null {
  const { atMs, pollIntervalMs, provider } = head;
  return furthestOf(
    group.filter(
      (claim) =>
        claim.provider !== provider &&
        Math.abs(claim.atMs - atMs) <= Math.max(WITNESS_MS, Math.min(claim.pollIntervalMs, pollIntervalMs)),
    ),
    scene,
  );
}

/** While the present head is unknown, the sources at the last head confirm it. */
export function heldHead(head: HeadState | null, set: readonly Claim[]): HeadState | null {
  const there = set.filter(({ block }) => block === head?.block);
  return (
    head && {
      ...head,
      atMs: Math.max(head.atMs, ...there.map(({ atMs }) => atMs)),
      freshUntilMs: Math.max(head.freshUntilMs, ...there.map(({ freshUntilMs }) => freshUntilMs)),
    }
  );
}

/** The head as it is remembered. It does not fall while the track advances. */
export function headFrom(
  chosen: Claim,
  level: readonly Claim[],
  { before, scene }: { readonly before: HeadState | null; readonly scene: Scene },
): HeadState {
  const freshUntilMs = level.reduce((latest, claim) => Math.max(latest, claim.freshUntilMs), 0);
  const { block, atMs, idleMs, slackMs } = chosen;
  const fallen = before === null ? 0 : before.block - block;
  if (before !== null && fallen >= 0 && isWithinMinute(fallen, scene)) {
    return {
      ...before,
      atMs: fallen === 0 ? Math.max(before.atMs, atMs) : before.atMs,
      slackMs: fallen === 0 ? slackMs : before.slackMs,
      freshUntilMs,
    };
  }
  return { block, reachedMs: atMs - idleMs, atMs, slackMs, freshUntilMs };
}
