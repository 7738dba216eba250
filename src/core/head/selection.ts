import { type Claim, isProof, keysOf, mostBlocksIn, type Pace, providersOf } from "./claim.ts";
import { areLevel, isOnTrack, offTrack, type Scene } from "./scene.ts";

/** Why a source cannot be right if another is at the head. `below`: it is only lower than the other: no proof that it is wrong. */
export type Conflict = "hash" | "times" | "ahead" | "below";

/** Two timestamps may be wrong by so much. */
const TIME_TOLERANCE_MS = 120_000;
/** A source without block times may follow its chain from afar: a follower of final blocks is 1 to 15 minutes behind. */
const UNDATED_MS = 600_000;

/**
 * The sources that can be right together: those compatible with the claim that has the most providers, then the most sources,
 * then the most sources level with it, then a fresh RPC node, then sources on the track. Several sets if all of that is equal.
 */
export function largestSets(scene: Scene, conflicts: Conflicts): readonly (readonly Claim[])[] {
  const { claims } = scene;
  const sets = new Map<string, readonly Claim[]>();
  for (const supposed of claims) {
    const beside = claims.filter((claim) => conflicts.of(claim, supposed) === null);
    if (beside.length === claims.length && !conflicts.haveForks) {
      return [claims];
    }
    for (const set of withoutForks(beside, conflicts)) {
      sets.set(keysOf(set).join(" "), set);
    }
  }
  const largest = heaviest([...sets.values()], (set) => [providersOf(set), set.length]);
  return largest.length === 1
    ? largest
    : heaviest(largest, (set) => [
        Math.max(...set.map((top) => providersOf(set.filter((claim) => areLevel(claim, top, scene))))),
        Number(set.some(isProof)),
        set.filter((claim) => isOnTrack(claim, scene)).length,
      ]);
}

/** The items of the greatest weight, in their order: of two weights the first number that differs decides. */
export function heaviest<Item>(
  items: readonly Item[],
  weigh: (item: Item) => readonly number[],
): readonly Item[] {
  let best: Item[] = [];
  let bestWeight: readonly number[] = [];
  for (const item of items) {
    const weight = weigh(item);
    const at = weight.findIndex((number, index) => number !== bestWeight[index]);
    if (at === -1) {
      best.push(item);
    } else if ((weight[at] ?? 0) > (bestWeight[at] ?? -1)) {
      best = [item];
      bestWeight = weight;
    }
  }
  return best;
}

/** The sets, each without one side of every fork: two sources that fit a third one may be on two forks. */
function withoutForks(set: readonly Claim[], conflicts: Conflicts): readonly (readonly Claim[])[] {
  const areForks = (a: Claim, b: Claim) => conflicts.of(a, b) === "hash";
  for (const claim of conflicts.haveForks ? set : []) {
    const other = set.find((one) => areForks(claim, one));
    if (other !== undefined) {
      return [claim, other].flatMap((side) =>
        withoutForks(
          set.filter((one) => !areForks(one, side)),
          conflicts,
        ),
      );
    }
  }
  return [set];
}

/** The conflicts between the claims of a scene; repeated questions about one claim are cached. */
export interface Conflicts {
  /** Whether any two may be on two forks. */
  readonly haveForks: boolean;
  /** Why `claim` cannot be right if `supposed` is at the head, or null. */
  of(claim: Claim, supposed: Claim): Conflict | null;
}

export function conflictsIn(scene: Scene): Conflicts {
  const haveForks = mayDifferInHashes(scene.claims);
  const atHead = new Map<Claim, number | null>();
  const lastAtHeadMs = (claim: Claim): number | null => {
    let ms = atHead.get(claim);
    if (ms === undefined) {
      ms = provenAtHeadMs(claim, scene);
      atHead.set(claim, ms);
    }
    return ms;
  };
  return {
    haveForks,
    of(claim, supposed) {
      if (claim === supposed) {
        return null;
      }
      if (haveForks && areOnForks(claim, supposed, scene)) {
        return "hash";
      }
      if (claim.timeMs !== null && supposed.timeMs !== null) {
        // Level sources are on one chain, even if their times differ.
        return fitOneChain(claim, supposed, scene.pace) || areLevel(claim, supposed, scene) ? null : "times";
      }
      return conflictOfHeights(claim, supposed, scene, lastAtHeadMs);
    },
  };
}
/** Whether the higher is further ahead than the chain can have made since the lower was at the head, if it ever was. */
function conflictOfHeights(
  claim: Claim,
  supposed: Claim,
  { pace }: Scene,
  lastAtHeadMs: (claim: Claim) => number | null,
): Conflict | null {
  const isDated = claim.timeMs !== null;
  const blocks = Math.abs(claim.block - supposed.block);
  if (claim.block > supposed.block) {
    // A source that is late by the time of its block says nothing of what the chain has made since.
    const spanMs = claim.atMs - Math.min(supposed.atMs, supposed.timeMs ?? supposed.atMs);
    return blocks > mostBlocks(spanMs, false, pace) ? "ahead" : null;
  }
  const atHeadMs = blocks > mostBlocks(Number.NEGATIVE_INFINITY, isDated, pace) ? lastAtHeadMs(claim) : null;
  if (atHeadMs === null || blocks <= mostBlocks(supposed.atMs - atHeadMs, isDated, pace)) {
    return null;
  }
  return claim.age === "fresh" ? "ahead" : "below";
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

/** Whether it was on the track and fell below it, while another source is still on it. */
function hasFallen(claim: Claim, scene: Scene): boolean {
  return (
    scene.track?.members.includes(claim.key) === true &&
    offTrack(claim, scene) < 0 &&
    scene.claims.some((other) => other.block > claim.block && isOnTrack(other, scene))
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

/** How much longer, or shorter, than the chain takes for the blocks between is the time between two dated blocks. */
export function apartMs(a: Claim, b: Claim, { intervalMs }: Pace): number | null {
  return a.timeMs === null || b.timeMs === null || intervalMs === null
    ? null
    : Math.abs((b.block - a.block) * intervalMs - (b.timeMs - a.timeMs));
}

/** The sources whose block times contradict the majority of a set: by providers, then sources, then new blocks. */
export function misdatedIn(set: readonly Claim[], { pace }: Scene): readonly Claim[] {
  const dated = set.filter(({ timeMs }) => timeMs !== null);
  const fittings: (readonly Claim[])[] = [];
  for (const supposed of dated) {
    const fitting = dated.filter((claim) => fitOneChain(claim, supposed, pace));
    if (fitting.length === dated.length) {
      return [];
    }
    fittings.push(fitting);
  }
  const [most = []] = heaviest(fittings, (fitting) => [
    providersOf(fitting),
    fitting.length,
    fitting.filter(({ age }) => age === "fresh").length,
  ]);
  return dated.filter((claim) => !most.includes(claim));
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

/** Whether their hashes differ, and no third source shows that one is back on the other's fork. */
function areOnForks(a: Claim, b: Claim, scene: Scene): boolean {
  const [first, second] = a.key < b.key ? [a, b] : [b, a];
  return areForked(first, second) && !isBack(a, b, scene) && !isBack(b, a, scene);
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

/** Whether a third source on the other's fork has its newest hash. */
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
