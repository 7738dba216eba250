import { accountIdOf, destinationOf, loadsOf } from "../budgets/accounts.ts";
import type { Budget, Chain, Endpoint, Fleet, Indexer } from "../core/model/fleet.ts";
import { indexerKey } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { MaintenanceMatch, MaintenanceWindow } from "../core/model/maintenance-window.ts";
import { didYouMean } from "../core/text/near-miss.ts";
import { chooseCadence, fitProblem } from "../schedule/cadence.ts";
import { firingsOf } from "../schedule/firing-times.ts";
import { readAddress } from "./address.ts";
import { digestOfPolled } from "./digest.ts";
import {
  checkDialect,
  type Draft,
  IndexerResolver,
  type ListedTarget,
  type ResolvedIndexer,
  SHARED_ENDPOINT,
} from "./indexers.ts";
import { resolveParity } from "./parity.ts";
import { resolveProbes, withSelections } from "./probes.ts";
import type { Spot } from "./problems.ts";
import type { ConfigFile } from "./schema.ts";
import type { Secrets } from "./secrets.ts";
import { checkKnown, type EntriesOf, type Entry } from "./shape.ts";
import { DEFAULT_THRESHOLDS, withThresholds } from "./thresholds.ts";
import { wellKnownChain, wellKnownChainCalled } from "./well-known-chains.ts";

/** chains.yaml, parsed entry by entry. */
export type Sections = EntriesOf<typeof ConfigFile>;

/** Resolves the fleet and its maintenance windows. If a problem was added, the result must not be used. */
export function resolveFleet(
  sections: Sections,
  secrets: Secrets,
): { readonly fleet: Fleet; readonly maintenance: readonly MaintenanceWindow[] } {
  const budgets = validEntries(sections.budgets).map(({ name, value }): Budget => ({ name, ...value }));
  const chains = resolveChains(sections);
  const indexers = resolveIndexers(sections, chains, secrets);
  const polled = indexers.filter(({ skipped }) => skipped === null);
  const nodes = resolveRpcNodes(sections, secrets);
  const endpoints = withSchedules([...polled.flatMap(({ drafts }) => drafts), ...nodes], budgets);
  const served = indexers.flatMap((indexer) => indexer.listed);
  const parity = resolveParity(sections, served);
  const selections = [
    ...resolveProbes(sections, served, secrets),
    ...parity.flatMap((probe) => probe.selections),
  ];
  const windows = sections.maintenance ?? [];
  // If an entry of `protocols` is broken, windows are not checked: a window may match that entry.
  if ([...(sections.protocols?.values() ?? [null])].every((list) => list?.every(({ value }) => value))) {
    for (const { value, spot } of windows) {
      checkMatch(
        value?.match ?? {},
        spot.at("match"),
        served.filter(({ chain }) => sections.chains?.has(chain) !== false),
      );
    }
  }
  const fleet = {
    digest: digestOfPolled(sections),
    chains,
    indexers: polled.map(({ protocol, variant, tier, drafts }): Indexer => {
      const own = drafts.flatMap(({ endpoint }) => endpoints.get(endpoint.key) ?? []);
      return {
        protocol,
        variant,
        tier,
        endpoints: own.map((endpoint) => withSelections(endpoint, selections)),
      };
    }),
    rpcEndpoints: nodes.flatMap(({ endpoint }) => endpoints.get(endpoint.key) ?? []),
    budgets,
    skipped: indexers.flatMap(({ protocol, variant, tier, skipped }) =>
      skipped === null ? [] : [{ protocol, variant, tier, why: skipped }],
    ),
    parity: parity.map(({ selections: _, ...probe }) => probe),
  };
  return { fleet, maintenance: windows.flatMap(({ value }) => value ?? []) };
}

/** The entries of a map that are not broken. */
function validEntries<T>(entries: ReadonlyMap<string, Entry<T>> | null | undefined) {
  return [...(entries ?? [])].flatMap(([name, { value, spot }]) =>
    value === null ? [] : [{ name, value, spot }],
  );
}

