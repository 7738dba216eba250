import type { Sample } from "../model/sample.ts";
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
  const { voices } = scene;
  const hashesDiffer = differInHashes(voices, []);
  if (hashesDiffer || !areClose(voices, scene)) {
    voices.forEach((voice, index) => {
      addRelations(relations, voice, { others: voices, from: index + 1, scene, hashesDiffer });
    });
  }
  return relations;
}

/** Every pair of one of these sources with one of those of which only one can be right. */
export function relationsBetween(
  voices: readonly Voice[],
  others: readonly Voice[],
  scene: Scene,
): readonly Relation[] {
  const relations: Relation[] = [];
  const hashesDiffer = differInHashes(voices, others);
  if (hashesDiffer || !areClose([...voices, ...others], scene)) {
    for (const voice of voices) {
      addRelations(relations, voice, { others, from: 0, scene, hashesDiffer });
    }
  }
  return relations;
}

/** Whether any two of `voices`, or one of them and one of `others`, gave different hashes for a block. */
function differInHashes(voices: readonly Voice[], others: readonly Voice[]): boolean {
  const hashes = new Map<number, string>();
  const isOther = ({ block, hash }: Sample): boolean => hash !== null && hash !== (hashes.get(block) ?? hash);
  for (const { samples } of voices) {
    if (samples.some(isOther)) {
      return true;
    }
    for (const { block, hash } of samples) {
      if (hash !== null) {
        hashes.set(block, hash);
      }
    }
  }
  return others.some(({ samples }) => samples.some(isOther));
}

/** Whether all heights and times are so close together that no two of them can contradict each other. */
function areClose(voices: readonly Voice[], { pace }: Scene): boolean {
  const heights = rangeOf(voices, ({ block }) => block);
  const dated = rangeOf(voices, ({ dated: point }) => point?.block ?? null);
  const timesMs = rangeOf(voices, ({ dated: point }) => point?.timeMs ?? null);
  return Math.max(heights, dated) <= fewestBlocks(pace) && timesMs <= TIME_TOLERANCE_MS;
}

/** From the least of the values to the greatest; below 0 where there is none. */
function rangeOf(voices: readonly Voice[], measure: (voice: Voice) => number | null): number {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const voice of voices) {
    const value = measure(voice);
    if (value !== null) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  return most - least;
}

/** The most blocks that no chain is too slow for, however short the time between: they contradict nothing. */
function fewestBlocks(pace: Pace): number {
  return mostBlocksIn(Number.NEGATIVE_INFINITY, pace);
}

interface Others {
  readonly others: readonly Voice[];
  readonly from: number;
  readonly scene: Scene;
  readonly hashesDiffer: boolean;
}

function addRelations(relations: Relation[], voice: Voice, among: Others): void {
  const { others, from } = among;
  for (let index = from; index < others.length; index += 1) {
    const relation = relationOf(voice, others[index] ?? voice, among);
    if (relation !== null) {
      relations.push(relation);
    }
  }
}

/** The relation of two sources of which only one can be right; null where both can. */
function relationOf(
  a: Voice,
  b: Voice,
  { scene, hashesDiffer }: Pick<Others, "scene" | "hashesDiffer">,
): Relation | null {
  const low = a.block <= b.block ? a : b;
  const high = low === a ? b : a;
  const isForked =
    hashesDiffer && areForked(low, high) && !isBack(low, high, scene) && !isBack(high, low, scene);
  const kind = isForked ? "hash" : oppositionOf(low, high, scene);
  const offMs = kind === "times" ? apartMs(low, high, scene.pace) : null;
  return kind === null ? null : { low, high, kind, offMs };
}

function oppositionOf(low: Voice, high: Voice, scene: Scene): "times" | "ahead" | null {
  if (contradict(low.dated, high.dated, scene.pace)) {
    return "times";
  }
  return isBeyond(low, high, scene) ? "ahead" : null;
}

/** Whether the higher is further ahead than the chain can have made since the lower was at the head, if it ever was. */
function isBeyond(low: Voice, high: Voice, scene: Scene): boolean {
  const blocks = high.block - low.block;
  if (blocks <= fewestBlocks(scene.pace)) {
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
  const isAtHead =
    isOnTrack(voice, scene) ||
    (!scene.unsteady.has(voice) && hasCompany(voice, scene) && !hasFallen(voice, scene));
  return isAtHead ? voice.advancedMs : null;
}

/** Whether a source of another provider stands level with it: independent sources do not lag alike. */
function hasCompany(voice: Voice, scene: Scene): boolean {
  return scene.voices.some(
    (other) =>
      other.provider !== voice.provider &&
      !scene.unsteady.has(other) &&
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
