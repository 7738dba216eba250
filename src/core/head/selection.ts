import { type Claim, FASTEST_INTERVAL_MS, isProof, mostBlocksIn, type Pace, providersOf } from "./claim.ts";
import { areLevel, isOnTrack, offTrack, type Scene } from "./scene.ts";

/** Why a source cannot be right if another is at the head. */
export interface Conflict {
  readonly kind: "hash" | "times" | "ahead" | "below";
  /** How far the block times of one source deviate from those of the other. */
  readonly offMs: number | null;
}

/** Two timestamps may be wrong by so much. */
const TIME_TOLERANCE_MS = 120_000;
/** A source without block times may follow its chain from afar: a follower of final blocks is 1 to 15 minutes behind. */
const UNDATED_MS = 600_000;

/**
 * The sources that can be right together: those compatible with the claim that has the most providers, then the most sources,
 * then the most sources level with it, then a fresh RPC node, then sources on the track. Several sets if all of that is equal.
 */
export function largestSets(scene: Scene): readonly (readonly Claim[])[] {
  const { claims } = scene;
  const conflicts = conflictsIn(scene);
  let best: (readonly Claim[])[] = [];
  let bestWeight: readonly number[] = [];
  for (const supposed of claims) {
    const beside = claims.filter((claim) => conflicts.of(claim, supposed) === null);
    for (const set of withoutForks(beside, conflicts).filter(
      (one) => !best.some((other) => isSame(other, one)),
    )) {
      const weight = [providersOf(set), set.length];
      const order = compareWeights(weight, bestWeight);
      if (order > 0) {
        best = [set];
        bestWeight = weight;
      } else if (order === 0) {
        best.push(set);
      }
    }
  }
  return best.length > 1 ? heaviest(best, scene) : best;
}

/** Ties: the most level providers, then a fresh RPC node, then the most sources on the track. */
function heaviest(sets: readonly (readonly Claim[])[], scene: Scene): readonly (readonly Claim[])[] {
  const weighed = sets.map((set) => ({
    set,
    weight: [
      Math.max(...set.map((top) => providersOf(set.filter((claim) => areLevel(claim, top, scene))))),
      Number(set.some(isProof)),
      set.filter((claim) => isOnTrack(claim, scene)).length,
    ],
  }));
  return weighed
    .filter(({ weight }) => weighed.every((other) => compareWeights(weight, other.weight) >= 0))
    .map(({ set }) => set);
}

/** The sets, each without one side of every fork: two sources that fit a third one may be on two forks. */
function withoutForks(set: readonly Claim[], conflicts: Conflicts): readonly (readonly Claim[])[] {
  if (!conflicts.haveForks) {
    return [set];
  }
  for (const claim of set) {
    const other = set.find((one) => conflicts.of(claim, one)?.kind === "hash");
    if (other !== undefined) {
      return [claim, other].flatMap((side) =>
        withoutForks(
          set.filter((one) => conflicts.of(one, side)?.kind !== "hash"),
          conflicts,
        ),
      );
    }
  }
  return [set];
}