function resolveIndexers(
  sections: Sections,
  chains: readonly Chain[],
  secrets: Secrets,
): readonly ResolvedIndexer[] {
  const bySlug = new Map(chains.map((chain) => [chain.slug, chain]));
  return [...(sections.protocols ?? [])].flatMap(([protocol, entries]) =>
    (entries ?? []).flatMap(({ value: entry, spot }) => {
      if (entry === null) {
        return [];
      }
      spot.at("variant").claim(indexerKey({ protocol, ...entry }));
      const compared = (sections.parity ?? [])
        .filter(({ value: probe }) => probe?.protocol === protocol)
        .flatMap(({ value: probe }) => probe?.queries[entry.variant]?.select ?? []);
      const asked = Object.values(entry.probes).flatMap(({ query, expect, url }) => [
        query,
        String(expect),
        url ?? "",
      ]);
      const selections = [...compared, ...asked];
      return [
        new IndexerResolver(protocol, entry, spot, { chains: bySlug, secrets, selections }).resolve(sections),
      ];
    }),
  );
}

/** The RPC nodes of all chains. */
function resolveRpcNodes({ budgets, chains, poll }: Sections, secrets: Secrets): readonly Draft[] {
  return validEntries(chains).flatMap(({ name: slug, value: { id: chainId, rpc }, spot: chainSpot }) =>
    rpc.flatMap((entry, index) => {
      const spot = chainSpot.at("rpc", index);
      const { url, headers, budget = null, ...rest } = entry;
      checkKnown("budget", budget, budgets, spot.at("budget"));
      checkDialect(entry, spot, [{ chain: slug }], 1);
      const address = readAddress({ url, headers }, (key) => spot.at(key), { secrets });
      if (address === null) {
        return [];
      }
      const endpoint: Endpoint = {
        // People recognise the node by the host; the digest distinguishes two nodes of one host.
        key: `rpc/${slug}/${address.host}/${destinationOf(address.url).slice(0, 12)}`,
        kind: "rpc",
        protocol: "",
        variant: "rpc",
        tier: "",
        name: slug,
        ...address,
        schedule: poll.value?.rpc_schedule ?? "auto",
        // The dialect, its `custom` or `metrics` block, the provider and, if the node has one, its own schedule.
        ...rest,
        pollIntervalMs: 0,
        budget,
        targets: [],
        chain: slug,
        chainId,
      };
      return spot.claim(endpoint.key) ? [{ endpoint, schedule: spot.at("schedule") }] : [];
    }),
  );
}

/** The endpoints by key, with a schedule in place of `auto`. Adds a problem for each account whose schedules exceed its budget. */
function withSchedules(drafts: readonly Draft[], budgets: readonly Budget[]): ReadonlyMap<string, Endpoint> {
  const budgetOf = (draft: Draft | undefined) =>
    budgets.find(({ name }) => name === draft?.endpoint.budget) ?? null;
  const accounts = groupBy(drafts, (draft) => {
    const budget = budgetOf(draft);
    return budget && accountIdOf(budget, draft.endpoint.url);
  });
  return new Map(
    [...accounts.values()].flatMap((sharers) => {
      const auto = chooseAuto(budgetOf(sharers[0]), sharers);
      return sharers.map(({ endpoint }) => [endpoint.key, withTiming(endpoint, auto)] as const);
    }),
  );
}

function withTiming(endpoint: Endpoint, auto: string): Endpoint {
  const schedule = endpoint.schedule === "auto" ? auto : endpoint.schedule;
  const pollIntervalMs = firingsOf(schedule).longestIntervalMs;
  const targets = endpoint.targets.map((target) => ({ ...target, pollIntervalMs }));
  return { ...endpoint, schedule, pollIntervalMs, targets };
}

/** Chooses the schedule that replaces `auto` at the endpoints of one account. Adds a problem if its schedules exceed the budget. */
function chooseAuto(budget: Budget | null, sharers: readonly Draft[]): string {
  const fixed = sharers.filter(({ endpoint }) => endpoint.schedule !== "auto");
  const auto = sharers.filter(({ endpoint }) => endpoint.schedule === "auto");
  const loads = loadsOf(fixed.map(({ endpoint }) => endpoint));
  const misfit = budget && fitProblem(budget, loads);
  const { cron, problem } = chooseCadence(auto.length, budget, loads);
  const flaw = misfit ?? problem;
  // The problem is added at the first endpoint at fault.
  const [blamed] = misfit === null ? auto : fixed;
  if (flaw !== null) {
    blamed?.schedule.add(`exceeds budget "${budget?.name}": ${flaw}`);
  }
  return cron;
}

