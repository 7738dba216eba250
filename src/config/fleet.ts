import { destinationOf } from "../budgets/accounts.ts";
import type { Budget, Chain, Endpoint, Fleet, Indexer, Thresholds } from "../core/model/fleet.ts";
import { indexerKey } from "../core/model/fleet.ts";
import type { MaintenanceWindow } from "../core/model/maintenance-window.ts";
import { readFilledUrl, withCredentials } from "./address.ts";
import type { IndexerEntry } from "./indexer-schema.ts";
import { IndexerResolver, type ResolvedIndexer, SHARED_ENDPOINT } from "./indexers.ts";
import { resolveWindow } from "./maintenance.ts";
import { carriedBy, resolveProbes } from "./parity.ts";
import type { Spot } from "./problems.ts";
import { durationLiteral } from "./quantities.ts";
import { withoutBudget, withSchedules } from "./schedules.ts";
import type { ChainEntry, ConfigFile, ThresholdsEntry } from "./schema.ts";
import type { Secrets } from "./secrets.ts";
import { didYouMean, type EntriesOf } from "./shape.ts";
import { wellKnownChain } from "./well-known-chains.ts";

/** chains.yaml, parsed entry by entry. */
export type Sections = EntriesOf<typeof ConfigFile>;

const DEFAULT_THRESHOLDS: Thresholds = {
  laggingMs: 10 * 60_000,
  criticalMs: 30 * 60_000,
  stalledMs: 10 * 60_000,
  staleMs: 5 * 60_000,
};

/** This much of the digest of a URL distinguishes the nodes of one chain. */
const RPC_DIGEST_CHARS = 12;

/** Resolves what is polled and when it is in maintenance. If a problem was added, the result must not be used. */
export function resolveFleet(
  sections: Sections,
  top: Spot,
  secrets: Secrets,
): { readonly fleet: Fleet; readonly maintenance: readonly MaintenanceWindow[] } {
  const budgets = whole(sections.budgets).map(([name, budget]): Budget => ({ name, ...budget }));
  const indexers = resolveIndexers(sections, top, secrets);
  const polled = indexers.filter(({ skipped }) => skipped === null);
  const endpoints = withSchedules(
    polled.flatMap(({ drafts }) => drafts),
    budgets,
  );
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
    rpcEndpoints: resolveRpcNodes(sections, top, secrets),
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
  const chainIds =
    sections.chains && new Map([...sections.chains].map(([slug, chain]) => [slug, chain?.id ?? 0]));
  const keys = new Set<string>();
  return whole(sections.protocols).flatMap(([protocol, entries]) =>
    entries.flatMap((entry, index) => {
      if (entry === null) {
        return [];
      }
      const spot = top.at("protocols", protocol, index);
      const key = indexerKey({ protocol, ...entry });
      if (keys.has(key)) {
        spot.at("variant").add(`${key} is listed twice; give one of them another variant or tier`);
      }
      keys.add(key);
      checkBudgetNames(entry, spot, sections);
      const selections = (sections.parity ?? [])
        .filter((probe) => probe?.protocol === protocol)
        .flatMap((probe) => probe?.queries[entry.variant]?.select ?? []);
      return [new IndexerResolver(protocol, entry, spot, secrets).resolve(chainIds, selections)];
    }),
  );
}

function checkBudgetNames(entry: IndexerEntry, spot: Spot, { budgets }: Sections): void {
  const chains = Array.isArray(entry.chains) ? {} : entry.chains;
  const named = [
    [entry.budget, spot] as const,
    ...Object.entries(chains).map(([slug, { budget }]) => [budget, spot.at("chains", slug)] as const),
  ];
  for (const [name, owner] of named) {
    if (typeof name === "string" && budgets?.has(name) === false) {
      owner.at("budget").add(() => `unknown budget "${name}"${didYouMean(name, [...budgets.keys()])}`);
    }
  }
}

function resolveChains({ chains, thresholds }: Sections, top: Spot): readonly Chain[] {
  const common = withThresholds(DEFAULT_THRESHOLDS, thresholds ?? {}, top.at("thresholds"));
  const slugsById = new Map<number, string>();
  return whole(chains).map(([slug, entry]) => {
    const spot = top.at("chains", slug);
    if (slug === SHARED_ENDPOINT) {
      const reason = "the name of an endpoint that serves several chains";
      spot.add(`a chain cannot be called "${slug}", ${reason}`, "key");
    }
    const other = slugsById.get(entry.id);
    if (other !== undefined) {
      spot.at("id").add(`chain "${other}" has the id ${entry.id} already`);
    }
    slugsById.set(entry.id, other ?? slug);
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
  // A section that sets neither inherits what is wrong.
  if (laggingMs > criticalMs && (lagging ?? critical) !== undefined) {
    spot.add(`lagging ${durationLiteral(laggingMs)} is above critical ${durationLiteral(criticalMs)}`);
  }
  return { laggingMs, criticalMs, stalledMs: stalled ?? base.stalledMs, staleMs: stale ?? base.staleMs };
}

/** The JSON-RPC nodes of all chains. */
function resolveRpcNodes({ chains, poll }: Sections, top: Spot, secrets: Secrets): readonly Endpoint[] {
  const schedule = poll?.rpc_schedule ?? "auto";
  return whole(chains).flatMap(([slug, { id, rpc }]) => {
    const nodes = new Map<string, Endpoint>();
    for (const [index, entry] of rpc.entries()) {
      const spot = top.at("chains", slug, "rpc", index);
      const node = resolveRpcNode(slug, entry, spot, secrets);
      if (node !== null && nodes.has(node.key)) {
        spot.add(`chain "${slug}" has this URL already`);
      } else if (node !== null) {
        nodes.set(node.key, withoutBudget({ ...node, chainId: id, schedule }));
      }
    }
    return [...nodes.values()];
  });
}

/** The key begins so that people recognise the node, and ends so that two nodes of one host differ. */
function resolveRpcNode(
  slug: string,
  entry: ChainEntry["rpc"][number],
  spot: Spot,
  secrets: Secrets,
): Endpoint | null {
  const { url: text, provider } = typeof entry === "string" ? { url: entry } : entry;
  const filled = secrets.fill(text, new Map());
  for (const { kind, what } of filled.problems) {
    const advice = kind === "unset" ? "; set it, or remove this URL" : "";
    spot.add(
      kind === "missing" ? "placeholders do not work in rpc; write each URL in full" : `${what}${advice}`,
    );
  }
  const url = filled.problems.length > 0 ? null : readFilledUrl(filled, spot, secrets);
  return (
    url && {
      key: `rpc/${slug}/${url.host}/${destinationOf(url.href).slice(0, RPC_DIGEST_CHARS)}`,
      kind: "rpc",
      protocol: "",
      variant: "rpc",
      tier: "",
      name: slug,
      url: url.href,
      host: url.host,
      headers: withCredentials({}, url, secrets),
      dialect: "rpc",
      ...(provider === undefined ? {} : { provider }),
      schedule: "auto",
      pollIntervalMs: 0,
      budget: null,
      targets: [],
      chain: slug,
    }
  );
}
