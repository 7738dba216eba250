import { NEW_CLOCK } from "../head/chain-clock.ts";
import type { ChainState, WatchedChain } from "../head/chain-state.ts";
import { NO_CONSENSUS } from "../head/consensus.ts";
import { endpointsOf, type Fleet, indexerKey, providersOf } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import type { Observation } from "../model/observation.ts";
import { watchProbes } from "../parity/watched-probe.ts";
import { observeInstant } from "./observe.ts";

/**
 * Answers of different sources that are received within less than this are of one instant: their order says little, since
 * each poll takes about as long, and what follows from all sources is worked out once for them.
 */
const INSTANT_MS = 250;

/** The chains of a fleet that have targets or RPC nodes, each with all of its targets. */
export function watchFleet(fleet: Fleet): readonly WatchedChain[] {
  const targets = groupBy(
    fleet.indexers.flatMap(({ endpoints }) => endpoints.flatMap((endpoint) => endpoint.targets)),
    ({ chain }) => chain,
  );
  const baselines = baselineIndexers(fleet);
  const providers = Object.fromEntries(
    endpointsOf(fleet)
      .flatMap(providersOf)
      .map(({ source, provider }) => [source, provider]),
  );
  return fleet.chains.map((chain) => {
    const here = targets.get(chain.slug) ?? [];
    const compared = here.filter((target) => baselines.get(target.protocol) === indexerKey(target));
    const probes = watchProbes(fleet, chain.slug);
    return {
      chain,
      targets: here,
      providers,
      baselines: Object.fromEntries(compared.map((target) => [target.protocol, target.key])),
      ...(probes.length === 0 ? {} : { probes }),
    };
  });
}

/** The state of a chain of which nothing is known yet. */
export function startChain({ sentTo }: WatchedChain): ChainState {
  const nothing = { sources: [], consensus: NO_CONSENSUS, clock: NEW_CLOCK };
  return sentTo === undefined ? nothing : { ...nothing, sentTo };
}

/**
 * Folds observations into a chain's state, instant by instant; within one instant their order does not matter.
 * Observations of sources that are not watched change nothing.
 */
export function observeChain(
  state: ChainState,
  watched: WatchedChain,
  batch: readonly Observation[],
): ChainState {
  return batch.length === 1
    ? observeInstant(state, watched, batch)
    : instantsOf(batch).reduce((folded, instant) => observeInstant(folded, watched, instant), state);
}

/** Oldest first. Two answers of one source are of two instants, unless they were received in the same millisecond. */
function instantsOf(batch: readonly Observation[]): readonly (readonly Observation[])[] {
  const instants: Observation[][] = [];
  let instant: Observation[] = [];
  let startMs = Number.NEGATIVE_INFINITY;
  let timesMs = new Map<string, number>();
  for (const observation of batch.toSorted((a, b) => a.receivedAtMs - b.receivedAtMs)) {
    const { receivedAtMs, source } = observation;
    const isAgain = (timesMs.get(source) ?? receivedAtMs) !== receivedAtMs;
    if (isAgain || receivedAtMs - startMs >= INSTANT_MS) {
      instant = [];
      instants.push(instant);
      startMs = receivedAtMs;
      timesMs = new Map();
    }
    instant.push(observation);
    timesMs.set(source, receivedAtMs);
  }
  return instants;
}

/** Per protocol, the indexer that the others are compared with: its first variant's production tier, or its only one. */
function baselineIndexers(fleet: Fleet): ReadonlyMap<string, string> {
  const baselines = new Map<string, string>();
  for (const first of fleet.indexers) {
    if (!baselines.has(first.protocol)) {
      const tiers = fleet.indexers.filter(
        ({ protocol, variant }) => protocol === first.protocol && variant === first.variant,
      );
      baselines.set(first.protocol, indexerKey(tiers.find(({ tier }) => tier === "production") ?? first));
    }
  }
  return baselines;
}
