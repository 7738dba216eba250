import type { ParityReading } from "../model/parity.ts";
import { highestShared } from "./compare.ts";
import { addFailure, addReading, forgetValues, type KnownValues, newKnownValues } from "./known-values.ts";
import { foldComparison, newPair, type PairState, withoutResult } from "./pair-state.ts";
import { type ParityPair, type ProbedTarget, readingIntervalMs, type WatchedProbe } from "./watched-probe.ts";

/** What is known of the values of one chain: plain data, replaced and never edited. */
export interface ParityState {
  readonly sources: readonly KnownValues[];
  readonly pairs: readonly PairState[];
}

export const NO_PARITY: ParityState = { sources: [], pairs: [] };

/** A reading, and whether its source can be relied on. */
export interface TakenReading {
  readonly reading: ParityReading;
  /** `doubted`: its heights may be of another chain or fork, so that nothing it said counts; `ignored`: this reading does not. */
  readonly trust: "trusted" | "doubted" | "ignored";
  /** The deployment that answered, where it is known. */
  readonly deployment: string | null;
}

/** A comparison is no longer evidence after so many of the longest intervals between readings. */
const STALE_INTERVALS = 3;

/** Folds in readings that came together, then compares every pair that they concern once. Their order does not matter. */
export function observeReadings(
  state: ParityState,
  watched: { readonly probes: readonly WatchedProbe[]; readonly staleMs: number },
  taken: readonly TakenReading[],
): ParityState {
  return watched.probes.reduce((folded, probe) => {
    const own = taken.filter(({ reading }) => reading.probe === probe.name);
    return own.length === 0 ? folded : observeProbe(folded, { probe, staleMs: watched.staleMs }, own);
  }, state);
}

/** The state without removed or changed probes, and without removed targets. */
export function retainParity(
  state: ParityState,
  probes: readonly WatchedProbe[],
  isKept: (target: string) => boolean,
): ParityState {
  const sources = state.sources.filter(
    (known) => isKept(known.target) && asked(known, probes)?.query === known.query,
  );
  const kept = new Set(sources.map(idOf));
  const pairs = state.pairs.filter(
    (pair) =>
      probes.some(({ name, pairs: own }) => name === pair.probe && own.some((one) => isOf(pair, one))) &&
      kept.has(idOf({ probe: pair.probe, target: pair.target })) &&
      kept.has(idOf({ probe: pair.probe, target: pair.against })),
  );
  return { sources, pairs };
}

/** What is known of one target, or undefined. */
export function knownValuesOf(
  { sources }: ParityState,
  { probe, target }: Pick<KnownValues, "probe" | "target">,
): KnownValues | undefined {
  return sources.find((known) => known.target === target && known.probe === probe);
}

/** What is known of a pair. One that was never compared is new. */
export function pairStateOf(
  { pairs }: ParityState,
  { name }: Pick<WatchedProbe, "name">,
  pair: ParityPair,
): PairState {
  return (
    pairs.find((state) => state.probe === name && isOf(state, pair)) ??
    newPair({ probe: name, target: pair.target.key, against: pair.against.key })
  );
}

/** How long a comparison stays evidence. */
export function parityStaleMs(probe: WatchedProbe, { target, against }: ParityPair, staleMs: number): number {
  const intervalMs = Math.max(readingIntervalMs(probe, target), readingIntervalMs(probe, against));
  return Math.max(staleMs, STALE_INTERVALS * intervalMs);
}

interface StaleProbe {
  readonly probe: WatchedProbe;
  readonly staleMs: number;
}

function observeProbe(state: ParityState, watched: StaleProbe, taken: readonly TakenReading[]): ParityState {
  const { probe } = watched;
  const updated = probe.targets.flatMap((probed) => {
    const own = taken.filter(({ reading }) => reading.target === probed.target.key);
    const intervalMs = readingIntervalMs(probe, probed.target);
    return own.length === 0
      ? []
      : [own.reduce((known, one) => take(known, one, intervalMs), startOf(state, probe, probed))];
  });
  const replaced = new Map(updated.map((known) => [idOf(known), known]));
  const sources = [...state.sources.filter((known) => !replaced.has(idOf(known))), ...updated];
  const changed = new Set(updated.map(({ target }) => target));
  const nowMs = Math.max(...taken.map(({ reading }) => reading.receivedAtMs));
  const pairs = probe.pairs
    .filter(({ target, against }) => changed.has(target.key) || changed.has(against.key))
    .map((pair) => comparePair({ sources, pairs: state.pairs }, { ...watched, pair }, nowMs));
  return {
    sources,
    pairs: [...state.pairs.filter((known) => !pairs.some((one) => isSamePair(known, one))), ...pairs],
  };
}

function startOf(state: ParityState, { name }: WatchedProbe, { target, query }: ProbedTarget): KnownValues {
  const known = knownValuesOf(state, { probe: name, target: target.key });
  return known?.query === query ? known : newKnownValues({ probe: name, target: target.key, query });
}

function take(
  known: KnownValues,
  { reading, trust, deployment }: TakenReading,
  intervalMs: number,
): KnownValues {
  if (reading.kind === "failed") {
    return addFailure(known, reading.detail);
  }
  if (trust !== "trusted") {
    return trust === "doubted" ? forgetValues(known) : known;
  }
  const isRedeployed = known.deployment !== null && deployment !== null && known.deployment !== deployment;
  const { block, value, receivedAtMs } = reading;
  const told = addReading(
    isRedeployed ? forgetValues(known) : known,
    { block, value, atMs: receivedAtMs },
    intervalMs,
  );
  return { ...told, deployment: deployment ?? told.deployment };
}

function comparePair(
  state: ParityState,
  { probe, pair, staleMs }: StaleProbe & { readonly pair: ParityPair },
  nowMs: number,
): PairState {
  const known = pairStateOf(state, probe, pair);
  const isStale = known.last !== null && nowMs - known.last.atMs > parityStaleMs(probe, pair, staleMs);
  const current = isStale ? withoutResult(known) : known;
  const own = knownValuesOf(state, { probe: probe.name, target: pair.target.key });
  const against = knownValuesOf(state, { probe: probe.name, target: pair.against.key });
  if (own === undefined || against === undefined) {
    return current;
  }
  if (own.runs.length === 0 || against.runs.length === 0) {
    // One of them can no longer be relied on.
    return newPair(known);
  }
  const shared = highestShared(own, against);
  if (shared === null) {
    return current;
  }
  // Both went back below what was compared, and stay there: the chain has started again.
  const isBelow = isStale && shared.block + shared.belowHead < known.last.block;
  return foldComparison(isBelow ? newPair(known) : current, { shared, own, against, nowMs });
}

function asked({ probe, target }: KnownValues, probes: readonly WatchedProbe[]): ProbedTarget | undefined {
  return probes.find(({ name }) => name === probe)?.targets.find((one) => one.target.key === target);
}

function idOf({ probe, target }: Pick<KnownValues, "probe" | "target">): string {
  return `${probe} ${target}`;
}

function isOf(state: PairState, { target, against }: ParityPair): boolean {
  return state.target === target.key && state.against === against.key;
}

function isSamePair(one: PairState, other: PairState): boolean {
  return one.probe === other.probe && one.target === other.target && one.against === other.against;
}
