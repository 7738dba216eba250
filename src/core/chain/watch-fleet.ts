import { endpointsOf, type Fleet, indexerKey, isProduction, type Target } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import { queryKeyOf } from "../model/selection.ts";
import { watchProbes } from "../parity/watched-probe.ts";
import { NO_QUERIES, type WatchedChain, type WatchedSource } from "./chain-state.ts";

/** The chains of a fleet, each with its sources and probes. `digestOf` turns a URL into a text that may be stored. */
export function watchFleet(fleet: Fleet, digestOf: (url: string) => string): readonly WatchedChain[] {
  const sources = sourcesByChain(fleet, digestOf);
  const targets = groupBy(
    fleet.indexers.flatMap(({ endpoints }) => endpoints.flatMap((endpoint) => endpoint.targets)),
    ({ chain }) => chain,
  );
  return fleet.chains.map((chain) => {
    const here = targets.get(chain.slug) ?? [];
    return {
      chain,
      targets: here,
      sources: sources.get(chain.slug) ?? new Map<string, WatchedSource>(),
      baselines: baselinesAmong(here, fleet),
      probes: watchProbes(fleet, chain.slug),
    };
  });
}

function sourcesByChain(
  fleet: Fleet,
  digestOf: (url: string) => string,
): ReadonlyMap<string, ReadonlyMap<string, WatchedSource>> {
  const byChain = new Map(fleet.chains.map(({ slug }) => [slug, new Map<string, WatchedSource>()]));
  const ids = new Map(fleet.chains.map(({ slug, id }) => [slug, id]));
  for (const endpoint of endpointsOf(fleet)) {
    const { dialect, host, kind, pollIntervalMs, selections, targets } = endpoint;
    const hasBlocks = kind === "rpc" && dialect === "rpc";
    const digest = digestOf(endpoint.url);
    const queriesOf = groupBy(selections ?? [], ({ target }) => target);
    for (const { chain, key, provider = host } of kind === "rpc" ? [endpoint] : targets) {
      const slug = chain ?? "";
      const sentTo = `${ids.get(slug) ?? ""} ${digest}`;
      const own = queriesOf.get(key);
      const queries =
        own === undefined ? NO_QUERIES : new Map(own.map((one) => [queryKeyOf(one), one.probe]));
      byChain.get(slug)?.set(key, { kind, hasBlocks, pollIntervalMs, provider, sentTo, queries });
    }
  }
  return byChain;
}

/** By protocol, the target of the first variant: of its production tier, else of its first tier. */
function baselinesAmong(targets: readonly Target[], fleet: Fleet): ReadonlyMap<string, Target> {
  const baselines = new Map<string, Target>();
  for (const [protocol, indexers] of groupBy(fleet.indexers, (indexer) => indexer.protocol)) {
    const tiers = indexers.filter(({ variant }) => variant === indexers[0]?.variant);
    const compared = tiers.find(isProduction) ?? indexers[0];
    const target = targets.find((one) => compared !== undefined && indexerKey(one) === indexerKey(compared));
    if (target !== undefined) {
      baselines.set(protocol, target);
    }
  }
  return baselines;
}
