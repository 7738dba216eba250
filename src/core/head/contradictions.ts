import type { Conflict, Pace } from "./chain-state.ts";
import { areLevel, type Claim, heaviest, highestIn, keysOf, mostBlocksIn, providersOf } from "./claim.ts";

/** Two timestamps may be wrong by so much. */
const TIME_TOLERANCE_MS = 120_000;
/** A source without block times may follow its chain from afar: a follower of final blocks is 1 to 15 minutes behind. */
const UNDATED_MS = 600_000;

/**
 * The sources that can be right together: those compatible with the claim that has the most providers, then the most sources,
 * then the most sources level with it, then a fresh RPC node, then sources on the track. Several sets if all of that is equal.
 */
export function largestSets(claims: readonly Claim[], pace: Pace): readonly (readonly Claim[])[] {
  for (const claim of claims) {
    claim.atHeadMs = provenAtHeadMs(claim, claims, pace);
  }
  const sets = new Map<string, readonly Claim[]>();
  // A source that is behind by its own word does not say where the head is.
  const highest = highestIn(claims);
  const heads = claims.filter((claim) => claim.age !== "old" || highest.includes(claim));
  for (const supposed of providersOf(heads) > 1 ? heads : claims) {
    const set = compatibleWith(supposed, claims, pace);
    if (set.length === claims.length) {
      return [set];
    }
    sets.set(keysOf(set).join(" "), set);
  }
  const largest = heaviest([...sets.values()], (set) => [providersOf(set), set.length]);
  return largest.length === 1
    ? largest
    : heaviest(largest, (set) => [
        Math.max(...set.map((top) => providersOf(set.filter((claim) => areLevel(claim, top, pace))))),
        Number(set.some(({ isProof }) => isProof)),
        set.filter(({ isOnTrack }) => isOnTrack).length,
      ]);
}

/** The claims that can be right if one is at the head; of two on different forks that fit it, the first. */
function compatibleWith(supposed: Claim, claims: readonly Claim[], pace: Pace): readonly Claim[] {
  const set = [supposed];
  for (const claim of claims) {
    const isCompatible = claim !== supposed && conflictOf(claim, supposed, pace) === null;
    if (isCompatible && !set.some((other) => areForked(claim, other))) {
      set.push(claim);
    }
  }
  return claims.filter((claim) => set.includes(claim));
}

/** Why a claim cannot be right if `supposed` is at the head, or null. */
export function conflictOf(claim: Claim, supposed: Claim, pace: Pace): Conflict | null {
  if (areForked(claim, supposed)) {
    return "hash";
  }
  if (claim.timeMs !== null && supposed.timeMs !== null) {
    // Level sources are on one chain, even if their times differ.
    return fitOneChain(claim, supposed, pace) || areLevel(claim, supposed, pace) ? null : "times";
  }
  const isDated = claim.timeMs !== null;
  const blocks = Math.abs(claim.block - supposed.block);
  if (claim.block > supposed.block) {
    // A source that is late by the time of its block says nothing of what the chain has made since.
    const spanMs = claim.atMs - Math.min(supposed.atMs, supposed.timeMs ?? supposed.atMs);
    return blocks > mostBlocks(spanMs, false, pace) ? "ahead" : null;
  }
  // The lower is wrong if its block was the head when the chain cannot have made so many blocks since.
  const { age, atHeadMs } = claim;
  if (atHeadMs === null || blocks <= mostBlocks(supposed.atMs - atHeadMs, isDated, pace)) {
    return null;
  }
  return age === "fresh" ? "ahead" : "below";
}

/** By how many blocks two sources may be apart over a time; one without times may follow its chain from afar. */
export function mostBlocks(spanMs: number, isDated: boolean, pace: Pace): number {
  const most = mostBlocksIn(spanMs, pace);
  return isDated || pace.intervalMs === null
    ? most
    : Math.max(most, (UNDATED_MS + Math.max(0, spanMs)) / pace.intervalMs);
}

function provenAtHeadMs(claim: Claim, claims: readonly Claim[], pace: Pace): number | null {
  const { advancedMs, block, isBackfilling, isOnTrack, provider, timeMs, wasOnTrack } = claim;
  if (timeMs !== null) {
    return timeMs;
  }
  if (isBackfilling || advancedMs === null || hasFallen(claim, claims)) {
    return null;
  }
  // Independent sources do not lag alike.
  const hasCompany = () =>
    claims.some(
      (one) =>
        one.provider !== provider &&
        areLevel(claim, one, pace) &&
        (one.isMoving || (wasOnTrack && one.wasOnTrack && one.block === block)),
    );
  return isOnTrack || hasCompany() ? advancedMs : null;
}

/** Whether it was on the track and fell below it, while another source is still on it. */
function hasFallen({ block, offTrack, wasOnTrack }: Claim, claims: readonly Claim[]): boolean {
  return wasOnTrack && offTrack < 0 && claims.some((other) => other.block > block && other.isOnTrack);
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

/** The sources whose block times contradict the majority of a set: by providers, then sources, then new blocks. */
export function misdatedIn(set: readonly Claim[], pace: Pace): readonly Claim[] {
  const dated = set.filter(({ timeMs }) => timeMs !== null);
  const fittings = dated.map((supposed) => dated.filter((claim) => fitOneChain(claim, supposed, pace)));
  const [most = []] = heaviest(fittings, (fitting) => [
    providersOf(fitting),
    fitting.length,
    fitting.filter(({ age }) => age === "fresh").length,
  ]);
  return dated.filter((claim) => !most.includes(claim));
}

/** Different hashes at the last two heights that both have shown: at one height alone it may be a reorg at the tip. */
function areForked(a: Claim, b: Claim): boolean {
  if (a === b || !a.source.sharesHashes || !b.source.sharesHashes) {
    return false;
  }
  const { samples } = a.source;
  let mismatches = 0;
  for (let index = samples.length - 1; index >= 0 && mismatches < 2; index -= 1) {
    const sample = samples[index];
    const same = b.source.samples.findLast(({ block, hash }) => block === sample?.block && hash !== null);
    if (sample?.hash == null || same === undefined) {
      continue;
    }
    if (same.hash === sample.hash) {
      return false;
    }
    mismatches += 1;
  }
  return mismatches === 2;
}
