import { readAtMs, type Sample } from "../model/sample.ts";
import { type Claim, isProof, keysOf, providersOf } from "./claim.ts";
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

/** The corroborated head of a chain: a block that one of its sources has shown. */
export interface HeadState {
  readonly block: number;
  /** When the chain was first, and last, known to stand at this block, to within `slackMs`. */
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

/** A height is confirmed by one that will have got there, give or take this share of the time between the two answers. */
const NEAR_SHARE = 0.05;
/** Block times lie on one line with so many blocks, so much time and so large a share of the time between to spare ... */
const LINE_BLOCKS = 5;
const LINE_MS = 30_000;
const LINE_SHARE = 0.25;
/** ... or what the number of blocks varies by where they come at random. */
const LINE_DEVIATIONS = 3;
/** Over less time, a pace is mostly latency. */
const LEAST_PACE_MS = 45_000;
const LEAST_PACE_SAMPLES = 4;
/** Sources are compared over windows that begin and end at multiples of this. */
const WINDOW_MS = 5_000;
/** A source is off the pace if it is off by more than this share, and by more than these blocks and what is made in this time. */
const PACE_SHARE = 0.1;
const PACE_BLOCKS = 3;
const PACE_MS = 3_000;
/** Block times that are older than another's by more are of another part of the chain. */
const BESIDE_MS = 60_000;
/** A source is asked about as often as another if their poll intervals differ by no more than this factor. */
const AS_OFTEN = 2;
/** Over so much time, who falls back from the track is told from one who creeps ahead of it. */
const ANCHOR_MS = 600_000;
const LONG_ANCHOR_MS = 1_800_000;
/** A witness was asked within so much time. */
const WITNESS_MS = 60_000;
/** Two answers so many poll intervals apart are of one round. */
const SAME_ROUND = 1.5;
/** So many heights without a new block: it makes its blocks in large steps, and says little of where the head is now. */
const STEP_SAMPLES = 8;

/** The head of a set of sources that can be right together: the highest block that two providers confirm, where most of them stand. */
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

/** Whether it may say where the head is now: it does not stand still, and is not behind by its own word. */
function isMoving({ age, idleMs }: Claim, { stalledAfterMs }: Scene): boolean {
  return age !== "old" && idleMs <= stalledAfterMs;
}

/** Whether it is behind others by its own word: its block was not new when it was read. */
function isBehind(claim: Claim, voters: readonly Claim[], scene: Scene): boolean {
  return (
    claim.timeMs !== null &&
    claim.age !== "fresh" &&
    voters.some((other) => other.block > claim.block && !areLevel(other, claim, scene))
  );
}

/** Whether it shows its blocks in large steps, and so seldom shows the head: a follower of final blocks, or one that works in batches. */
function goesInSteps({ samples, timeMs }: Claim, { pace }: Scene): boolean {
  const [first] = samples;
  // Where it stands, its block times tell.
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
 * Nobody who back-fills, or is behind or goes in large steps while others do not. Where all back-fill, on from the track and of two providers or
 * more, the chain itself bursts.
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

/** The voters that stand level with each other: of most providers, counting those whose block times lie on one line with them. */
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

/** Whether two that are asked as often will be above it once they answer: it may only be the first of this round. */
function isOvertaken(claim: Claim, place: readonly Claim[], scene: Scene): boolean {
  const own = carriedTo(claim, scene.newestMs, scene);
  const above = place.filter(
    (other) =>
      carriedTo(other, scene.newestMs, scene) > own &&
      other.pollIntervalMs <= AS_OFTEN * claim.pollIntervalMs &&
      scene.newestMs - other.atMs <= SAME_ROUND * other.pollIntervalMs,
  );
  return above.length > 1;
}

/** Whether those who are behind confirm by their block times that the chain has come so far. */
function isBackedByTimes(claim: Claim, set: readonly Claim[], scene: Scene): boolean {
  return set.some((other) => other.provider !== claim.provider && isOnLine(other, claim, scene));
}

/** Whether a source has reached another's block, or will have by the time at which that was read. */
function hasReached(claim: Claim, top: Claim, scene: Scene): boolean {
  const { intervalMs } = scene.pace;
  const near = intervalMs === null ? 0 : (NEAR_SHARE * Math.abs(top.atMs - claim.atMs)) / intervalMs;
  return Math.max(claim.block, carriedTo(claim, top.atMs, scene)) >= top.block - near;
}

/** The highest by what they have shown; of equal ones the earliest, for one that arrives there later proves no standstill. */
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
 * Holds the usual head against the track. Where all who stand at it have fallen below the track, and one who is on it has shown more,
 * that one goes on; it does not move the track.
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

/**
 * Whether the track leads from this head now. While the head is on it, that is so only every few minutes, and if the witness is on it too: else
 * one that falls back slowly, or creeps ahead, would take it along.
 */
function mayMoveTrack(
  usual: Claim,
  witness: Claim,
  { track, ahead, scene }: { readonly track: Track; readonly ahead: readonly Claim[]; readonly scene: Scene },
): boolean {
  const off = offTrack(usual, scene);
  if (off === 0) {
    const isOld = usual.atMs - track.atMs > (ahead.length === 0 ? ANCHOR_MS : LONG_ANCHOR_MS);
    return isOld && offTrack(witness, scene) === 0;
  }
  return ahead.length === 0 && (off > 0 || isReviewed(usual, track, scene));
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

/** One that nobody stands level with does not take over from those who were on the track, if it was not. */
function mayTakeOver(claim: Claim, { members }: Track, { claims }: Scene): boolean {
  return members.includes(claim.key) || isProof(claim) || !claims.some(({ key }) => members.includes(key));
}

/**
 * It leads from where the witness stands, so that one that creeps ahead does not carry it along; or from the head itself, if that is where it
 * led: the witness may be falling back.
 */
function newTrack(
  head: Claim,
  witness: Claim,
  { group, scene }: { readonly group: readonly Claim[]; readonly scene: Scene },
): Track {
  const { atMs, block } = head;
  const shown = Math.min(block, Math.max(witness.block, Math.round(carriedTo(witness, atMs, scene))));
  const led = scene.track === null || offTrack(head, scene) !== 0 ? shown : block - aboveTrack(head, scene);
  return {
    block: Math.abs(block - led) < Math.abs(shown - led) ? block : shown,
    atMs,
    intervalMs: scene.pace.intervalMs,
    members: keysOf(group),
  };
}

/** Where the track goes on, those who were on it stay its members. */
function movedTrack(usual: Claim, { members }: Track, moved: Track, scene: Scene): Track {
  return isWithinMinute(Math.abs(aboveTrack(usual, scene)), scene)
    ? { ...moved, members: [...members, ...moved.members.filter((key) => !members.includes(key))] }
    : moved;
}

/** Whether all who were on the track, and are asked about as often, have been heard since. */
function isReviewed(usual: Claim, { atMs: sinceMs, members }: Track, { claims }: Scene): boolean {
  return claims.every(
    ({ atMs, key, pollIntervalMs }) =>
      atMs >= sinceMs || !members.includes(key) || pollIntervalMs > AS_OFTEN * usual.pollIntervalMs,
  );
}

/**
 * How many blocks each moving source made over its last answers, against what the others made in the same minutes: on a chain whose
 * blocks come unevenly all vary together.
 */
class Paces {
  /** Those that do not stand still, and are not behind by their own word. */
  readonly moving: readonly Claim[];
  readonly #scene: Scene;
  readonly #known = new Map<Claim, boolean>();
  /** By the window of time: sources that are asked alike share it. */
  readonly #made = new Map<string, readonly Made[]>();

  constructor(set: readonly Claim[], scene: Scene) {
    this.moving = set.filter((claim) => isMoving(claim, scene));
    this.#scene = scene;
  }

  /** Whether it goes at another pace than most of the others, which agree on theirs. */
  isOff(claim: Claim): boolean {
    let isOff = this.#known.get(claim);
    if (isOff === undefined) {
      isOff = this.#isOff(claim);
      this.#known.set(claim, isOff);
    }
    return isOff;
  }

  #isOff(claim: Claim): boolean {
    const { pace } = this.#scene;
    const [first, last] = [claim.samples[0], claim.samples.at(-1)];
    if (first === undefined || last === undefined || claim.samples.length < LEAST_PACE_SAMPLES) {
      return false;
    }
    const fromMs = Math.round(readAtMs(first) / WINDOW_MS) * WINDOW_MS;
    const toMs = Math.round(readAtMs(last) / WINDOW_MS) * WINDOW_MS;
    const own = toMs - fromMs < LEAST_PACE_MS ? null : blocksMade(claim, fromMs, toMs);
    if (own === null || pace.intervalMs === null) {
      return false;
    }
    const others = this.#madeIn(fromMs, toMs).filter(
      (other) => other.claim.provider !== claim.provider && areBeside(other.claim, claim),
    );
    const median = others[others.length >> 1]?.blocks;
    if (median === undefined) {
      return false;
    }
    const tolerated = Math.max(PACE_BLOCKS, PACE_SHARE * median);
    const noise = PACE_MS / pace.intervalMs;
    const agreeing = others.filter(({ blocks }) => Math.abs(blocks - median) <= tolerated + noise / 2).length;
    return Math.abs(own - median) > tolerated + noise && agreeing >= 2 && agreeing > others.length / 2;
  }

  /** How many blocks one source of each provider made in this time, the least first. */
  #madeIn(fromMs: number, toMs: number): readonly Made[] {
    const window = `${fromMs} ${toMs}`;
    let made = this.#made.get(window);
    if (made === undefined) {
      const byProvider = new Map<string, Made>();
      for (const claim of this.moving) {
        const blocks = byProvider.has(claim.provider) ? null : blocksMade(claim, fromMs, toMs);
        if (blocks !== null) {
          byProvider.set(claim.provider, { claim, blocks });
        }
      }
      made = [...byProvider.values()].sort((a, b) => a.blocks - b.blocks);
      this.#made.set(window, made);
    }
    return made;
  }
}

