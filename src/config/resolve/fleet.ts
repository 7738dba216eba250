import {
  type Budget,
  type Endpoint,
  type Fleet,
  type Form,
  type Indexer,
  indexerKey,
  type SkippedIndexer,
  type Target,
} from "../../core/model/fleet.ts";
import { type ResolvedParity, resolveParity, type ServedTarget } from "../parity/resolve-parity.ts";
import type { ConfigFile } from "../schema/config-file.ts";
import type { CustomEntry } from "../schema/indexer.ts";
import { didYouMean } from "../schema/messages.ts";
import type { Path } from "../yaml/config-error.ts";
import { resolveChains, resolveRpcEndpoints } from "./chains.ts";
import { type EndpointPlan, type IndexerPlan, resolveIndexer, type ServedChain } from "./indexer.ts";
import type { IndexerScope, ResolveContext } from "./resolve-context.ts";
import { assignSchedules, type Timing } from "./schedules.ts";

/** Resolves what is polled. If a problem was added, the fleet must not be used. */
export function resolveFleet(file: ConfigFile, context: ResolveContext): Fleet {
  const budgets = Object.entries(file.budgets).map(([name, budget]) => ({ name, ...budget }));
  const plans = indexerScopes(file, context).map((scope) => {
    checkBudgetNames(scope, budgets);
    return resolveIndexer(scope, file.chains);
  });
  const polled = plans.filter(({ skipped }) => skipped === null);
  const endpoints = polled.flatMap((plan) => plan.endpoints);
  const timings = assignSchedules(endpoints, budgets, context);
  const parity = resolveParity(file, plans.flatMap(servedTargets), context);
  return {
    chains: resolveChains(file, context),
    indexers: polled.map((plan) => withParity(toIndexer(plan, timings), parity)),
    rpcEndpoints: resolveRpcEndpoints(file, context),
    budgets,
    skipped: plans.flatMap(toSkipped),
    parity: parity.probes,
  };
}

function indexerScopes({ protocols, parity }: ConfigFile, context: ResolveContext): readonly IndexerScope[] {
  if (Object.keys(protocols).length === 0 && !context.hasProblemAt(["protocols"])) {
    context.addProblem(["protocols"], "Cannot use an empty map: expected at least one protocol");
  }
  const pathsByKey = new Map<string, Path>();
  return Object.entries(protocols).flatMap(([protocol, entries]) => {
    if (entries.length === 0 && !context.hasProblemAt(["protocols", protocol])) {
      context.addProblem(["protocols", protocol], "Cannot use an empty list: expected at least one indexer");
    }
    return entries.map((entry, index) => {
      const path = ["protocols", protocol, index];
      const key = indexerKey({ protocol, variant: entry.variant, tier: entry.tier });
      if (pathsByKey.has(key)) {
        context.addProblem(
          [...path, "variant"],
          `Cannot list ${key} twice: give one of them another variant or tier`,
        );
      }
      pathsByKey.set(key, path);
      const selections = parity
        .filter((probe) => probe.protocol === protocol)
        .flatMap(({ queries }) => queries[entry.variant]?.select ?? []);
      return { context, protocol, entry, path, selections, unset: new Set<string>() };
    });
  });
}

function checkBudgetNames({ entry, path, context }: IndexerScope, budgets: readonly Budget[]): void {
  const known = budgets.map(({ name }) => name);
  const chains = Array.isArray(entry.chains) ? {} : entry.chains;
  const named = [
    { budget: entry.budget, path: [...path, "budget"] },
    ...Object.entries(chains).map(([slug, { budget }]) => ({
      budget,
      path: [...path, "chains", slug, "budget"],
    })),
  ];
  for (const { budget, path: budgetPath } of named) {
    if (typeof budget === "string" && !known.includes(budget) && !context.hasProblemAt(["budgets", budget])) {
      context.addProblem(
        budgetPath,
        () => `Cannot find budget "${budget}" in budgets${didYouMean(budget, known)}`,
      );
    }
  }
}

function toIndexer(plan: IndexerPlan, timings: ReadonlyMap<EndpointPlan, Timing>): Indexer {
  const { protocol, entry } = plan;
  return {
    protocol,
    variant: entry.variant,
    tier: entry.tier,
    endpoints: plan.endpoints.flatMap((endpoint) => {
      const timing = timings.get(endpoint);
      return timing === undefined ? [] : [toEndpoint(plan, endpoint, timing)];
    }),
  };
}

function toEndpoint({ protocol, entry }: IndexerPlan, endpoint: EndpointPlan, timing: Timing): Endpoint {
  const { variant, tier, dialect } = entry;
  const { name, address, chains } = endpoint;
  const prefix = indexerKey({ protocol, variant, tier });
  const [only, ...others] = chains;
  const toTarget = ({ slug, chainId, deployment, explorer, playground }: ServedChain): Target => ({
    key: `${prefix}/${slug}`,
    protocol,
    variant,
    tier,
    chain: slug,
    chainId,
    ...(deployment === null ? {} : { deployment }),
    explorer,
    playground,
    pollIntervalMs: timing.pollIntervalMs,
  });
  return {
    key: `${prefix}/${name}`,
    kind: "indexer",
    protocol,
    variant,
    tier,
    name,
    url: address.url.href,
    host: address.url.host,
    headers: address.headers,
    dialect,
    ...(entry.custom === undefined ? {} : { custom: toForm(entry.custom) }),
    ...(endpoint.status === null ? {} : { status: endpoint.status }),
    ...timing,
    budget: address.budget,
    targets: chains.map(toTarget),
    chain: only !== undefined && others.length === 0 ? only.slug : null,
  };
}

function servedTargets({ protocol, entry, listed }: IndexerPlan): readonly ServedTarget[] {
  const { variant, tier, dialect } = entry;
  const custom = entry.custom === undefined ? undefined : toForm(entry.custom);
  return listed.map(({ slug, scope }) => ({
    key: `${indexerKey({ protocol, variant, tier })}/${slug}`,
    protocol,
    variant,
    chain: slug,
    dialect,
    custom,
    values: scope.values,
  }));
}

function withParity(indexer: Indexer, { carriedBy }: ResolvedParity): Indexer {
  return {
    ...indexer,
    endpoints: indexer.endpoints.map((endpoint) => {
      const parity = carriedBy(endpoint.targets.map(({ key }) => key));
      return parity.length === 0 ? endpoint : { ...endpoint, parity };
    }),
  };
}

/** Without a query and a body it is a GET. */
function toForm({ method: _, chain_id: chainId, not_started: notStarted, ...rest }: CustomEntry): Form {
  return { ...rest, chainId, notStarted };
}

function toSkipped({ protocol, entry: { variant, tier }, skipped }: IndexerPlan): readonly SkippedIndexer[] {
  return skipped === null ? [] : [{ protocol, variant, tier, why: skipped }];
}
