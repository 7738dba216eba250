import type { Budget, Chain, Fleet, Indexer, Thresholds } from "../core/model/fleet.ts";
import { indexerKey } from "../core/model/fleet.ts";
import type { MaintenanceWindow } from "../core/model/maintenance-window.ts";
import { IndexerResolver, type ResolvedIndexer, SHARED_ENDPOINT } from "./indexers.ts";
import { resolveWindow } from "./maintenance.ts";
import { carriedBy, resolveProbes } from "./parity.ts";
import type { Spot } from "./problems.ts";
import { durationLiteral } from "./quantities.ts";
import { resolveRpcNodes } from "./rpc-nodes.ts";
import { withSchedules } from "./schedules.ts";
import type { ConfigFile, ThresholdsEntry } from "./schema.ts";
import type { Secrets } from "./secrets.ts";
import type { EntriesOf } from "./shape.ts";
import { wellKnownChain } from "./well-known-chains.ts";

/** chains.yaml, parsed entry by entry. */
export type Sections = EntriesOf<typeof ConfigFile>;

const DEFAULT_THRESHOLDS: Thresholds = {
  laggingMs: 10 * 60_000,
  criticalMs: 30 * 60_000,
  stalledMs: 10 * 60_000,
  staleMs: 5 * 60_000,
};

/** Resolves the endpoints and the maintenance windows. If a problem was added, the result must not be used. */
export function resolveFleet(
  sections: Sections,
  top: Spot,
  secrets: Secrets,
): { readonly fleet: Fleet; readonly maintenance: readonly MaintenanceWindow[] } {
  const budgets = whole(sections.budgets).map(([name, budget]): Budget => ({ name, ...budget }));
  const indexers = resolveIndexers(sections, top, secrets);
  const polled = indexers.filter(({ skipped }) => skipped === null);
  const nodes = resolveRpcNodes(sections, top, secrets);
  const endpoints = withSchedules([...polled.flatMap(({ drafts }) => drafts), ...nodes], budgets);
  const served = indexers.flatMap((indexer) => indexer.served);
  const probes = resolveProbes(sections, top, served);
  const isWhole = [...(sections.protocols?.values() ?? [null])].every((entries) =>
    entries?.every((entry) => entry !== null),
  );
  const maintenance = (sections.maintenance ?? []).flatMap((entry, index) => {
    const spot = top.at("maintenance", index);
    return (entry && resolveWindow(entry, spot, isWhole ? served : null)) ?? [];
  });
  const fleet = {
    chains: resolveChains(sections, top),
    indexers: polled.map(({ protocol, variant, tier, drafts }): Indexer => {
      const own = drafts.flatMap(({ endpoint }) => endpoints.get(endpoint.key) ?? []);
      return { protocol, variant, tier, endpoints: own.map((endpoint) => carriedBy(probes, endpoint)) };
    }),
    rpcEndpoints: nodes.flatMap(({ endpoint }) => endpoints.get(endpoint.key) ?? []),
    budgets,
    skipped: indexers.flatMap(({ protocol, variant, tier, skipped }) =>
      skipped === null ? [] : [{ protocol, variant, tier, why: skipped }],
    ),
    parity: probes.map(({ selections: _, ...probe }) => probe),
  };
  return { fleet, maintenance };
}

/** The entries of a map that are not broken. */
function whole<Entry>(
  entries: ReadonlyMap<string, Entry | null> | null,
): readonly (readonly [string, Entry])[] {
  return [...(entries ?? [])].flatMap(([name, entry]) => (entry === null ? [] : [[name, entry] as const]));
}

function resolveIndexers(sections: Sections, top: Spot, secrets: Secrets): readonly ResolvedIndexer[] {
  return whole(sections.protocols).flatMap(([protocol, entries]) =>
    entries.flatMap((entry, index) => {
      if (entry === null) {
        return [];
      }
      const spot = top.at("protocols", protocol, index);
      spot.at("variant").claim(indexerKey({ protocol, ...entry }));
      const selections = (sections.parity ?? [])
        .filter((probe) => probe?.protocol === protocol)
        .flatMap((probe) => probe?.queries[entry.variant]?.select ?? []);
      return [new IndexerResolver(protocol, entry, spot, secrets).resolve(sections, selections)];
    }),
  );
}

function resolveChains({ chains, thresholds }: Sections, top: Spot): readonly Chain[] {
  const common = withThresholds(DEFAULT_THRESHOLDS, thresholds ?? {}, top.at("thresholds"));
  return whole(chains).map(([slug, entry]) => {
    const spot = top.at("chains", slug);
    if (slug === SHARED_ENDPOINT) {
      const reason = "the name of an endpoint that serves several chains";
      spot.add(`a chain cannot be called "${slug}", ${reason}`, "key");
    }
    spot.at("id").claim(`chain id ${entry.id}`);
    const known = wellKnownChain(entry.id);
    return {
      slug,
      id: entry.id,
      name: entry.name ?? known?.name ?? slug,
      blockTimeMs: entry.block_time ?? known?.blockTimeMs ?? null,
      testnet: entry.testnet ?? known?.testnet ?? false,
      explorer: entry.explorer === undefined ? (known?.explorer ?? null) : entry.explorer,
      thresholds: withThresholds(common, entry.thresholds, spot.at("thresholds")),
    };
  });
}

function withThresholds(
  base: Thresholds,
  { lagging, critical, stalled, stale }: ThresholdsEntry,
  spot: Spot,
): Thresholds {
  const laggingMs = lagging ?? base.laggingMs;
  const criticalMs = critical ?? base.criticalMs;
  // A section with neither inherits the problem.
  if (laggingMs > criticalMs && (lagging ?? critical) !== undefined) {
    spot.add(`lagging ${durationLiteral(laggingMs)} is above critical ${durationLiteral(criticalMs)}`);
  }
  return { laggingMs, criticalMs, stalledMs: stalled ?? base.stalledMs, staleMs: stale ?? base.staleMs };
}