interface Made {
  readonly claim: Claim;
  readonly blocks: number;
}

/** Whether two sources are in one part of the chain: by their times, one may be where it had another pace. */
function areBeside(a: Claim, b: Claim): boolean {
  if (a.timeMs === null || b.timeMs === null) {
    return true;
  }
  return Math.abs(a.atMs - a.timeMs - (b.atMs - b.timeMs)) <= BESIDE_MS;
}

/** A source's answers may begin so much later, and end so much earlier, than the time that is asked about. */
const BEFORE_MS = 20_000;
const AFTER_MS = 90_000;

/** Blocks that a source made between two instants, by the line through its answers; null where these do not span them. */
function blocksMade({ samples }: Claim, fromMs: number, toMs: number): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  const spans =
    samples.length > 1 &&
    first !== undefined &&
    last !== undefined &&
    fromMs >= readAtMs(first) - BEFORE_MS &&
    toMs <= readAtMs(last) + AFTER_MS;
  return spans ? heightAt(samples, toMs) - heightAt(samples, fromMs) : null;
}

function heightAt(samples: readonly Sample[], atMs: number): number {
  const found = samples.findIndex((sample, index) => index > 0 && readAtMs(sample) >= atMs);
  const end = found === -1 ? samples.length - 1 : found;
  const [a, b] = [samples[end - 1], samples[end]];
  if (a === undefined || b === undefined) {
    return 0;
  }
  const spanMs = Math.max(1, readAtMs(b) - readAtMs(a));
  return a.block + ((b.block - a.block) * (atMs - readAtMs(a))) / spanMs;
}

/** While nobody can say where the head is now, those who stand at the last one confirm it. */
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

/** The head as it is remembered. While the track goes on it does not fall. */
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
