import type { WatchedChain, WatchedSource } from "../head/chain-state.ts";
import {
  type Endpoint,
  endpointsOf,
  type Fleet,
  indexerKey,
  isProduction,
  providersOf,
  type Target,
} from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import { watchProbes } from "../parity/watched-probe.ts";

/** The chains of a fleet, each with all that is polled for it. `digestOf` makes of a URL what may be stored. */
export function watchFleet(fleet: Fleet, digestOf: (url: string) => string): readonly WatchedChain[] {
  const baselines = baselineIndexers(fleet);
  const ids = new Map(fleet.chains.map(({ slug, id }) => [slug, id]));
  const sources = groupBy(
    endpointsOf(fleet).flatMap((endpoint) => sourcesOf(endpoint, ids, digestOf)),
    ({ chain }) => chain,
  );
  const targets = groupBy(
    fleet.indexers.flatMap(({ endpoints }) => endpoints.flatMap((endpoint) => endpoint.targets)),
    ({ chain }) => chain,
  );
  return fleet.chains.map((chain) => {
    const here = targets.get(chain.slug) ?? [];
    const compared = here.filter((target) => baselines.get(target.protocol) === indexerKey(target));
    return {
      chain,
      targets: here,
      sources: new Map((sources.get(chain.slug) ?? []).map(({ key, source }) => [key, source])),
      // Of several the first.
      baselines: new Map(compared.toReversed().map((target) => [target.protocol, target])),
      probes: watchProbes(fleet, chain.slug),
    };
  });
}

interface SourceOfChain {
  readonly key: string;
  readonly chain: string;
  readonly source: WatchedSource;
}

function sourcesOf(
  endpoint: Endpoint,
  ids: ReadonlyMap<string, number>,
  digestOf: (url: string) => string,
): readonly SourceOfChain[] {
  const { key, kind, pollIntervalMs, url } = endpoint;
  const digest = digestOf(url);
  const own: readonly Pick<Target, "key" | "chain">[] =
    kind === "rpc" ? [{ key, chain: endpoint.chain ?? "" }] : endpoint.targets;
  const providers = new Map(providersOf(endpoint).map(({ source, provider }) => [source, provider]));
  return own.map(({ key: source, chain }) => ({
    key: source,
    chain,
    source: {
      kind,
      hasBlocks: kind === "rpc" && endpoint.dialect === "rpc",
      pollIntervalMs,
      provider: providers.get(source) ?? source,
      sentTo: `${ids.get(chain) ?? ""} ${digest}`,
    },
  }));
}

/** Per protocol, the indexer that the others are compared with: its first variant's production tier, or its only one. */
function baselineIndexers(fleet: Fleet): ReadonlyMap<string, string> {
  const baselines = new Map<string, string>();
  for (const first of fleet.indexers) {
    if (!baselines.has(first.protocol)) {
      const tiers = fleet.indexers.filter(
        ({ protocol, variant }) => protocol === first.protocol && variant === first.variant,
      );
      baselines.set(first.protocol, indexerKey(tiers.find(isProduction) ?? first));
    }
  }
  return baselines;
}
