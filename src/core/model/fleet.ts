import type { End } from "./end.ts";
import { groupBy } from "./group-by.ts";
import type { Limit } from "./limit.ts";
import { memoize } from "./memoize.ts";
import type { ParityProbe } from "./parity.ts";
import type { Selection } from "./selection.ts";

/** The fleet as the configuration describes it. */

/** The limits of a lag, of a standstill, and of the age of an observation. */
export interface Thresholds {
  /** A target further behind the reference than this is `lagging`. */
  readonly lagging: Limit;
  readonly critical: Limit;
  /** No advance for this long, or for 50 block times, whichever is longer, is `stalled`. */
  readonly stalledMs: number;
  /** An observation older than this and than three polls is no longer evidence. */
  readonly staleMs: number;
}

export interface Chain {
  readonly slug: string;
  readonly id: number;
  readonly name: string;
  /** The expected time between blocks, as configured or as is well known, or null. */
  readonly blockTimeMs: number | null;
  readonly testnet: boolean;
  /** The address of its block explorer, or null. */
  readonly explorer: string | null;
  readonly thresholds: Thresholds;
  /** Where it ends, as configured; absent: it does not end. */
  readonly until?: End;
}

/** One indexer on one chain: what gets a height and a status. */
export interface Target {
  /** `protocol/variant/tier/chain`, unique in a fleet. */
  readonly key: string;
  readonly protocol: string;
  readonly variant: string;
  readonly tier: string;
  /** The chain's slug. */
  readonly chain: string;
  readonly chainId: number;
  /** The deployment that a poll asks for; only for dialect `graph-status`. */
  readonly deployment?: string;
  /** The provider, as configured; absent: the host of its endpoint. */
  readonly provider?: string;
  readonly explorer: string | null;
  readonly playground: string | null;
  /** The thresholds of its indexer; absent: those of its chain apply. */
  readonly thresholds?: Thresholds;
  /** Where its indexer ends on this chain, as configured. */
  readonly until?: End;
  /** The time between two polls of its endpoint, which decides when its evidence is stale. */
  readonly pollIntervalMs: number;
}

/**
 * How an indexer is asked, and where the values are in its reply. A path is a list of field names and of positions in lists,
 * joined by dots: `$` is the start itself, `$key` is the key of a row, `a|b` is b if a is absent or null, and a path that ends
 * in `?` may be absent. Paths start at `root`, or at a row of `rows`.
 */
export interface Form {
  /** GraphQL queries, richest first. Without `query` and `body` it is a GET. */
  readonly query?: string | readonly string[] | undefined;
  /** The JSON that is sent instead of a query. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  /**
   * A path from the whole reply. Without it, all other paths start at the `data` or `result` of a POST, and at the whole reply
   * to a GET.
   */
  readonly root?: string | undefined;
  /**
   * The list that has a row per chain; with `.*` at its end, the object whose values are the rows. Without it, the reply is one
   * row.
   */
  readonly rows?: string | undefined;
  readonly height: string;
  readonly time?: string | undefined;
  readonly chainId?: string | undefined;
  /** The slugs of chains, by the names that rows use instead of ids. */
  readonly chains?: Readonly<Record<string, string>> | undefined;
  /** The ids of chains, by the names in `chains` and by slug; made for each endpoint. */
  readonly chainIds?: ReadonlyMap<string, number>;
  readonly hash?: string | undefined;
  readonly deployment?: string | undefined;
  /** A value that is true, or not empty, once indexing has failed. */
  readonly failed?: string | undefined;
  /** A word that ends in `completed` once everything is indexed. */
  readonly completed?: string | undefined;
  /** Heights that mean "not started"; 0 always does. */
  readonly notStarted?: readonly (string | number | null)[] | undefined;
}

/** Which gauges of a Prometheus page have the height and its time, and which label has the chain. */
export interface MetricsForm {
  readonly height: string;
  /** In unix seconds. */
  readonly time?: string | undefined;
  /** The label with the chain: an id (`8453` or `evm:8453`), a slug, or a key of `chains`. Absent: the page is of one chain. */
  readonly chain?: string | undefined;
  /** The labels that a series must have. */
  readonly where?: Readonly<Record<string, string>> | undefined;
  /** The slugs of chains, by other values of the label `chain`. */
  readonly chains?: Readonly<Record<string, string>> | undefined;
}

/** graph-node's index-node API for an endpoint of dialect `graph`: it reports why a deployment has failed. */
export interface StatusApi {
  /** May contain a key, so it is never printed as it is. */
  readonly url: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The deployment of the endpoint's only target, e.g. `Qm…`. */
  readonly deployment: string;
}

