import {
  type Endpoint,
  type Form,
  type IndexerId,
  indexerKey,
  type StatusApi,
  type Target,
} from "../core/model/fleet.ts";
import { nearMiss } from "../core/text/near-miss.ts";
import { DIALECTS, type Dialect } from "../dialects/families.ts";
import { type Headers, readFilledUrl, readHeaders, withCredentials } from "./address.ts";
import { checkDialect, readBlocks, toForm } from "./dialect-blocks.ts";
import { type ChainValues, type IndexerEntry, OVERRIDE_KEYS } from "./indexer-schema.ts";
import type { Flaws, Spot } from "./problems.ts";
import { type Filled, placeholdersOf, readWebUrl, type Secrets } from "./secrets.ts";
import { describeValue, didYouMean } from "./shape.ts";

/** An endpoint without the timing of its polls, which depends on the other endpoints of its budget. */
export interface Draft {
  /** Its schedule may be `auto`; its intervals are 0. */
  readonly endpoint: Endpoint;
  /** Where its schedule is written. */
  readonly schedule: Spot;
}

/** A chain of an indexer, polled or not. */
export interface ServedTarget extends Pick<Target, "key" | "protocol" | "variant" | "tier" | "chain"> {
  readonly dialect: string;
  readonly custom: Form | undefined;
  /** The values of its placeholders. */
  readonly values: ReadonlyMap<string, string>;
}

export interface ResolvedIndexer extends IndexerId {
  readonly drafts: readonly Draft[];
  /** Every chain that it lists, also where no endpoint could be resolved. */
  readonly served: readonly ServedTarget[];
  /** Why an optional indexer is not polled, or null. */
  readonly skipped: string | null;
}

/** The name of an endpoint that serves several chains with one URL. */
export const SHARED_ENDPOINT = "all";

/** The value of a chain that a dialect may need. */
const DEPLOYMENT = "deployment";
const BUILT_IN = ["chain", "chain_id", "protocol"];
/** Overrides that give a chain its own endpoint. */
const ENDPOINT_KEYS = ["url", "schedule", "headers", "budget"] as const;

/** A chain as an indexer lists it. */
interface Listed {
  readonly slug: string;
  readonly chainId: number;
  /** Where its own values are written. */
  readonly spot: Spot;
  readonly own: ChainValues;
  readonly values: ReadonlyMap<string, string>;
}

/** One indexer of the file, while its endpoints are resolved. */
export class IndexerResolver {
  readonly #id: IndexerId;
  readonly #entry: IndexerEntry;
  readonly #spot: Spot;
  readonly #secrets: Secrets;
  readonly #dialect: Dialect | undefined;
  /** Which variables of an optional indexer are not set: it is skipped then. */
  readonly #unset = new Set<string>();

  constructor(protocol: string, entry: IndexerEntry, spot: Spot, secrets: Secrets) {
    this.#id = { protocol, variant: entry.variant, tier: entry.tier };
    this.#entry = entry;
    this.#spot = spot;
    this.#secrets = secrets;
    this.#dialect = DIALECTS[entry.dialect];
  }