function isSame(a: readonly Claim[], b: readonly Claim[]): boolean {
  return a.length === b.length && a.every((claim, index) => claim === b[index]);
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

/** The conflicts between the claims of a scene; repeated questions about one claim are cached. */
export interface Conflicts {
  /** Whether any two may be on two forks. */
  readonly haveForks: boolean;
  /** Why `claim` cannot be right if `supposed` is at the head, or null. */
  of(claim: Claim, supposed: Claim): Conflict | null;
}

export function conflictsIn(scene: Scene): Conflicts {
  const hashesDiffer = mayDifferInHashes(scene.claims);
  const atHead = new Map<Claim, number | null>();
  const lastAtHeadMs = (claim: Claim): number | null => {
    let ms = atHead.get(claim);
    if (ms === undefined) {
      ms = provenAtHeadMs(claim, scene);
      atHead.set(claim, ms);
    }
    return ms;
  };
  const areOnForks = (a: Claim, b: Claim) => {
    const [first, second] = a.key < b.key ? [a, b] : [b, a];
    return hashesDiffer && areForked(first, second) && !isBack(a, b, scene) && !isBack(b, a, scene);
  };
  return {
    haveForks: hashesDiffer,
    of(claim, supposed) {
      if (claim === supposed) {
        return null;
      }
      if (areOnForks(claim, supposed)) {
        return { kind: "hash", offMs: null };
      }
      if (claim.timeMs !== null && supposed.timeMs !== null) {
        return conflictOfTimes(claim, supposed, scene);
      }
      const kind = claim.block > supposed.block || claim.age === "fresh" ? "ahead" : "below";
      return isBeyond(claim, supposed, { scene, lastAtHeadMs }) ? { kind, offMs: null } : null;
    },
  };
}

/** Level sources are on one chain, even if their times differ. */
function conflictOfTimes(claim: Claim, supposed: Claim, scene: Scene): Conflict | null {
  return fitOneChain(claim, supposed, scene.pace) || areLevel(claim, supposed, scene)
    ? null
    : { kind: "times", offMs: apartMs(claim, supposed, scene.pace) };
}

/** Whether the higher is further ahead than the chain can have made since the lower was at the head, if it ever was. */
function isBeyond(
  claim: Claim,
  supposed: Claim,
  { scene, lastAtHeadMs }: { readonly scene: Scene; readonly lastAtHeadMs: (claim: Claim) => number | null },
): boolean {
  const { pace } = scene;
  const isDated = claim.timeMs !== null;
  if (claim.block > supposed.block) {
    // A source that is late by the time of its block says nothing of what the chain has made since.
    const spanMs = claim.atMs - Math.min(supposed.atMs, supposed.timeMs ?? supposed.atMs);
    return claim.block - supposed.block > mostBlocks(spanMs, isDated && supposed.timeMs !== null, pace);
  }
  const blocks = supposed.block - claim.block;
  if (blocks <= mostBlocks(Number.NEGATIVE_INFINITY, isDated, pace)) {
    return false;
  }
  const atHeadMs = lastAtHeadMs(claim);
  return atHeadMs !== null && blocks > mostBlocks(supposed.atMs - atHeadMs, isDated, pace);
}

/** By how many blocks two sources may be apart over a time; one without times may follow its chain from afar. */
export function mostBlocks(spanMs: number, isDated: boolean, pace: Pace): number {
  const most = mostBlocksIn(spanMs, pace);
  return isDated || pace.intervalMs === null
    ? most
    : Math.max(most, (UNDATED_MS + Math.max(0, spanMs)) / pace.intervalMs);
}

/** When a source was last provably at the head, or null where nothing says that it ever was. */
function provenAtHeadMs(claim: Claim, scene: Scene): number | null {
  if (claim.timeMs !== null) {
    return claim.age === "fresh" ? claim.timeMs : null;
  }
  if (claim.isBackfilling || hasFallen(claim, scene)) {
    return null;
  }
  return isOnTrack(claim, scene) || hasCompany(claim, scene) ? claim.advancedMs : null;
}

/** Whether an advancing source of another provider is level with it: independent sources do not lag alike. */
function hasCompany(claim: Claim, scene: Scene): boolean {
  return scene.claims.some(
    (other) =>
      other.provider !== claim.provider &&
      other.age !== "old" &&
      other.advancedMs !== null &&
      other.idleMs <= scene.stalledAfterMs &&
      areLevel(claim, other, scene),
  );
}

/** Whether it was on the track and fell below it, while somebody else is still on it. */
function hasFallen(claim: Claim, scene: Scene): boolean {
  return (
    scene.onceOnTrack.has(claim.key) &&
    offTrack(claim, scene) < 0 &&
    scene.claims.some((other) => other.block > claim.block && isOnTrack(other, scene))
  );
}

/**
 * Whether no two claims can contradict each other, found in one pass over them: carried along at the pace of the chain, no claim is
 * further above another than the chain can make at once, and all block times are within the tolerance of one line.
 *
 * That is enough. `mostBlocksIn(s)` is at least `F + s / interval` for each span s, where F is the most for the shortest span. So from
 * `highest - lowest <= F` follows, for two claims s apart, that their blocks differ by no more than the chain can make in s; and what
 * bounds a lower claim from above is the last instant at which it can have been at the head.
 */
export function isQuiet({ claims, pace }: Scene): boolean {
  const intervalMs = pace.intervalMs ?? FASTEST_INTERVAL_MS;
  const heights = { least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };
  const lines = { least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };
  for (const { age, atMs, block, timeMs } of claims) {
    const lastAtHeadMs = age === "fresh" && timeMs !== null ? Math.max(atMs, timeMs) : atMs;
    heights.most = Math.max(heights.most, block - atMs / intervalMs);
    heights.least = Math.min(heights.least, block - lastAtHeadMs / intervalMs);
    if (timeMs !== null) {
      lines.most = Math.max(lines.most, timeMs - block * intervalMs);
      lines.least = Math.min(lines.least, timeMs - block * intervalMs);
    }
  }
  return (
    heights.most - heights.least <= mostBlocksIn(Number.NEGATIVE_INFINITY, pace) &&
    lines.most - lines.least <= TIME_TOLERANCE_MS &&
    !mayDifferInHashes(claims)
  );
}

/**
 * Whether two blocks with their times can lie on one chain: not with too many blocks in too short a time. That few took long
 * proves nothing: chains halt.
 */
function fitOneChain(a: Claim, b: Claim, pace: Pace): boolean {
  if (a.timeMs === null || b.timeMs === null) {
    return true;
  }
  const blocks = Math.abs(b.block - a.block);
  const spanMs = b.block > a.block ? b.timeMs - a.timeMs : a.timeMs - b.timeMs;
  if (blocks === 0) {
    return Math.abs(spanMs) <= TIME_TOLERANCE_MS;
  }
  return spanMs >= -TIME_TOLERANCE_MS && blocks <= mostBlocksIn(spanMs, pace);
}

/**
 * The sources whose block times contradict the majority of a set: by providers, then sources, then new
 * blocks.
 */
export function misdatedIn(set: readonly Claim[], { pace }: Scene): readonly Claim[] {
  const dated = set.filter(({ timeMs }) => timeMs !== null);
  let best = dated;
  let bestWeight: readonly number[] = [];
  for (const supposed of dated) {
    const fitting = dated.filter((claim) => fitOneChain(claim, supposed, pace));
    const weight = [
      providersOf(fitting),
      fitting.length,
      fitting.filter(({ age }) => age === "fresh").length,
    ];
    if (compareWeights(weight, bestWeight) > 0) {
      best = fitting;
      bestWeight = weight;
    }
  }
  return dated.filter((claim) => !best.includes(claim));
}

/** How much longer, or shorter, than the chain takes for the blocks between is the time between two dated blocks. */
function apartMs(a: Claim, b: Claim, { intervalMs }: Pace): number | null {
  return a.timeMs === null || b.timeMs === null || intervalMs === null
    ? null
    : Math.abs((b.block - a.block) * intervalMs - (b.timeMs - a.timeMs));
}

/** Whether any two gave different hashes for a block. */
function mayDifferInHashes(claims: readonly Claim[]): boolean {
  const hashes = new Map<number, string>();
  for (const { samples, sharesHashes } of claims) {
    for (const { block, hash } of sharesHashes ? samples : []) {
      if (hash !== null && hash !== (hashes.get(block) ?? hash)) {
        return true;
      }
      if (hash !== null) {
        hashes.set(block, hash);
      }
    }
  }
  return false;
}

/** Different hashes at the last two heights that both have shown: at one height alone it may be a reorg at the tip. */
function areForked(a: Claim, b: Claim): boolean {
  if (!a.sharesHashes || !b.sharesHashes) {
    return false;
  }
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
function hashAt({ samples }: Claim, block: number): string | null {
  return samples.findLast((sample) => sample.block === block && sample.hash !== null)?.hash ?? null;
}

/**
 * Whether a source with different hashes is back on the other's fork, as a third source with the newest hash
 * shows.
 */
function isBack(claim: Claim, other: Claim, { claims }: Scene): boolean {
  const newest = claim.samples.at(-1);
  return claims.some(
    (third) =>
      third !== claim &&
      third !== other &&
      third.samples.some(
        ({ block, hash }) => block === newest?.block && hash !== null && hash === newest.hash,
      ) &&
      !areForked(third, other),
  );
}
