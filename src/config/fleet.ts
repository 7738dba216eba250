import { destinationOf } from "../budgets/accounts.ts";
import type { Budget, Chain, Endpoint, Fleet, Indexer, Thresholds } from "../core/model/fleet.ts";
import { indexerKey } from "../core/model/fleet.ts";
import type { MaintenanceWindow } from "../core/model/maintenance-window.ts";
import { type Context, readFilledUrl, withCredentials } from "./address.ts";
import { IndexerResolver, type ResolvedIndexer, SHARED_ENDPOINT } from "./indexers.ts";
import { resolveWindow } from "./maintenance.ts";
import { carriedBy, resolveProbes } from "./parity.ts";
import type { Problems } from "./problems.ts";
import { durationLiteral } from "./quantities.ts";
import { withoutBudget, withSchedules } from "./schedules.ts";
import type { ChainEntry, ConfigFile, IndexerEntry, ThresholdsEntry } from "./schema.ts";
import { didYouMean, type EntriesOf } from "./shape.ts";
import type { Path } from "./yaml.ts";

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
  context: Context,
): { readonly fleet: Fleet; readonly maintenance: readonly MaintenanceWindow[] } {
  const { problems } = context;
  const budgets = whole(sections.budgets).map(([name, budget]): Budget => ({ name, ...budget }));
  const indexers = resolveIndexers(sections, context);
  const polled = indexers.filter(({ skipped }) => skipped === null);
  const endpoints = withSchedules(
    polled.flatMap(({ drafts }) => drafts),
    budgets,
    problems,
  );
  const served = indexers.flatMap((indexer) => indexer.served);
  const probes = resolveProbes(sections, served, problems);
  const isWhole = [...(sections.protocols?.values() ?? [null])].every((entries) =>
    entries?.every((entry) => entry !== null),
  );
  const maintenance = (sections.maintenance ?? []).flatMap((entry, index) => {
    const window = entry && resolveWindow(entry, ["maintenance", index], isWhole ? served : null, problems);
    return window ?? [];
  });
  const fleet = {
    chains: resolveChains(sections, problems),
    indexers: polled.map(({ protocol, variant, tier, drafts }): Indexer => {
      const keys = new Set(drafts.map(({ endpoint }) => endpoint.key));
      const own = endpoints.filter(({ key }) => keys.has(key));
      return { protocol, variant, tier, endpoints: own.map((endpoint) => carriedBy(probes, endpoint)) };
    }),
    rpcEndpoints: resolveRpcNodes(sections, context),
    budgets,
    skipped: indexers.flatMap(({ protocol, variant, tier, skipped }) =>
      skipped === null ? [] : [{ protocol, variant, tier, why: skipped }],
    ),
    parity: probes.map(({ probe }) => probe),
  };
  return { fleet, maintenance };
}

/** The entries of a map that are not broken. */
function whole<Entry>(
  entries: ReadonlyMap<string, Entry | null> | null,
): readonly (readonly [string, Entry])[] {
  return [...(entries ?? [])].flatMap(([name, entry]) => (entry === null ? [] : [[name, entry] as const]));
}

function resolveIndexers(sections: Sections, context: Context): readonly ResolvedIndexer[] {
  const { problems } = context;
  const chainIds =
    sections.chains && new Map([...sections.chains].map(([slug, chain]) => [slug, chain?.id ?? 0]));
  const keys = new Set<string>();
  return whole(sections.protocols).flatMap(([protocol, entries]) =>
    entries.flatMap((entry, index) => {
      if (entry === null) {
        return [];
      }
      const path = ["protocols", protocol, index];
      const key = indexerKey({ protocol, ...entry });
      if (keys.has(key)) {
        problems.add(
          [...path, "variant"],
          `${key} is listed twice; give one of them another variant or tier`,
        );
      }
      keys.add(key);
      checkBudgetNames(entry, path, sections, problems);
      const selections = (sections.parity ?? [])
        .filter((probe) => probe?.protocol === protocol)
        .flatMap((probe) => probe?.queries[entry.variant]?.select ?? []);
      return [new IndexerResolver(context, protocol, entry, path).resolve(chainIds, selections)];
    }),
  );
}