  /** `chainIds`: every chain of the file; null if unknown. `selections`: the `parity` selections for its variant. */
  resolve(chainIds: ReadonlyMap<string, number> | null, selections: readonly string[]): ResolvedIndexer {
    const { dialect, custom } = this.#entry;
    const listed = this.#list(chainIds);
    const sharing = listed.filter((chain) => !this.#hasOwnEndpoint(chain));
    const own = listed.filter((chain) => this.#hasOwnEndpoint(chain));
    const drafts = [
      sharing.length === 0 ? null : this.#draft(null, sharing),
      ...own.map((chain) => this.#draft(chain, [chain])),
    ];
    checkDialect(this.#entry, this.#spot, listed, sharing.length);
    this.#checkOwnValues(listed, selections);
    return {
      ...this.#id,
      drafts: drafts.filter((draft) => draft !== null),
      served: listed.map(({ slug, values }) => ({
        ...this.#id,
        key: this.#keyOf(slug),
        chain: slug,
        dialect,
        custom: custom && toForm(custom),
        values,
      })),
      skipped: this.#unset.size > 0 ? [...this.#unset].join(", ") : null,
    };
  }

  #keyOf(name: string): string {
    return `${indexerKey(this.#id)}/${name}`;
  }

  /** The chains with the values of their placeholders. Unknown or repeated chains are problems. */
  #list(chainIds: ReadonlyMap<string, number> | null): readonly Listed[] {
    const { chains } = this.#entry;
    const entries: readonly (readonly [slug: string, step: string | number, own: ChainValues])[] =
      Array.isArray(chains)
        ? chains.map((slug, index) => [slug, index, {}])
        : Object.entries(chains).map(([slug, own]) => [slug, slug, own]);
    const seen = new Set<string>();
    return entries.flatMap(([slug, step, own]) => {
      const spot = this.#spot.at("chains", step);
      if (seen.has(slug)) {
        spot.add(`chain "${slug}" is listed twice`, "key");
        return [];
      }
      seen.add(slug);
      if (chainIds?.has(slug) === false) {
        spot.add(() => `unknown chain "${slug}"${didYouMean(slug, [...chainIds.keys()])}`, "key");
      }
      const chainId = chainIds?.get(slug) ?? 0;
      const builtIn = { protocol: this.#id.protocol, chain: slug, chain_id: String(chainId) };
      const values = new Map([...ownValues(own, spot), ...Object.entries(builtIn)]);
      return [{ slug, chainId, spot, own, values }];
    });
  }

  /** A value that no template uses is most likely a mistyped key, unless a template is wrong itself. */
  #checkOwnValues(listed: readonly Listed[], selections: readonly string[]): void {
    const { status } = this.#entry;
    const isUncertain = ["url", "explorer", "playground", "status"].some(
      (key) => this.#spot.at(key).hasProblem,
    );
    for (const { spot, own } of listed.filter((chain) => ownKeysOf(chain.own).length > 0)) {
      const links = [this.#entry, own].flatMap(({ url, explorer, playground }) => [
        url,
        explorer,
        playground,
      ]);
      const templates = [...links, status?.url, status?.deployment, ...selections];
      const used = templates.flatMap(placeholdersOf);
      used.push(...(this.#dialect?.needs === DEPLOYMENT ? [DEPLOYMENT] : []));
      for (const name of ownKeysOf(own)) {
        if (BUILT_IN.includes(name)) {
          spot.at(name).add(`{${name}} is built in and cannot be set`, "key");
        } else if (!used.includes(name) && !isUncertain) {
          const hint = () => didYouMean(name, [...OVERRIDE_KEYS, ...used]);
          spot.at(name).add(() => `unknown key "${name}": no template uses {${name}}${hint()}`, "key");
        }
      }
    }
  }

  #hasOwnEndpoint({ own }: Listed): boolean {
    return (
      ENDPOINT_KEYS.some((key) => own[key] !== undefined) ||
      placeholdersOf(this.#entry.url).some((name) => name !== "protocol")
    );
  }

  /** The endpoint of one chain, or of all `listed` ones that share a URL. Null: a problem was added, or the indexer is skipped. */
  #draft(chain: Listed | null, listed: readonly Listed[]): Draft | null {
    const { dialect, ...entry } = this.#entry;
    const own = chain?.own ?? {};
    const url = this.#url(own.url ?? entry.url, this.#spotOf("url", chain), chain);
    const isAtOrigin = own.url === undefined || url?.origin === this.#originFor(chain);
    // Keys and budget of the indexer are not meant for another origin.
    const { headers: written = {}, budget = null } = { ...(isAtOrigin ? entry : {}), ...own };
    const headers = this.#headers(written, this.#spotOf("headers", chain));
    const targets = listed.map((one) => this.#target(one));
    if (url === null || headers === null) {
      return null;
    }
    const name = chain?.slug ?? SHARED_ENDPOINT;
    // Without a URL of the indexer it is meant for all chains.
    const status = isAtOrigin || entry.url === undefined ? this.#status(listed) : null;
    return {
      schedule: this.#spotOf("schedule", chain),
      endpoint: {
        key: this.#keyOf(name),
        kind: "indexer",
        ...this.#id,
        name,
        url: url.href,
        host: url.host,
        headers: withCredentials(headers, url, this.#secrets),
        dialect,
        ...readBlocks(this.#entry, listed),
        ...(status && { status }),
        schedule: own.schedule ?? entry.schedule,
        pollIntervalMs: 0,
        budget,
        targets,
        chain: listed.length === 1 ? (listed[0]?.slug ?? null) : null,
      },
    };
  }

  /** Where the value that applies to a chain is written. */
  #spotOf(key: "url" | "headers" | "schedule" | "explorer" | "playground", chain: Listed | null): Spot {
    return (chain === null || chain.own[key] === undefined ? this.#spot : chain.spot).at(key);
  }

  #url(text: string | undefined, spot: Spot, chain: Listed | null): URL | null {
    if (text === undefined) {
      spot.add("required key missing (expected an http:// or https:// URL)");
      return null;
    }
    const filled = this.#fill(text, spot, chain);
    return filled && readFilledUrl(filled, spot, this.#secrets);
  }

  /** The origin of the indexer's own URL. A chain with its own URL needs no values for it; they rarely affect the origin. */
  #originFor(chain: Listed | null): string | null {
    const { text } = this.#secrets.fill(this.#entry.url ?? "", chain?.values ?? new Map());
    return URL.canParse(text) ? new URL(text).origin : null;
  }

  #headers(written: Headers, headers: Spot): Headers | null {
    return readHeaders(written, headers, this.#secrets, (text, spot) =>
      this.#filled(this.#secrets.fill(text, null), spot, () =>
        // The name may be a key.
        spot.add("placeholders work only in url, explorer and playground"),
      ),
    );
  }

  #target(chain: Listed): Target {
    const { slug, chainId, own } = chain;
    const deployment = this.#dialect?.needs === DEPLOYMENT ? this.#deployment(chain) : undefined;
    const provider = own.provider ?? this.#entry.provider;
    return {
      key: this.#keyOf(slug),
      ...this.#id,
      chain: slug,
      chainId,
      ...(deployment === undefined ? {} : { deployment }),
      ...(provider === undefined ? {} : { provider }),
      explorer: this.#link("explorer", chain),
      playground: this.#link("playground", chain),
      pollIntervalMs: 0,
    };
  }

  /** The id that the dialect needs. */
  #deployment({ slug, spot, values }: Listed): string | undefined {
    const deployment = values.get(DEPLOYMENT);
    const expected = `expected ${slug}: { deployment: Qm… }, the id that dialect ${this.#entry.dialect} asks for`;
    if (deployment === undefined) {
      spot.add(`no deployment of chain ${slug}, ${expected}`);
    } else if (!isDeploymentId(deployment)) {
      spot.at(DEPLOYMENT).add(`found ${describeValue(deployment)}, ${expected}`);
    }
    return deployment;
  }

