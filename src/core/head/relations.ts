import { mostBlocksIn, type Pace } from "./pace.ts";
import { areLevel, isOnTrack, offTrack, type Scene } from "./scene.ts";
import type { Voice } from "./voice.ts";

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
  if (blocks <= mostBlocksIn(Number.NEGATIVE_INFINITY, scene.pace)) {
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