/** One URL that is polled. It serves one target, or all targets of a multi-chain indexer. */
export interface Endpoint {
  /** `protocol/variant/tier/name`; an RPC node's is `rpc/chain/host/digest of its URL`. Unique in a fleet. */
  readonly key: string;
  readonly kind: "indexer" | "rpc";
  /** Empty for an RPC node. */
  readonly protocol: string;
  readonly variant: string;
  /** Empty for an RPC node. */
  readonly tier: string;
  /** The metric label: `all` for a URL without placeholders, else the chain's slug. */
  readonly name: string;
  /** May contain a key, so it is never printed as it is. */
  readonly url: string;
  /** `host` or `host:port` of the URL, for the limit per host and the incidents of hosts. */
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dialect: string;
  /** An RPC node's provider, as configured; absent: its host. The targets of an indexer have their own. */
  readonly provider?: string;
  /** The id of an RPC node's chain, which it must confirm; absent for an indexer. */
  readonly chainId?: number;
  /** The requests and paths; only for dialect `custom`. */
  readonly custom?: Form;
  /**
   * What is read from its page, in addition to the form of its dialect or in place of it; only for `metrics` and the dialects
   * based on it.
   */
  readonly metrics?: Partial<MetricsForm>;
  /** The API that is asked why the target is not `ok`; only for dialect `graph`, and for an endpoint of one chain. */
  readonly status?: StatusApi;
  /** node-cron expression, seconds first. */
  readonly schedule: string;
  readonly pollIntervalMs: number;
  /** Name of the budget that its requests draw on, or null. */
  readonly budget: string | null;
  /** Empty for an RPC node, which has a `chain` instead. */
  readonly targets: readonly Target[];
  /** The only chain of the endpoint, or null for an endpoint of several chains. */
  readonly chain: string | null;
  /** What probes ask of its targets; absent: nothing. */
  readonly selections?: readonly Selection[];
}

/** The index-node API of an endpoint, as an endpoint of dialect `graph-status`; null if not configured. */
export function statusEndpointOf(endpoint: Endpoint): Endpoint | null {
  const { status } = endpoint;
  if (status === undefined) {
    return null;
  }
  const { url, host, headers, deployment } = status;
  return {
    ...endpoint,
    key: `${endpoint.key}/status`,
    url,
    host,
    headers,
    dialect: "graph-status",
    budget: null,
    targets: endpoint.targets.map((target) => ({ ...target, deployment })),
  };
}

/** The names that identify an indexer, also as labels of its metrics. */
export interface IndexerId {
  readonly protocol: string;
  readonly variant: string;
  readonly tier: string;
}

/** One indexer: the endpoints of a protocol's variant and tier, which share a schedule and a dialect. */
export interface Indexer extends IndexerId {
  readonly endpoints: readonly Endpoint[];
}

/** An optional indexer that is not polled, and why. */
export interface SkippedIndexer extends IndexerId {
  /** One sentence, e.g. `THEGRAPH_API_KEY is not set`. */
  readonly why: string;
}

/** At most `limit` requests per window. */
export interface Budget {
  readonly name: string;
  readonly limit: number;
  readonly per: "hour" | "day" | "month";
  /** `endpoint`: each URL has its own; `shared`: all endpoints that name it have one together. */
  readonly scope: "endpoint" | "shared";
}

export interface Fleet {
  /** A digest of what is polled, without secrets: equal in two processes that poll the same. Null: the fleet is simulated. */
  readonly digest: string | null;
  readonly chains: readonly Chain[];
  /** In the order of the file: the other variants of a protocol are compared with its first variant. */
  readonly indexers: readonly Indexer[];
  readonly rpcEndpoints: readonly Endpoint[];
  readonly budgets: readonly Budget[];
  readonly skipped: readonly SkippedIndexer[];
  /** In the order of the file. */
  readonly parity: readonly ParityProbe[];
}

/** All endpoints: of the indexers in the order of the file, then of the RPC nodes. */
export const endpointsOf = memoize((fleet: Fleet): readonly Endpoint[] => [
  ...fleet.indexers.flatMap((indexer) => indexer.endpoints),
  ...fleet.rpcEndpoints,
]);

/** `protocol/variant/tier`: unique in a fleet, and the subject of an endpoint incident. */
export function indexerKey({ protocol, variant, tier }: IndexerId): string {
  return `${protocol}/${variant}/${tier}`;
}

/** Whether a target is of the tier that serves users. */
export function isProduction({ tier }: Pick<Target, "tier">): boolean {
  return tier === "production";
}

/** `subgraph`, or `subgraph (testing)`: the tier is named only if it is not production. */
export function variantName({ variant, tier }: Pick<IndexerId, "variant" | "tier">): string {
  return isProduction({ tier }) ? variant : `${variant} (${tier})`;
}

/**
 * The name of a target, which is also a filter of `synclag check`: `lockup/base/subgraph`, with the tier if it is not
 * production.
 */
export function targetName({ key }: Pick<Target, "key">): string {
  const [protocol = "", variant = "", tier = "", chain = ""] = key.split("/");
  return [protocol, chain, variant, isProduction({ tier }) ? [] : tier].flat().join("/");
}

/** Of the targets of a pair, the production targets; all targets if there is none. */
export function servingTier<T extends Pick<Target, "tier">>(targets: readonly T[]): readonly T[] {
  const production = targets.filter(isProduction);
  return production.length === 0 ? targets : production;
}

/** The serving tier without ended targets; with them if all have ended. */
export function servingTargets<T extends Pick<Target, "tier"> & { readonly ended: string | null }>(
  targets: readonly T[],
): readonly T[] {
  const ofTier = servingTier(targets);
  const active = ofTier.filter(({ ended }) => ended === null);
  return active.length === 0 ? ofTier : active;
}

/** The keys of the sources that an endpoint observes: its targets, or itself if it is an RPC node. */
export function sourceKeysOf({ key, kind, targets }: Endpoint): readonly string[] {
  return kind === "rpc" ? [key] : targets.map((target) => target.key);
}

/** The keys of the targets that each host serves. */
export const targetsByHost = memoize((fleet: Fleet): ReadonlyMap<string, ReadonlySet<string>> => {
  const keysOf = (served: readonly Endpoint[]) =>
    new Set(served.flatMap(({ targets }) => targets.map(({ key }) => key)));
  return new Map(
    [...groupBy(endpointsOf(fleet), ({ host }) => host)].map(([host, of]) => [host, keysOf(of)]),
  );
});