  #link(key: "explorer" | "playground", chain: Listed): string | null {
    const own = chain.own[key];
    const text = (own === undefined ? this.#entry[key] : own) ?? null;
    // A variable in a link is a mistake that is reported with the shape.
    if (text === null || text.includes("${")) {
      return null;
    }
    const spot = this.#spotOf(key, chain);
    const link = this.#fill(text, spot, chain)?.text ?? null;
    const flaw = link && readWebUrl(link);
    if (typeof flaw === "string") {
      spot.add(flaw);
    }
    return link;
  }

  /** The index-node API of an endpoint. Null: not configured, or a problem was added. */
  #status(listed: readonly Listed[]): StatusApi | null {
    const { status } = this.#entry;
    const spot = this.#spot.at("status");
    const [chain, ...others] = listed;
    if (status === undefined || chain === undefined) {
      return null;
    }
    if (others.length > 0) {
      const advice = "give url a placeholder, so that each chain has its own";
      spot.add(`an endpoint of ${listed.length} chains cannot have a status; ${advice}`, "key");
      return null;
    }
    const url = this.#url(status.url, spot.at("url"), chain);
    const deployment = this.#fill(status.deployment, spot.at("deployment"), chain)?.text ?? null;
    if (deployment !== null && !isDeploymentId(deployment)) {
      const found = `found ${describeValue(deployment)} for chain ${chain.slug}`;
      spot.at("deployment").add(`${found}, expected an id such as Qm…`);
    }
    return url === null || deployment === null
      ? null
      : { url: url.href, host: url.host, headers: withCredentials({}, url, this.#secrets), deployment };
  }

  /** Fills a template with the values of a chain. Null: problems were added, or an optional indexer will be skipped. */
  #fill(text: string, spot: Spot, chain: Listed | null): Filled | null {
    const shared = new Map([["protocol", this.#id.protocol]]);
    return this.#filled(this.#secrets.fill(text, chain?.values ?? shared), spot, (name) => {
      const known = [...BUILT_IN, ...ownKeysOf(chain?.own ?? {})];
      const meant = nearMiss(name, known);
      const close = meant === null ? "" : `; did you mean {${meant}}?`;
      const hint = name === "id" ? "; use {chain_id} for the chain's number" : close;
      const message = `no value for {${name}} in ${spot.name} on chain ${chain?.slug}${hint}`;
      (chain?.spot ?? this.#spot).at(name).add(message);
    });
  }

  #filled(filled: Filled, spot: Flaws, onMissing: (name: string) => void): Filled | null {
    for (const { kind, what } of filled.problems) {
      if (kind === "missing") {
        onMissing(what);
      } else if (kind === "unset" && this.#entry.optional) {
        this.#unset.add(what);
      } else {
        spot.add(kind === "flaw" ? what : `${what}; set it, or add optional: true to the indexer`);
      }
    }
    return filled.problems.length === 0 ? filled : null;
  }
}

/** The values of a chain's placeholders. A number is used as it is written: 1.10 is not 1.1. */
function ownValues(own: ChainValues, spot: Spot): readonly (readonly [string, string])[] {
  return ownKeysOf(own).flatMap((name) => {
    const value = own[name] ?? null;
    const text = typeof value === "string" ? value : spot.at(name).source;
    return value === null ? [] : [[name, text ?? String(value)] as const];
  });
}

function ownKeysOf(own: ChainValues): readonly string[] {
  return Object.keys(own).filter((key) => !OVERRIDE_KEYS.includes(key));
}

/** Whether a text can be the id of a deployment, which is sent within a query. */
function isDeploymentId(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text);
}