function checkBudgetNames(entry: IndexerEntry, path: Path, { budgets }: Sections, problems: Problems): void {
  const chains = Array.isArray(entry.chains) ? {} : entry.chains;
  const named = [
    [entry.budget, path] as const,
    ...Object.entries(chains).map(([slug, { budget }]) => [budget, [...path, "chains", slug]] as const),
  ];
  for (const [name, at] of named) {
    if (typeof name === "string" && budgets?.has(name) === false) {
      problems.add(
        [...at, "budget"],
        () => `unknown budget "${name}"${didYouMean(name, [...budgets.keys()])}`,
      );
    }
  }
}

function resolveChains({ chains, thresholds }: Sections, problems: Problems): readonly Chain[] {
  const common = withThresholds(DEFAULT_THRESHOLDS, thresholds ?? {}, ["thresholds"], problems);
  const slugsById = new Map<number, string>();
  return whole(chains).map(([slug, entry]) => {
    const path = ["chains", slug];
    if (slug === SHARED_ENDPOINT) {
      problems.add(
        path,
        `a chain cannot be called "${slug}", the name of an endpoint that serves several chains`,
        "key",
      );
    }
    const other = slugsById.get(entry.id);
    if (other !== undefined) {
      problems.add([...path, "id"], `chain "${other}" has the id ${entry.id} already`);
    }
    slugsById.set(entry.id, other ?? slug);
    return {
      slug,
      id: entry.id,
      name: entry.name ?? slug,
      blockTimeMs: entry.block_time ?? null,
      testnet: entry.testnet,
      thresholds: withThresholds(common, entry.thresholds, [...path, "thresholds"], problems),
    };
  });
}

function withThresholds(
  base: Thresholds,
  { lagging, critical, stalled, stale }: ThresholdsEntry,
  path: Path,
  problems: Problems,
): Thresholds {
  const laggingMs = lagging ?? base.laggingMs;
  const criticalMs = critical ?? base.criticalMs;
  // A section that sets neither inherits what is wrong.
  if (laggingMs > criticalMs && (lagging ?? critical) !== undefined) {
    problems.add(
      path,
      `lagging ${durationLiteral(laggingMs)} is above critical ${durationLiteral(criticalMs)}`,
    );
  }
  return { laggingMs, criticalMs, stalledMs: stalled ?? base.stalledMs, staleMs: stale ?? base.staleMs };
}

/** The JSON-RPC nodes of all chains. */
function resolveRpcNodes({ chains, poll }: Sections, context: Context): readonly Endpoint[] {
  return whole(chains).flatMap(([slug, { id, rpc }]) => {
    const nodes = new Map<string, Endpoint>();
    for (const [index, entry] of rpc.entries()) {
      const path = ["chains", slug, "rpc", index];
      const node = resolveRpcNode(slug, entry, path, context);
      if (node !== null && nodes.has(node.key)) {
        context.problems.add(path, `chain "${slug}" has this URL already`);
      } else if (node !== null) {
        nodes.set(node.key, withoutBudget({ ...node, chainId: id, schedule: poll?.rpc_schedule ?? "auto" }));
      }
    }
    return [...nodes.values()];
  });
}

/** The key begins so that people recognise the node, and ends so that two nodes of one host differ. */
function resolveRpcNode(
  slug: string,
  entry: ChainEntry["rpc"][number],
  path: Path,
  context: Context,
): Endpoint | null {
  const { problems, secrets } = context;
  const { url: text, provider } = typeof entry === "string" ? { url: entry } : entry;
  const filled = secrets.fill(text, new Map());
  const flaws = filled.problems.map(({ kind, what }) => {
    const advice = kind === "unset" ? "; set it, or remove this URL" : "";
    return kind === "missing"
      ? "placeholders do not work in rpc; write each URL in full"
      : `${what}${advice}`;
  });
  for (const flaw of flaws) {
    problems.add(path, flaw);
  }
  const url = flaws.length > 0 ? null : readFilledUrl(filled, path, context);
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
