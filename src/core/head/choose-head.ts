import { readAtMs, type Sample } from "../model/sample.ts";
import { type Claim, isProof, keysOf, providersOf } from "./claim.ts";
import {
  aboveTrack,
  areLevel,
  carried,
  carriedTo,
  isAhead,
  isOnTrack,
  isWithinMinute,
  offTrack,
  type Scene,
  type Track,
} from "./scene.ts";
import { heaviest } from "./selection.ts";

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

/** Another height confirms a height if it gets there in time, within this share of the time between the two replies. */
const NEAR_SHARE = 0.05;
/** Block times lie on one line with so many blocks, so much time and so large a share of the time between to spare ... */
const LINE_BLOCKS = 5;
const LINE_MS = 30_000;
const LINE_SHARE = 0.25;
/** ... or what the number of blocks varies by where they come at random. */
const LINE_DEVIATIONS = 3;
/** A source is asked about as often as another if their poll intervals differ by no more than this factor. */
const AS_OFTEN = 2;
/** A reply belongs to the present round for so many poll intervals. */
const SAME_ROUND = 1.5;
/** A witness was asked within so much time. */
const WITNESS_MS = 60_000;
/** So many heights without a new block: it makes its blocks in large steps, and says little of where the head is now. */
const STEP_SAMPLES = 8;
/** Block times that are older than another's by more are of another part of the chain. */
const BESIDE_MS = 60_000;
/** The time needed to distinguish sources that fall behind the track from a source that creeps ahead of it. */
const ANCHOR_MS = 600_000;
const LONG_ANCHOR_MS = 1_800_000;

/** The head of a consistent set of sources: the highest block at the majority's position that two providers confirm. */
export function chooseHead(set: readonly Claim[], scene: Scene): Choice {
  const voters = votersOf(set, scene);
  const usual = topOf(placeOf(voters, set, scene), voters, set, scene);
  const isAlone = set.length < 2 && usual !== null && !isProof(usual) && !isOnTrack(usual, scene);
  return usual === null || isAlone
    ? { chosen: null, track: scene.track, isConfirmed: false, witness: null }
    : followTrack(usual, voters, set, scene);
}

/**
 * The sources that may show the head: not those that stand still, are late by their own block time or back-fill, nor those
 * that advance in large steps while others do not. If all back-fill from the track on, and they have two providers or more,
 * the chain itself makes blocks in a burst.
 */
