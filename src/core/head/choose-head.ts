import { mostBlocksIn } from "./pace.ts";
import {
  aboveTrack,
  areLevel,
  carried,
  expected,
  isOnTrack,
  isWithinMinute,
  offTrack,
  type Scene,
  type Track,
} from "./scene.ts";
import type { Voice } from "./voice.ts";

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

/** One on the track and further ahead of the head than this may be the only one that goes on. */
const AHEAD_MS = 5_000;
const AHEAD_BLOCKS = 1.5;
/** Two answers so many poll intervals apart are of one round. */
const SAME_ROUND = 1.5;
/** Sources are asked about as often if their poll intervals differ by no more than this factor. */
const AS_OFTEN = 2;

export interface Choice {
  readonly chosen: Voice | null;
  readonly track: Track | null;
}

export function chooseHead(set: readonly Voice[], scene: Scene): Choice {
  const voters = votersOf(set, scene);
  const group = largestGroup(voters, scene);
  const usual = usualHead(group, voters, scene);
  const isAlone = set.length < 2 && !(usual !== null && (isProof(usual) || isOnTrack(usual, scene)));
  if (usual === null || isAlone) {
    return { chosen: null, track: scene.track };
  }
  if (scene.track === null) {
    return { chosen: usual, track: group.length > 1 ? newTrack(usual, group, scene) : null };
  }
  return followTrack(usual, scene.track, { group, set, voters, scene });
}

/** Where most stand; where no two providers that advance stand together, an RPC node is believed alone. */
function usualHead(group: readonly Voice[], voters: readonly Voice[], scene: Scene): Voice | null {
  const isCorroborated = areIndependent(group.filter(({ advancedMs }) => advancedMs !== null));
  const proofs = (isCorroborated ? group : voters).filter(isProof);
  const proof = highestOf(proofs);
  if (proof !== null && !isCorroborated) {
    return proof;
  }
  const isOneOfTwo = voters.length < 3;
  const common = isOneOfTwo ? highestOf(group) : topOf(group.length > 1 ? group : voters, scene);
  return common === null || proof === null ? common : highestOf([common, proof]);
}

/** The second highest, which another confirms. */
function topOf(group: readonly Voice[], scene: Scene): Voice | null {
  const top = furthestOf(group, scene);
  const second = furthestOf(
    group.filter((voice) => voice !== top),
    scene,
  );
  if (top === null || second === null) {
    return top;
  }
  // If the top one has been asked again since the second was, the second confirms what the chain can have made since.
  const laterMs = top.atMs - second.atMs;
  const isConfirmed =
    laterMs > SAME_ROUND * top.pollIntervalMs &&
    top.block - second.block <= mostBlocksIn(laterMs, scene.pace);
  if (isConfirmed) {
    return top;
  }
  const confirmed = carried(second, scene);
  const candidates = group.filter(({ block }) => block <= confirmed);
  const highest = highestOf(candidates);
  return highest !== null && isOvertaken(highest, group, scene)
    ? highestOf(candidates.filter((voice) => !isOvertaken(voice, group, scene)))
    : highest;
}

/** The one that will have got furthest by the time of the newest answer; of equal ones the one that has shown most. */
function furthestOf(voices: readonly Voice[], scene: Scene): Voice | null {
  let furthest: Voice | null = null;
  let height = 0;
  for (const voice of voices) {
    const own = carried(voice, scene);
    if (furthest === null || own > height || (own === height && voice.block > furthest.block)) {
      furthest = voice;
      height = own;
    }
  }
  return furthest;
}

/** Whether two that are asked as often will be above it once they answer: it may only be the first of this round. */
function isOvertaken(voice: Voice, group: readonly Voice[], scene: Scene): boolean {
  const own = expected(voice, scene);
  const above = group.filter(
    (other) =>
      expected(other, scene) > own &&
      other.pollIntervalMs <= AS_OFTEN * voice.pollIntervalMs &&
      scene.newestMs - other.atMs <= SAME_ROUND * other.pollIntervalMs,
  );
  return above.length > 1;
}

/** The highest by what they have shown; of equal ones the earliest, for one that arrives there later proves no standstill. */
function highestOf(voices: readonly Voice[]): Voice | null {
  let highest: Voice | null = null;
  for (const voice of voices) {
    const isHigher: boolean =
      highest === null ||
      voice.block > highest.block ||
      (voice.block === highest.block && voice.atMs < highest.atMs);
    highest = isHigher ? voice : highest;
  }
  return highest;
}

/** Those among whom a head is chosen. */
interface Candidates {
  /** Those who stand level with the usual head. */
  readonly group: readonly Voice[];
  readonly set: readonly Voice[];
  readonly voters: readonly Voice[];
  readonly scene: Scene;
}

/** Holds the usual head against the track, and carries the track on. */
function followTrack(usual: Voice, track: Track, among: Candidates): Choice {
  const { group, set, scene } = among;
  const off = offTrack(usual, scene);
  if (off === 0) {
    return { chosen: usual, track: carriedOn(usual, track, among) };
  }
  if (off < 0) {
    const onward = highestOf(aheadOf(usual, among));
    const fellBack = group.every((voice) => voice === onward || track.members.includes(voice.key));
    if (onward !== null && fellBack) {
      return { chosen: onward, track: { ...track, block: onward.block, atMs: onward.atMs } };
    }
    if (!isReviewed(usual, track, scene)) {
      return { chosen: usual, track };
    }
  }
  if (group.length > 1) {
    return { chosen: usual, track: newTrack(usual, group, scene) };
  }
  return { chosen: mayTakeOver(usual, track, set) ? usual : null, track };
}

