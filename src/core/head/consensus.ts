/*
 * The head of a chain, by consensus of the sources that watch it.
 *
 * Every source may be wrong: behind, stopped, on another chain or fork, or far ahead of what exists. As in the clock
 * selection of NTP (RFC 5905 §11.2.1, after Marzullo 1984), nobody is believed for having been heard first, and no
 * average is taken. Instead:
 *
 * 1. Two sources oppose each other if both cannot be right: hashes that differ at one height, block times that cannot
 *    lie on one chain, or one so far above another, which stands at the head, that the chain cannot have made the
 *    blocks between. A lower height alone is lag, and opposes nothing.
 * 2. The largest set without opposition stays: most providers first (sources behind one host fail together), then most
 *    sources, then the one with an RPC node whose block is fresh, then the one that continues the known track. If
 *    two sets are still equal, those decide who are in both, if they have more providers than the rest of them. Else
 *    nothing is decided, and there is no reference.
 * 3. Within that set, the head is where most stand level and advance at one pace. One exception: when all but one fall
 *    back from the track that they were on, the one that goes on at the known pace is right.
 *
 * Everything follows from each source's own last answers. The only memory is the track: the last head that was
 * corroborated, and who stood level with it. It is compared with, and breaks ties; it never outvotes a majority that
 * was not on it.
 */
import {
  chooseHead,
  compareWeights,
  type HeadState,
  headFrom,
  heldHead,
  isProof,
  keysOf,
  largestGroup,
  providersOf,
} from "./choose-head.ts";
import { type Relation, relationsBetween, relationsOf } from "./relations.ts";
import { areLevel, type ChainContext, isOnTrack, type Scene, type Track } from "./scene.ts";
import { unsteadyOf } from "./steadiness.ts";
import type { Voice } from "./voice.ts";

/** Why a source is excluded: who contradicts it, and by how much. */
export interface Opposition {
  readonly source: string;
  /** `below`: it is merely lower than the others, though others stand level with it: no proof that it is wrong. */
  readonly kind: "hash" | "times" | "ahead" | "below";
  readonly by: readonly string[];
  readonly block: number;
  /** Its distance to the highest of those who contradict it. */
  readonly blocks: number;
  /** How far its block times are off, where they contradict. */
  readonly offMs: number | null;
}

export interface Consensus {
  readonly head: HeadState | null;
  /** Keys of the sources that stand level with the head. */
  readonly members: readonly string[];
  readonly opposed: readonly Opposition[];
  /** Where sets of equal weight oppose each other: the keys of each. Empty once it is decided. */
  readonly undecided: readonly (readonly string[])[];
  readonly track: Track | null;
}

export const NO_CONSENSUS: Consensus = { head: null, members: [], opposed: [], undecided: [], track: null };

/** Sources of one chain that decide together. */
const MOST_ELECTORS = 16;
/** Members of the decided set that each further source is compared with. */
const MOST_COMPARED = 3;
/** Alternatives that are weighed at most. */
const MOST_SETS = 4_096;

export function consensus(all: readonly Voice[], before: Consensus, chain: ChainContext): Consensus {
  const { electors: voices, others } = electorsOf(all);
  const scene = sceneOf(voices, before.track, chain);
  const relations = relationsOf(scene);
  const sets = largestSets(scene, relations);
  const best = decidedOf(sets);
  if (best === null) {
    const sides = sets.map((side) => side.filter((voice) => isContested(voice, relations)));
    return { ...NO_CONSENSUS, undecided: sides.map(keysOf), track: before.track };
  }
  const contradictions = relationsBetween(best.slice(0, MOST_COMPARED), others, scene);
  const opposed = opposedTo(best, all, [...relations, ...contradictions]);
  const within = withinSet(best, scene);
  const { chosen, track } = chooseHead(best, within);
  if (chosen === null) {
    const members = before.members.filter((key) => opposed.every(({ source }) => source !== key));
    return {
      ...before,
      head: track === null ? null : heldHead(before.head, best),
      members,
      opposed,
      undecided: [],
    };
  }
  const level = best.filter(
    (voice) => voice === chosen || (areLevel(voice, chosen, within) && !within.unsteady.has(voice)),
  );
  const head = headFrom(chosen, level, { before: before.head, scene: within });
  const levelOthers = others.filter(
    (voice) => areLevel(voice, chosen, within) && !isContested(voice, contradictions),
  );
  return { head, members: keysOf([...level, ...levelOthers]), opposed, undecided: [], track };
}

function sceneOf(voices: readonly Voice[], track: Track | null, chain: ChainContext): Scene {
  let newestMs = Number.NEGATIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (const { atMs, block } of voices) {
    newestMs = Math.max(newestMs, atMs);
    highest = Math.max(highest, block);
  }
  const { pace, stalledAfterMs } = chain;
  const unsteady = unsteadyOf(voices, pace);
  return { pace, stalledAfterMs, voices, unsteady, newestMs, highest, track };
}

/** What those who are excluded have shown is no height that the others could have got to. */
function withinSet(set: readonly Voice[], scene: Scene): Scene {
  return set.length === scene.voices.length
    ? scene
    : { ...scene, highest: Math.max(...set.map(({ block }) => block)) };
}

