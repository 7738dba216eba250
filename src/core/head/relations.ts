import { mostBlocksIn, type Pace } from "./pace.ts";
import type { Voice } from "./voice.ts";

/** A head of the past, extrapolated at the chain's pace, and the keys of those who stood level with it. */
export interface Track {
  readonly block: number;
  readonly atMs: number;
  /** The pace that was known then; null: none. */
  readonly intervalMs: number | null;
  readonly members: readonly string[];
}

/** What the chain is known by, beside its sources. */
export interface ChainContext {
  readonly pace: Pace;
  /** A source that has stood still for longer says nothing of where the head is now. */
  readonly stalledAfterMs: number;
}

/** All that relations between voices are worked out from. */
export interface Scene extends ChainContext {
  readonly voices: readonly Voice[];
  readonly newestMs: number;
  readonly highest: number;
  readonly track: Track | null;
}

/** Sources whose heights, carried to one instant, are within so much of each other stand level. */
const LEVEL_MS = 60_000;
const LEVEL_BLOCKS = 3;
const LEVEL_BLOCKS_WITHOUT_PACE = 10;
/** A source within so much of the track is on it. */
const ON_TRACK_MS = 10_000;
const ON_TRACK_BLOCKS = 4;
/** How wrong a pace may be: measured over minutes, or only configured. */
const PACE_ERROR = { measured: 0.02, configured: 0.5 };
/** Two timestamps may be wrong by so much. */
const TIME_TOLERANCE_MS = 120_000;

export interface Relation {
  readonly low: Voice;
  readonly high: Voice;
  readonly kind: "hash" | "times" | "ahead";
  /** How far the block times of one are off, by those of the other. */
  readonly offMs: number | null;
}

/** Every pair of sources of which only one can be right. */
export function relationsOf(scene: Scene): readonly Relation[] {
  const direct = directRelationsOf(scene);
  return direct.length === 0 ? direct : [...direct, ...sharedRelationsOf(direct, scene)];
}

/** Those who stand level with one side oppose the other, too: what is only just possible must not split them. */
function sharedRelationsOf(direct: readonly Relation[], scene: Scene): readonly Relation[] {
  return direct.flatMap((relation) => {
    const { low, high, kind } = relation;
    return kind === "hash"
      ? []
      : [
          ...beside(low, high, scene).map((voice) => ({ ...relation, low: voice })),
          ...beside(high, low, scene).map((voice) => ({ ...relation, high: voice })),
        ];
  });
}

function beside(voice: Voice, opponent: Voice, scene: Scene): readonly Voice[] {
  return scene.voices.filter(
    (other) =>
      other !== voice &&
      other !== opponent &&
      areLevel(other, voice, scene) &&
      !areLevel(other, opponent, scene),
  );
}

function directRelationsOf(scene: Scene): readonly Relation[] {
  const relations: Relation[] = [];
  scene.voices.forEach((voice, index) => {
    addRelations(relations, voice, { others: scene.voices, from: index + 1, scene });
  });
  return relations;
}

/** Every pair of one of these sources with one of those of which only one can be right. */
export function relationsBetween(
  voices: readonly Voice[],
  others: readonly Voice[],
  scene: Scene,
): readonly Relation[] {
  const relations: Relation[] = [];
  for (const voice of voices) {
    addRelations(relations, voice, { others, from: 0, scene });
  }
  return relations;
}

interface Others {
  readonly others: readonly Voice[];
  readonly from: number;
  readonly scene: Scene;
}

function addRelations(relations: Relation[], voice: Voice, { others, from, scene }: Others): void {
  for (let index = from; index < others.length; index += 1) {
    const relation = relationOf(voice, others[index] ?? voice, scene);
    if (relation !== null) {
      relations.push(relation);
    }
  }
}

