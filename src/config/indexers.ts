import {
  type Chain,
  type Endpoint,
  type Form,
  type IndexerId,
  indexerKey,
  type StatusApi,
  type Target,
} from "../core/model/fleet.ts";
import { didYouMean, nearMiss } from "../core/text/near-miss.ts";
import { DIALECTS, isOfOneChain } from "../dialects/families.ts";
import { readAddress, readWebUrl, type Scope } from "./address.ts";
import type { Sections } from "./fleet.ts";
import type { Spot } from "./problems.ts";
import { type ChainValues, type IndexerEntry, OVERRIDE_KEYS } from "./schema.ts";
import { fillPlaceholders, placeholdersOf, type Secrets, type Values } from "./secrets.ts";
import { checkKnown, describeValue } from "./shape.ts";
import { withThresholds } from "./thresholds.ts";

/** An endpoint without its final schedule, which depends on the other endpoints of its budget. */
export interface Draft {
  /** Its schedule may be `auto`; its intervals are 0. */
  readonly endpoint: Endpoint;
  /** Where its schedule is written. */
  readonly schedule: Spot;
}

/** A chain that an indexer lists, whether it is polled or not. */
export interface ListedTarget extends Pick<Target, "key" | "chain" | "chainId">, IndexerId {
  readonly dialect: string;
  readonly custom?: Form;
  /** Where its own values are written. */
  readonly spot: Spot;
  readonly own: ChainValues;
  /** The values of its placeholders. */
  readonly values: Values;
}

export interface ResolvedIndexer extends IndexerId {
  readonly drafts: readonly Draft[];
  /** Every chain that it lists, even if no endpoint could be resolved for it. */
  readonly listed: readonly ListedTarget[];
  /** Why an optional indexer is not polled, or null. */
  readonly skipped: string | null;
}

/** The name of the endpoint that chains share if they have no endpoint of their own. */
export const SHARED_ENDPOINT = "all";

const BUILT_IN = ["chain", "chain_id", "protocol"];
const DECISIVE_KEYS = ["dialect", "url", "custom", "metrics", "status", "explorer", "playground"] as const;
/** A chain that overrides one of these keys has its own endpoint. */
const ENDPOINT_KEYS = ["url", "schedule", "headers", "budget"] as const;

/** One indexer of the file, while its endpoints are resolved. */
export class IndexerResolver {
  readonly #id: IndexerId;
  readonly #entry: IndexerEntry;
  readonly #spot: Spot;
  readonly #chains: ReadonlyMap<string, Chain>;
  readonly #secrets: Secrets;
  readonly #selections: readonly string[];
  #listed: readonly ListedTarget[] = [];
  /** The template of each chain's deployment id; undefined if the indexer needs none. */
  readonly #deployment: string | undefined;
  /** The unset variables of an optional indexer, which is skipped if there are any. */
  readonly #unset = new Set<string>();

  /** `selections`: all texts of its probes that may have placeholders. */
  constructor(
    protocol: string,
    entry: IndexerEntry,
    spot: Spot,
    {
      chains,
      secrets,
      selections,
    }: {
      readonly chains: ReadonlyMap<string, Chain>;
      readonly secrets: Secrets;
      readonly selections: readonly string[];
    },
  ) {
    this.#chains = chains;
    this.#selections = selections;
    this.#id = { protocol, variant: entry.variant, tier: entry.tier };
    this.#entry = entry;
    this.#spot = spot;
    this.#secrets = secrets;
    const isNeeded =
      entry.dialect === "graph-status" || DIALECTS[entry.dialect]?.metrics?.chain === "deployment";
    this.#deployment = isNeeded ? "{deployment}" : entry.status?.deployment;
  }