interface Divided {
  readonly electors: readonly Voice[];
  readonly others: readonly Voice[];
}

/**
 * Those who decide: all of them, up to {@link MOST_ELECTORS}, which few chains have. Of more, RPC nodes and then as many
 * providers as possible, by key; the others are compared with what these decide. The search is exponential in them.
 */
function electorsOf(voices: readonly Voice[]): Divided {
  if (voices.length <= MOST_ELECTORS) {
    return { electors: voices, others: [] };
  }
  const chosen = new Set(voices.filter(({ kind }) => kind === "rpc").slice(0, MOST_ELECTORS));
  while (chosen.size < MOST_ELECTORS) {
    addOneOfEachProvider(chosen, voices);
  }
  return {
    electors: voices.filter((voice) => chosen.has(voice)),
    others: voices.filter((voice) => !chosen.has(voice)),
  };
}

function addOneOfEachProvider(chosen: Set<Voice>, voices: readonly Voice[]): void {
  const providers = new Set<string>();
  for (const voice of voices) {
    if (chosen.size === MOST_ELECTORS) {
      return;
    }
    if (!chosen.has(voice) && !providers.has(voice.provider)) {
      chosen.add(voice);
      providers.add(voice.provider);
    }
  }
}

/** The sets that weigh most; more than one where nothing tells them apart. */
function largestSets(scene: Scene, relations: readonly Relation[]): readonly (readonly Voice[])[] {
  if (relations.length === 0) {
    return [scene.voices];
  }
  let best: readonly (readonly Voice[])[] = [];
  let bestWeight: readonly number[] = [];
  for (const set of compatibleSets(scene.voices, relations)) {
    const weight = weightOf(set, scene);
    const order = compareWeights(weight, bestWeight);
    if (order > 0) {
      best = [set];
      bestWeight = weight;
    } else if (order === 0) {
      best = [...best, set];
    }
  }
  return best;
}

/** The set that weighs most; of equal ones what they have in common, if more providers are in that than in the rest of them. */
function decidedOf(sets: readonly (readonly Voice[])[]): readonly Voice[] | null {
  const [first, ...equals] = sets;
  if (first === undefined || equals.length === 0) {
    return first ?? null;
  }
  const common = first.filter((voice) => equals.every((set) => set.includes(voice)));
  const rest = sets.flat().filter((voice) => !common.includes(voice));
  return providersOf(common) > providersOf(rest) ? common : null;
}

/** All sets that nothing can be added to, and some smaller ones, which weigh less. */
function compatibleSets(
  voices: readonly Voice[],
  relations: readonly Relation[],
): readonly (readonly Voice[])[] {
  const sets: (readonly Voice[])[] = [];
  const choose = (chosen: readonly Voice[], open: readonly Voice[]): void => {
    const next = open.find((voice) => opponentsOf(voice, relations).some((other) => open.includes(other)));
    if (next === undefined) {
      sets.push([...chosen, ...open]);
      return;
    }
    const opponents = opponentsOf(next, relations);
    choose(
      [...chosen, next],
      open.filter((voice) => voice !== next && !opponents.includes(voice)),
    );
    if (sets.length < MOST_SETS) {
      choose(
        chosen,
        open.filter((voice) => voice !== next),
      );
    }
  };
  choose([], voices);
  return sets;
}

function opponentsOf(voice: Voice, relations: readonly Relation[]): readonly Voice[] {
  const opponents = relations
    .filter(({ low, high }) => low === voice || high === voice)
    .map(({ low, high }) => (low === voice ? high : low));
  return [...new Set(opponents)];
}

function isContested(voice: Voice, relations: readonly Relation[]): boolean {
  return relations.some(({ low, high }) => low === voice || high === voice);
}

function weightOf(set: readonly Voice[], scene: Scene): readonly number[] {
  return [
    providersOf(set),
    set.length,
    providersOf(largestGroup(set, scene)),
    Number(set.some(isProof)),
    set.filter((voice) => isOnTrack(voice, scene)).length,
  ];
}

/** Those who contradict the decided set, whether they took part or not. */
function opposedTo(
  set: readonly Voice[],
  all: readonly Voice[],
  relations: readonly Relation[],
): readonly Opposition[] {
  const excluded = relations.length === 0 ? [] : all.filter((voice) => !set.includes(voice));
  return excluded.flatMap((voice) => {
    const against = relations.filter(
      ({ low, high }) => (low === voice && set.includes(high)) || (high === voice && set.includes(low)),
    );
    return against.length === 0 ? [] : [reasonOf(voice, against)];
  });
}

function reasonOf(voice: Voice, against: readonly Relation[]): Opposition {
  const opponents = opponentsOf(voice, against);
  const { key } = voice;
  const block = voice.samples.at(-1)?.block ?? voice.block;
  const proof = against.find(({ kind }) => kind !== "ahead");
  const lies = against.some(({ high }) => high === voice) || voice.age === "fresh";
  return {
    source: key,
    kind: proof?.kind ?? (lies ? "ahead" : "below"),
    by: keysOf(opponents),
    block,
    blocks: block - Math.max(...opponents.map((other) => other.block)),
    offMs: proof?.offMs ?? null,
  };
}