/** The relation of two sources of which only one can be right; null where both can. */
function relationOf(a: Voice, b: Voice, scene: Scene): Relation | null {
  const low = a.block <= b.block ? a : b;
  const high = low === a ? b : a;
  const kind = oppositionOf(low, high, scene);
  const offMs = kind === "times" ? apartMs(low, high, scene.pace) : null;
  return kind === null ? null : { low, high, kind, offMs };
}

function oppositionOf(low: Voice, high: Voice, scene: Scene): Relation["kind"] | null {
  if (areForked(low, high) && !isBack(low, high, scene) && !isBack(high, low, scene)) {
    return "hash";
  }
  if (contradict(low.dated, high.dated, scene.pace)) {
    return "times";
  }
  return isBeyond(low, high, scene) ? "ahead" : null;
}

/** Whether the higher is further ahead than the chain can have made since the lower was at the head, if it ever was. */
function isBeyond(low: Voice, high: Voice, scene: Scene): boolean {
  const blocks = high.block - low.block;
  if (blocks <= mostBlocksIn(0, scene.pace)) {
    return false;
  }
  const atHeadMs = lastAtHeadMs(low, scene);
  return atHeadMs !== null && blocks > mostBlocksIn(high.atMs - atHeadMs, scene.pace);
}

/** Different hashes at the last two heights that both have shown: at one height alone it may be a reorg at the tip. */
function areForked(a: Voice, b: Voice): boolean {
  let mismatches = 0;
  for (let index = a.samples.length - 1; index >= 0 && mismatches < 2; index -= 1) {
    const sample = a.samples[index];
    const other = sample === undefined || sample.hash === null ? null : hashAt(b, sample.block);
    if (other !== null && other === sample?.hash) {
      return false;
    }
    mismatches += Number(other !== null);
  }
  return mismatches === 2;
}

/** The hash that a source gave last for a block. */
function hashAt({ samples }: Voice, block: number): string | null {
  for (let index = samples.length - 1; index >= 0; index -= 1) {
    const sample = samples[index];
    if (sample?.block === block && sample.hash !== null) {
      return sample.hash;
    }
  }
  return null;
}

/** Whether a source whose hashes differed is back on the other's fork, by a third one that has the newest of them. */
function isBack(voice: Voice, other: Voice, { voices }: Scene): boolean {
  const newest = voice.samples.at(-1);
  return voices.some(
    (third) =>
      third !== voice &&
      third !== other &&
      third.samples.some(
        ({ block, hash }) => block === newest?.block && hash !== null && hash === newest.hash,
      ) &&
      !areForked(third, other),
  );
}

/**
 * Whether two blocks with their times cannot lie on one chain: too many blocks in too short a time. That few took long
 * proves nothing: chains halt.
 */
function contradict(a: Voice["dated"], b: Voice["dated"], pace: Pace): boolean {
  if (a === null || b === null) {
    return false;
  }
  const blocks = Math.abs(b.block - a.block);
  const spanMs = b.block > a.block ? b.timeMs - a.timeMs : a.timeMs - b.timeMs;
  if (blocks === 0) {
    return Math.abs(spanMs) > TIME_TOLERANCE_MS;
  }
  return spanMs < -TIME_TOLERANCE_MS || blocks > mostBlocksIn(spanMs, pace);
}

/** How much longer, or shorter, than the chain takes for the blocks between is the time between two dated blocks. */
function apartMs({ dated: a }: Voice, { dated: b }: Voice, { intervalMs }: Pace): number | null {
  return a === null || b === null || intervalMs === null
    ? null
    : Math.abs((b.block - a.block) * intervalMs - (b.timeMs - a.timeMs));
}

/** When a source was last seen at the head, or null where nothing says that it ever was. */
function lastAtHeadMs(voice: Voice, scene: Scene): number | null {
  if (voice.age === "fresh") {
    return voice.timestampMs;
  }
  if (voice.age === "old" || voice.advancedMs === null || voice.isBackfilling) {
    return null;
  }
  const isAtHead = isOnTrack(voice, scene) || (hasCompany(voice, scene) && !hasFallen(voice, scene));
  return isAtHead ? voice.advancedMs : null;
}