/** One that nobody stands level with does not take over from those who were on the track, if it was not. */
function mayTakeOver(voice: Voice, { members }: Track, set: readonly Voice[]): boolean {
  return members.includes(voice.key) || isProof(voice) || !set.some(({ key }) => members.includes(key));
}

/** While one is ahead of the head, or has not been heard since, it may be the only one that keeps the pace: the track stays. */
function carriedOn(usual: Voice, track: Track, among: Candidates): Track {
  if (aheadOf(usual, among).length > 0 || !isReviewed(usual, track, among.scene)) {
    return track;
  }
  const joined = keysOf(among.group).filter((key) => !track.members.includes(key));
  const members = joined.length === 0 ? track.members : [...track.members, ...joined];
  return { ...newTrack(usual, [], among.scene), members };
}

function newTrack({ block, atMs }: Voice, group: readonly Voice[], { pace }: Scene): Track {
  return { block, atMs, intervalMs: pace.intervalMs, members: keysOf(group) };
}

/** Those on the track that have shown a higher block than the usual head, and are clearly further. */
function aheadOf(usual: Voice, { scene, voters }: Candidates): readonly Voice[] {
  const lead = Math.max(AHEAD_BLOCKS, AHEAD_MS / (scene.pace.intervalMs ?? AHEAD_MS));
  const least = aboveTrack(usual, scene) + lead;
  return voters.filter(
    (voice) => voice.block > usual.block && aboveTrack(voice, scene) > least && isOnTrack(voice, scene),
  );
}

/** Whether all who were on the track, and are asked about as often, have been heard since. */
function isReviewed(usual: Voice, { atMs: sinceMs, members }: Track, { voices }: Scene): boolean {
  return voices.every(
    ({ atMs, key, pollIntervalMs }) =>
      atMs >= sinceMs || !members.includes(key) || pollIntervalMs > AS_OFTEN * usual.pollIntervalMs,
  );
}

/** While nobody can say where the head is now, those who stand at the last one confirm it. */
export function heldHead(head: HeadState | null, set: readonly Voice[]): HeadState | null {
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
  chosen: Voice,
  level: readonly Voice[],
  { before, scene }: { readonly before: HeadState | null; readonly scene: Scene },
): HeadState {
  const freshUntilMs = level.reduce((latest, voice) => Math.max(latest, voice.freshUntilMs), 0);
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

/**
 * Those who say where the head is now: nobody who stands still, is behind by its own word, back-fills, or goes at another
 * pace than the others. Where all of them go faster than is believed of the chain, on from the last head and of two
 * providers or more, the chain itself bursts.
 */
function votersOf(set: readonly Voice[], { stalledAfterMs, track, unsteady }: Scene): readonly Voice[] {
  const moving = set.filter(({ age, idleMs }) => age !== "old" && idleMs <= stalledAfterMs);
  const voters = moving.filter(({ isBackfilling }) => !isBackfilling);
  const steady = voters.filter((voice) => !unsteady.has(voice));
  if (steady.length > 0) {
    return steady;
  }
  if (voters.length > 0 || track === null) {
    return voters;
  }
  const bursting = moving.filter(({ block, key }) => block >= track.block && track.members.includes(key));
  return providersOf(bursting) > 1 ? bursting : [];
}

/** The voters that stand level with each other: of the most providers, then sources; of equal ones, on the track, then highest. */
export function largestGroup(voters: readonly Voice[], scene: Scene): readonly Voice[] {
  const highest = furthestOf(voters, scene);
  if (highest !== null && voters.every((voice) => areLevel(voice, highest, scene))) {
    return voters;
  }
  let best: readonly Voice[] = [];
  let bestWeight: readonly number[] = [];
  for (const top of voters) {
    const height = carried(top, scene);
    const group = voters.filter((voice) => carried(voice, scene) <= height && areLevel(voice, top, scene));
    const onTrack = Number(group.some((voice) => isOnTrack(voice, scene)));
    const weight = [providersOf(group), group.length, onTrack, height];
    if (compareWeights(weight, bestWeight) > 0) {
      best = group;
      bestWeight = weight;
    }
  }
  return best;
}

export function compareWeights(a: readonly number[], b: readonly number[]): number {
  for (const [index, weight] of a.entries()) {
    const difference = weight - (b[index] ?? -1);
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
}

/** An RPC node whose block time fits the wall clock. */
export function isProof({ age, kind }: Voice): boolean {
  return kind === "rpc" && age === "fresh";
}

export function providersOf(voices: readonly Voice[]): number {
  return new Set(voices.map(({ provider }) => provider)).size;
}

function areIndependent([first, ...others]: readonly Voice[]): boolean {
  return others.some(({ provider }) => provider !== first?.provider);
}

export function keysOf(voices: readonly Voice[]): readonly string[] {
  return voices.map(({ key }) => key);
}