  resolve({ budgets, chains }: Sections): ResolvedIndexer {
    const listed = this.#list(chains);
    this.#listed = listed;
    const own = listed.filter((chain) => this.#hasOwnEndpoint(chain));
    const sharing = listed.filter((chain) => !own.includes(chain));
    // If one of these keys is broken, the problems below would only follow from it.
    if (!DECISIVE_KEYS.some((key) => this.#spot.at(key).isBroken)) {
      checkDialect(this.#entry, this.#spot, listed, sharing.length);
      this.#checkOwnValues(listed);
      this.#checkReach(listed);
    }
    if (typeof this.#entry.until === "number" && listed.length > 1) {
      const expected = "expected a date, or until in the map of each chain";
      const found = `found a block for ${listed.length} chains, but block numbers differ between chains`;
      this.#spot.at("until").add(`${found}; ${expected}`);
    }
    const [first] = sharing;
    const drafts = [
      first === undefined ? null : this.#draft(SHARED_ENDPOINT, first, sharing, budgets),
      ...own.map((chain) => this.#draft(chain.chain, chain, [chain], budgets)),
    ];
    return {
      ...this.#id,
      drafts: drafts.filter((draft) => draft !== null),
      listed,
      skipped: this.#unset.size > 0 ? [...this.#unset].join(", ") : null,
    };
  }

  #keyOf(name: string): string {
    // `join` makes one flat string. A template string would keep each of its parts in memory.
    return [indexerKey(this.#id), name].join("/");
  }

  /** The chains with the values of their placeholders. Unknown or repeated chains are problems. */
  #list(known: Sections["chains"]): readonly ListedTarget[] {
    const { chains, custom, dialect } = this.#entry;
    const entries: readonly (readonly [chain: string, step: string | number, own: ChainValues])[] =
      Array.isArray(chains)
        ? chains.map((slug, index) => [slug, index, {}])
        : Object.entries(chains).map(([slug, own]) => [slug, slug, own]);
    const seen = new Set<string>();
    return entries.flatMap(([chain, step, own]) => {
      const spot = this.#spot.at("chains", step);
      if (seen.has(chain)) {
        spot.add(`chain "${chain}" is listed twice`, "key");
        return [];
      }
      seen.add(chain);
      checkKnown("chain", chain, known, spot, "key");
      const chainId = known?.get(chain)?.value?.id ?? 0;
      const builtIn = { protocol: this.#id.protocol, chain, chain_id: String(chainId) };
      const values = new Map([...ownValuesOf(own), ...Object.entries(builtIn)]);
      const target = { ...this.#id, key: this.#keyOf(chain), chain, chainId, dialect };
      return [{ ...target, ...(custom && { custom }), spot, own, values }];
    });
  }

  /** Reports values of built-in placeholders, and values that no template uses: most likely their keys are mistyped. */
  #checkOwnValues(listed: readonly ListedTarget[]): void {
    for (const target of listed) {
      const used = this.#placeholdersFor(target);
      for (const [name] of ownValuesOf(target.own)) {
        const spot = target.spot.at(name);
        if (BUILT_IN.includes(name)) {
          spot.add(`{${name}} is built in and cannot be set`, "key");
        } else if (!used.includes(name)) {
          const hint = didYouMean(name, [...OVERRIDE_KEYS, ...used]);
          spot.add(`unknown key "${name}": no template uses {${name}}${hint}`, "key");
        }
      }
    }
  }

  /** The names of all placeholders in the templates of the indexer and of one chain. */
  #placeholdersFor({ own }: ListedTarget): readonly string[] {
    const { url, explorer, playground, status } = this.#entry;
    const shared = [url, explorer, playground, status?.url, this.#deployment, ...this.#selections];
    return [...shared, own.url, own.explorer, own.playground].flatMap(placeholdersOf);
  }

  /** Reports headers or a budget of an indexer that has no URL: the URLs of its chains do not use them. */
  #checkReach(listed: readonly ListedTarget[]): void {
    const { url, headers, budget } = this.#entry;
    const has = { headers: Object.keys(headers).length > 0, budget: typeof budget === "string" };
    for (const key of ["headers", "budget"] as const) {
      if (
        url === undefined &&
        has[key] &&
        listed.some(({ own }) => own.url !== undefined && own[key] === undefined)
      ) {
        this.#spot
          .at(key)
          .add(`no effect without url: write ${key} in the map of each chain, beside its url`, "key");
      }
    }
  }

  #hasOwnEndpoint({ own }: ListedTarget): boolean {
    return (
      ENDPOINT_KEYS.some((key) => own[key] !== undefined) ||
      placeholdersOf(this.#entry.url).some((name) => name !== "protocol")
    );
  }

  /**
   * The endpoint of all `listed` chains; `first` is the first of them. Null: a problem was added, or the indexer is skipped.
   */
  #draft(
    name: string,
    first: ListedTarget,
    listed: readonly ListedTarget[],
    budgets: Sections["budgets"],
  ): Draft | null {
    const { dialect, custom, metrics, ...entry } = this.#entry;
    const { own } = first;
    checkKnown("budget", own.budget ?? entry.budget, budgets, this.#spotOf("budget", first));
    const isAtOrigin =
      own.url === undefined || this.#originOf(own.url, first) === this.#originOf(entry.url, first);
    // Another origin gets neither the API keys nor the budget of the indexer.
    const { headers = {}, budget = null } = { ...(isAtOrigin ? entry : {}), ...own };
    const url = own.url ?? entry.url;
    const spotOf = (key: "url" | "headers") => this.#spotOf(key, first);
    if (url === undefined) {
      spotOf("url").add("required key missing (expected an http:// or https:// URL)");
    }
    const address = url === undefined ? null : readAddress({ url, headers }, spotOf, this.#scopeOf(first));
    const targets = listed.map((one) => this.#target(one));
    if (address === null) {
      return null;
    }
    // The status block of an indexer without a URL applies to all its chains.
    const status = isAtOrigin || entry.url === undefined ? this.#status(first) : null;
    return {
      schedule: this.#spotOf("schedule", first),
      endpoint: {
        key: this.#keyOf(name),
        kind: "indexer",
        ...this.#id,
        name,
        ...address,
        dialect,
        ...(custom && { custom }),
        ...(metrics && { metrics }),
        ...(status && { status }),
        schedule: own.schedule ?? entry.schedule,
        pollIntervalMs: 0,
        budget,
        targets,
        chain: listed.length === 1 ? first.chain : null,
      },
    };
  }

  /** Where the value that applies to a chain is written. */
  #spotOf(key: keyof IndexerEntry & keyof ChainValues, chain: ListedTarget): Spot {
    return (chain.own[key] === undefined ? this.#spot : chain.spot).at(key);
  }

  /**
   * The origin of a URL template. Placeholders without a value are ignored, because they are rarely part of the origin.
   */
  #originOf(template: string | undefined, { values }: ListedTarget): string | null {
    const { text } = this.#secrets.fill(template ?? "", values);
    return URL.canParse(text) ? new URL(text).origin : null;
  }

  /** A variable that is not set is a problem, unless the indexer is optional: then the indexer is skipped. */
  #scopeOf(chain: ListedTarget): Scope {
    return {
      secrets: this.#secrets,
      values: chain.values,
      onMissing: (name) => this.#addMissing(name, chain),
      onUnset: (what, spot) =>
        this.#entry.optional
          ? this.#unset.add(what)
          : spot.add(`${what}; set it, or add optional: true to the indexer`),
    };
  }

  #addMissing(name: string, target: ListedTarget): void {
    const { chain, spot, own, values } = target;
    const used = this.#placeholdersFor(target);
    if (ownValuesOf(own).some(([typed]) => !used.includes(typed) && nearMiss(typed, [name]) === name)) {
      return; // The mistyped key is already a problem.
    }
    const [first, ...others] = this.#listed.filter((one) => !one.values.has(name));
    const isMissingInAll = others.length > 0 && others.length + 1 === this.#listed.length;
    if (isMissingInAll && target !== first) {
      return;
    }
    const known = [...values.keys()];
    const use = known.map((one) => `{${one}}`).join(", ");
    const hint = didYouMean(name, known) || `; add ${name} to the map of the chain, or use ${use}`;
    spot.at(name).add(`no value for {${name}} on ${isMissingInAll ? "any chain" : `chain ${chain}`}${hint}`);
  }

  #target(listed: ListedTarget): Target {
    const { key, chain, chainId, own, spot } = listed;
    const provider = own.provider ?? this.#entry.provider;
    const until = own.until ?? this.#entry.until;
    return {
      key,
      ...this.#id,
      chain,
      chainId,
      ...(this.#entry.status === undefined && this.#deploymentOf(listed, spot)),
      ...(provider !== undefined && { provider }),
      explorer: this.#link("explorer", listed),
      playground: this.#link("playground", listed),
      ...this.#thresholds(chain),
      ...(until && { until }),
      pollIntervalMs: 0,
    };
  }

  /** A chain's thresholds, overridden by the indexer's own; undefined if the indexer has none. */
  #thresholds(slug: string): Pick<Target, "thresholds"> | undefined {
    const { thresholds: own } = this.#entry;
    const chain = this.#chains.get(slug);
    return chain === undefined || Object.keys(own).length === 0
      ? undefined
      : { thresholds: withThresholds(chain.thresholds, own, this.#spot.at("thresholds"), chain.blockTimeMs) };
  }

  /** The deployment id of a chain. `at`: where the map with `deployment` is written. */
  #deploymentOf(chain: ListedTarget, at: Spot): Pick<StatusApi, "deployment"> | undefined {
    if (this.#deployment === undefined) {
      return undefined;
    }
    const add = (name: string) => this.#addMissing(name, chain);
    const deployment = fillPlaceholders(this.#deployment, chain.values, add);
    if (!/^[\w-]{1,64}$/.test(deployment)) {
      const found = `found ${describeValue(deployment)} for chain ${chain.chain}`;
      at.at("deployment").add(`${found}, expected deployment: Qm…`);
    }
    return { deployment };
  }

  #link(key: "explorer" | "playground", chain: ListedTarget): string | null {
    const own = chain.own[key];
    const template = (own === undefined ? this.#entry[key] : own) ?? null;
    if (template === null) {
      return null;
    }
    const link = fillPlaceholders(template, chain.values, (name) => this.#addMissing(name, chain));
    const flaw = link.includes("${")
      ? `found \${…}, which is allowed only in url, headers and rpc`
      : readWebUrl(link);
    if (typeof flaw === "string") {
      this.#spotOf(key, chain).add(flaw);
    }
    return link;
  }

  /** The index-node API of an endpoint. Null: not configured, a problem was added, or the indexer is skipped. */
  #status(chain: ListedTarget): StatusApi | null {
    const { url } = this.#entry.status ?? {};
    const spot = this.#spot.at("status");
    const deployment = url === undefined ? undefined : this.#deploymentOf(chain, spot);
    if (url === undefined || deployment === undefined) {
      return null;
    }
    const address = readAddress({ url, headers: {} }, (key) => spot.at(key), this.#scopeOf(chain));
    return address && { ...address, ...deployment };
  }
}

/** The values of a chain's placeholders: all keys of its map that are not overrides. */
export function ownValuesOf(own: ChainValues): readonly (readonly [string, string])[] {
  return Object.entries(own).filter((entry): entry is [string, string] => !OVERRIDE_KEYS.includes(entry[0]));
}

const OWN_URLS =
  "put a placeholder such as {chain} in the URL, or give each chain its own URL: chains: { base: { url: … } }";

/**
 * Checks that an entry has the blocks that its dialect needs and no others, and that its chains can share a URL. `listed`: its
 * chains; `sharing`: how many of them share one URL.
 */
export function checkDialect(
  entry: Pick<IndexerEntry, "dialect" | "custom" | "metrics" | "status">,
  spot: Spot,
  listed: readonly Pick<Target, "chain">[],
  sharing: number,
): void {
  const { dialect, custom, metrics } = entry;
  const known = DIALECTS[dialect]?.metrics;
  const takes = { custom: dialect === "custom", metrics: known !== undefined, status: dialect === "graph" };
  for (const [block, expected] of [["custom"], ["metrics"], ["status", "graph"]] as const) {
    if (entry[block] !== undefined && !takes[block]) {
      const advice = `expected dialect: ${expected ?? block}`;
      spot.at(block).add(`no effect with dialect ${dialect}, ${advice}`, "key");
    }
  }
  if (takes.custom && custom === undefined) {
    spot.at("custom").add("dialect custom needs a custom block, expected custom: { query, height }");
  }
  checkSharing(entry, spot, sharing);
  checkWords(entry, spot, listed);
  if (known === undefined) {
    return;
  }
  const { height, chain } = { ...metrics, ...known };
  if (height === undefined) {
    spot.add(`dialect ${dialect} does not know the height, expected metrics: { height: NAME }`);
  }
  if (sharing > 1 && chain === undefined) {
    const expected = "expected metrics: { chain: LABEL }, or a url with {chain}";
    spot.add(`${sharing} chains share this URL, but no label tells their values apart, ${expected}`);
  }
}

/** Reports slugs that the `chains` map of a block names and the indexer does not list. */
function checkWords(
  { custom, metrics }: Pick<IndexerEntry, "custom" | "metrics">,
  spot: Spot,
  listed: readonly Pick<Target, "chain">[],
): void {
  const slugs = new Set(listed.map((target) => target.chain));
  for (const [block, { chains = {} } = {}] of [
    ["custom", custom],
    ["metrics", metrics],
  ] as const) {
    for (const [word, slug] of Object.entries(chains)) {
      checkKnown("chain", slug, slugs, spot.at(block, "chains", word));
    }
  }
}

/** Reports that several chains share a URL whose replies do not name the chain. */
function checkSharing(
  { dialect, custom }: Pick<IndexerEntry, "dialect" | "custom">,
  spot: Spot,
  sharing: number,
): void {
  const isOfOne = custom === undefined ? DIALECTS[dialect]?.isOfOneChain : isOfOneChain(custom);
  if (isOfOne === true && sharing > 1) {
    const what =
      dialect === "custom"
        ? "the custom block has no chain_id"
        : `a reply of dialect ${dialect} names no chain`;
    spot.at("url").add(`${what}, so ${sharing} chains cannot share a URL; ${OWN_URLS}`);
  }
}