/** Whether a source of another provider stands level with it: independent sources do not lag alike. */
function hasCompany(voice: Voice, scene: Scene): boolean {
  return scene.voices.some(
    (other) =>
      other.provider !== voice.provider &&
      other.age !== "old" &&
      other.advancedMs !== null &&
      areLevel(voice, other, scene),
  );
}

/** Whether it, and all who stand level with it, were on the track and fell back from it while others went on. */
function hasFallen(voice: Voice, scene: Scene): boolean {
  const { track, voices } = scene;
  return (
    track !== null &&
    voices.some((other) => other.block > voice.block && isOnTrack(other, scene)) &&
    voices.every(
      (other) =>
        !areLevel(voice, other, scene) || (track.members.includes(other.key) && offTrack(other, scene) < 0),
    )
  );
}

export function areLevel(a: Voice, b: Voice, scene: Scene): boolean {
  const { intervalMs } = scene.pace;
  const apart = Math.abs(carried(a, scene) - carried(b, scene));
  if (intervalMs === null) {
    return apart <= LEVEL_BLOCKS_WITHOUT_PACE;
  }
  const carriedMs = scene.newestMs - a.atMs + scene.newestMs - b.atMs;
  return apart <= Math.max(LEVEL_BLOCKS, (LEVEL_MS + paceError(scene) * carriedMs) / intervalMs);
}

/** Where a source will have got to by the time of the newest answer; never above what anybody has shown. */
export function carried(voice: Voice, scene: Scene): number {
  return Math.max(voice.block, Math.min(scene.highest, expected(voice, scene)));
}

/** The same without that limit: what it would answer at that instant, if it goes on as the chain does. */
export function expected({ atMs, block }: Voice, { newestMs, pace }: Scene): number {
  return pace.intervalMs === null ? block : block + (newestMs - atMs) / pace.intervalMs;
}

function paceError({ pace }: Scene): number {
  return pace.measured ? PACE_ERROR.measured : PACE_ERROR.configured;
}

/** Whether it stood level with the track once, and stands where the track leads. */
export function isOnTrack(voice: Voice, scene: Scene): boolean {
  return scene.track?.members.includes(voice.key) === true && offTrack(voice, scene) === 0;
}

/** By how many blocks a source is above the track (negative: below it); 0 within the tolerance. */
export function offTrack(voice: Voice, scene: Scene): number {
  const { track } = scene;
  const off = aboveTrack(voice, scene);
  if (track === null || track.intervalMs === null) {
    return Math.abs(off) <= LEVEL_BLOCKS_WITHOUT_PACE ? 0 : off;
  }
  const spanMs = Math.abs(voice.atMs - track.atMs);
  const tolerance = (ON_TRACK_MS + paceError(scene) * spanMs) / track.intervalMs;
  return Math.abs(off) <= Math.max(ON_TRACK_BLOCKS, tolerance) ? 0 : off;
}

/** The same, without a tolerance. Where nobody knows the pace, all that the chain can have made lies on the track. */
export function aboveTrack({ atMs, block }: Voice, { pace, track }: Scene): number {
  if (track === null) {
    return 0;
  }
  const spanMs = atMs - track.atMs;
  if (track.intervalMs === null) {
    const most = track.block + mostBlocksIn(spanMs, pace);
    return block - Math.min(Math.max(block, track.block), most);
  }
  return block - track.block - spanMs / track.intervalMs;
}

/** Whether so many blocks are no more than the chain makes in a minute. */
export function isWithinMinute(blocks: number, { pace }: Scene): boolean {
  return (
    blocks <=
    (pace.intervalMs === null
      ? LEVEL_BLOCKS_WITHOUT_PACE
      : Math.max(LEVEL_BLOCKS, LEVEL_MS / pace.intervalMs))
  );
}