function resolveChains({ chains, thresholds }: Sections): readonly Chain[] {
  const common = withThresholds(DEFAULT_THRESHOLDS, thresholds.value ?? {}, thresholds.spot, null);
  return validEntries(chains).map(({ name: slug, value: entry, spot }) => {
    if (slug === SHARED_ENDPOINT) {
      const reason = "it is the name of endpoints that serve several chains";
      spot.add(`a chain cannot be called "${slug}": ${reason}`, "key");
    }
    spot.at("id").claim(`chain id ${entry.id}`);
    const known = wellKnownChain(entry.id);
    const blockTimeMs = entry.block_time ?? known?.blockTimeMs ?? null;
    return {
      slug,
      id: entry.id,
      name: entry.name ?? known?.name ?? slug,
      blockTimeMs,
      testnet: entry.testnet ?? known?.testnet ?? false,
      explorer: entry.explorer === undefined ? (known?.explorer ?? null) : entry.explorer,
      thresholds: withThresholds(common, entry.thresholds, spot.at("thresholds"), blockTimeMs),
      ...(entry.until && { until: entry.until }),
    };
  });
}

/**
 * Warnings about chain ids that are most likely wrong: the well-known chain with this slug has another id, or the well-known
 * chain with this id has another name.
 */
export function idWarnings({ chains }: Sections): readonly string[] {
  return validEntries(chains).flatMap(({ name: slug, value: { id, name, testnet } }) => {
    const [called, known] = [wellKnownChainCalled(slug), wellKnownChain(id)];
    if (called !== null && called.id !== id) {
      return [`chains.${slug}: ${called.name} has id ${called.id}, not ${id}`];
    }
    const isSpelledOut = name !== undefined && (known?.testnet !== true || testnet !== undefined);
    if (known === null || isSpelledOut || GRAPH_SLUGS.get(slug) === id || areAlike(slug, known)) {
      return [];
    }
    const [note, missing] = known.testnet
      ? [" (a testnet, which does not page by default)", "name and testnet"]
      : ["", "name"];
    return [`chains.${slug}: id ${id} is the id of ${known.name}${note}; correct it, or set ${missing}`];
  });
}

/** Slugs of The Graph that differ from the well-known ones. */
const GRAPH_SLUGS: ReadonlyMap<string, number> = new Map([
  ["mainnet", 1],
  ["matic", 137],
  ["xdai", 100],
]);

/** Whether a slug may mean a chain: `arb1` for Arbitrum One, `base-mainnet` for Base. */
function areAlike(slug: string, known: Pick<Chain, "slug" | "name">): boolean {
  return isShortFor(slug, known.slug) || isShortFor(slug, known.name) || isShortFor(known.slug, slug);
}

/** Whether the letters of the slug occur in the name in this order. */
function isShortFor(slug: string, name: string): boolean {
  const letters = [...slug.replace(/[^a-z]/g, "")];
  let rest = name.toLowerCase();
  return letters.every((letter) => {
    const at = rest.indexOf(letter);
    rest = rest.slice(at + 1);
    return at >= 0;
  });
}

/** Adds a problem if no target matches: a name in `match` is most likely mistyped. */
function checkMatch(match: MaintenanceMatch, spot: Spot, targets: readonly ListedTarget[]): void {
  let matched = targets;
  for (const key of ["protocol", "variant", "tier", "chain"] as const) {
    const name = match[key];
    if (name !== undefined && matched.length > 0) {
      const known = [...new Set(matched.map((target) => target[key]))];
      matched = matched.filter((target) => target[key] === name);
      if (matched.length === 0) {
        spot.at(key).add(`no matching indexer with ${key} "${name}"${didYouMean(name, known)}`);
      }
    }
  }
}