function votersOf(set: readonly Claim[], scene: Scene): readonly Claim[] {
  const { stalledAfterMs, track } = scene;
  const moving = set.filter(({ age, idleMs }) => age !== "old" && idleMs <= stalledAfterMs);
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

/** Whether it is behind others by its own word: its block was not new when it was read. */
function isBehind(claim: Claim, voters: readonly Claim[], scene: Scene): boolean {
  return (
    claim.timeMs !== null &&
    claim.age !== "fresh" &&
    voters.some((other) => other.block > claim.block && !areLevel(other, claim, scene))
  );
}

/** Whether a source advances in large steps and so rarely shows the head: it follows final blocks or works in batches. */
function goesInSteps({ samples, timeMs }: Claim, { pace }: Scene): boolean {
  const [first] = samples;
  // Its block times show its position.
  if (timeMs !== null) {
    return false;
  }
  const usualFor = (from: Sample, to: Sample) =>
    pace.intervalMs === null ? Number.POSITIVE_INFINITY : (readAtMs(to) - readAtMs(from)) / pace.intervalMs;
  return (
    (samples.length >= STEP_SAMPLES && samples.every(({ block }) => block === first?.block)) ||
    samples.some((sample, index) => {
      const before = samples[index - 1] ?? sample;
      return !isWithinMinute(sample.block - before.block - usualFor(before, sample), { pace });
    })
  );
}

/** The largest group of level voters by number of providers, including sources with block times on the same line. */
function placeOf(voters: readonly Claim[], set: readonly Claim[], scene: Scene): readonly Claim[] {
  const furthest = furthestOf(voters, scene);
  if (furthest === null || voters.every((claim) => areLevel(claim, furthest, scene))) {
    return voters;
  }
  const groups = voters.map((top) => ({
    top,
    group: voters.filter((claim) => areLevel(claim, top, scene)),
  }));
  const [largest] = heaviest(groups, ({ group, top }) => {
    const backers = set.filter((claim) => group.includes(claim) || isOnLine(claim, top, scene));
    return [
      providersOf(backers),
      backers.length,
      Number(group.some(isProof)),
      group.filter((claim) => isOnTrack(claim, scene)).length,
      carried(top, scene),
    ];
  });
  return largest?.group ?? [];
}

function furthestOf(claims: readonly Claim[], scene: Scene): Claim | null {
  return heaviest(claims, (claim) => [carried(claim, scene)])[0] ?? null;
}

/** The claim with the highest block; of equal ones the earliest, because a later arrival proves no halt. */
function highestOf(claims: readonly Claim[]): Claim | null {
  return heaviest(claims, ({ atMs, block }) => [block, -atMs])[0] ?? null;
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

/** The highest block of the place that another provider confirms; of two the higher; or the block of a fresh RPC node above it. */
function topOf(
  place: readonly Claim[],
  voters: readonly Claim[],
  set: readonly Claim[],
  scene: Scene,
): Claim | null {
  const areFew = providersOf(voters) < 3;
  const sure = place.filter(
    (claim) => !isOvertaken(claim, place, scene) && (areFew || isConfirmed(claim, place, set, scene)),
  );
  return highestOf([...sure, ...voters.filter(isProof)]);
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

/** Whether another provider there has reached its block, or will have by the time at which that was read. */
function isConfirmed(claim: Claim, place: readonly Claim[], set: readonly Claim[], scene: Scene): boolean {
  const { intervalMs } = scene.pace;
  const others = place.filter((other) => other.provider !== claim.provider && areBeside(other, claim));
  return others.length === 0
    ? isBackedByTimes(claim, set, scene)
    : others.some((other) => {
        const spanMs = Math.abs(claim.atMs - other.atMs);
        const near = intervalMs === null ? 0 : (NEAR_SHARE * spanMs) / intervalMs;
        return Math.max(other.block, carriedTo(other, claim.atMs, scene)) >= claim.block - near;
      });
}

/** Whether the block times of another provider's source confirm that the chain has reached this height. */
function isBackedByTimes(claim: Claim, set: readonly Claim[], scene: Scene): boolean {
  return set.some((other) => other.provider !== claim.provider && isOnLine(other, claim, scene));
}

/** Whether two sources are in one part of the chain: by their times, one may be where it had another pace. */
function areBeside(a: Claim, b: Claim): boolean {
  return (
    a.timeMs === null || b.timeMs === null || Math.abs(a.atMs - a.timeMs - (b.atMs - b.timeMs)) <= BESIDE_MS
  );
}

/**
 * Compares the usual head with the track. If it has fallen below the track, and a source that is still on the track has shown
 * more, that source is the head; it does not move the track.
 */
function followTrack(usual: Claim, voters: readonly Claim[], set: readonly Claim[], scene: Scene): Choice {
  const { track } = scene;
  const group = voters.filter((claim) => areLevel(claim, usual, scene) && areBeside(claim, usual));
  const isShared = providersOf(group) > 1;
  const isProven = isProof(usual) || (!isShared && isBackedByTimes(usual, set, scene));
  const witness = isProven ? usual : witnessOf(usual, group, scene);
  const ahead = voters.filter(
    (claim) => claim.block > usual.block && isOnTrack(claim, scene) && isAhead(claim, usual, scene),
  );
  const onward = track !== null && offTrack(usual, scene) < 0 ? highestOf(ahead) : null;
  if (onward !== null) {
    return { chosen: onward, track, isConfirmed: false, witness: null };
  }
  const mayMove =
    witness !== null && (track === null || mayMoveTrack(usual, witness, ahead, { ...scene, track }));
  return {
    chosen: usual,
    track: mayMove ? movedTrack(usual, witness, group, scene) : track,
    isConfirmed: isProven || isShared,
    witness,
  };
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

/**
 * Whether the track leads from this head now. While the head is on it, that is so only every few minutes, and if the witness
 * is on it too: else one that falls back slowly, or creeps ahead, would take it along.
 */
function mayMoveTrack(
  usual: Claim,
  witness: Claim,
  ahead: readonly Claim[],
  scene: Scene & { readonly track: Track },
): boolean {
  if (offTrack(usual, scene) !== 0) {
    return ahead.length === 0;
  }
  const isOld = usual.atMs - scene.track.atMs > (ahead.length === 0 ? ANCHOR_MS : LONG_ANCHOR_MS);
  return isOld && offTrack(witness, scene) === 0;
}

/**
 * It leads from where the witness stands, so that one that creeps ahead does not carry it along; or from the head itself, if that is where it
 * led: the witness may be falling back. While the track advances, its members stay members.
 */
function movedTrack(head: Claim, witness: Claim, group: readonly Claim[], scene: Scene): Track {
  const { atMs, block } = head;
  const { pace, track } = scene;
  const above = aboveTrack(head, scene);
  const shown = Math.min(block, Math.max(witness.block, Math.round(carriedTo(witness, atMs, scene))));
  const led = track === null || offTrack(head, scene) !== 0 ? shown : block - above;
  const former = track !== null && isWithinMinute(Math.abs(above), scene) ? track.members : [];
  return {
    block: Math.abs(block - led) < Math.abs(shown - led) ? block : shown,
    atMs,
    intervalMs: pace.intervalMs,
    members: [...new Set([...former, ...keysOf(group)])],
  };
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
  before: HeadState | null,
  scene: Scene,
): HeadState {
  const freshUntilMs = level.reduce((latest, claim) => Math.max(latest, claim.freshUntilMs), 0);
  const { block, atMs, idleMs, slackMs } = chosen;
  const fallen = before === null ? 0 : before.block - block;
  if (before === null || fallen < 0 || !isWithinMinute(fallen, scene)) {
    return { block, reachedMs: atMs - idleMs, atMs, slackMs, freshUntilMs };
  }
  return fallen === 0
    ? { ...before, atMs: Math.max(before.atMs, atMs), slackMs, freshUntilMs }
    : { ...before, freshUntilMs };
}
