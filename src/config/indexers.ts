import {
  type Endpoint,
  type Form,
  type IndexerId,
  indexerKey,
  type StatusApi,
  type Target,
} from "../core/model/fleet.ts";
import { DIALECTS } from "../dialects/families.ts";
import { type Context, type Headers, readFilledUrl, readHeaders, withCredentials } from "./address.ts";
import { type ChainValues, type CustomEntry, type IndexerEntry, OVERRIDE_KEYS } from "./schema.ts";
import { type Filled, placeholdersOf, readWebUrl, type TemplateProblem } from "./secrets.ts";
import { describeValue, didYouMean } from "./shape.ts";
import type { Path } from "./yaml.ts";

/** An endpoint without the timing of its polls, which depends on the other endpoints of its budget. */
export interface Draft {
  /** Its schedule may be `auto`; its intervals are 0. */
  readonly endpoint: Endpoint;
  readonly schedulePath: Path;
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
  readonly path: Path;
  readonly own: ChainValues;
  readonly values: ReadonlyMap<string, string>;
}

/** One indexer of the file, while its endpoints are resolved. */
export class IndexerResolver {
  readonly #context: Context;
  readonly #id: IndexerId;
  readonly #entry: IndexerEntry;
  readonly #path: Path;
  /** Which variables of an optional indexer are not set: it is skipped then. */
  readonly #unset = new Set<string>();

  constructor(context: Context, protocol: string, entry: IndexerEntry, path: Path) {
    this.#context = context;
    this.#id = { protocol, variant: entry.variant, tier: entry.tier };
    this.#entry = entry;
    this.#path = path;
  }

  /** `chainIds`: every chain of the file; null if that is not known. `selections`: those of `parity` for its variant. */
  resolve(chainIds: ReadonlyMap<string, number> | null, selections: readonly string[]): ResolvedIndexer {
    const { dialect, custom } = this.#entry;
    this.#checkDialect();
    const listed = this.#list(chainIds);
    const sharing = listed.filter((chain) => !this.#hasOwnEndpoint(chain));
    const own = listed.filter((chain) => this.#hasOwnEndpoint(chain));
    const drafts = [
      ...(sharing.length === 0 ? [] : [this.#draft(null, sharing)]),
      ...own.map((chain) => this.#draft(chain, [chain])),
    ];
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

  #checkDialect(): void {
    const { dialect, custom, status } = this.#entry;
    const { problems } = this.#context;
    const isCustom = DIALECTS[dialect]?.needs === "custom";
    if (isCustom && custom === undefined) {
      problems.add(this.#path, "dialect custom without a block custom, expected custom: { query, height }");
    }
    if (!isCustom && custom !== undefined) {
      problems.add(
        [...this.#path, "custom"],
        `no effect with dialect ${dialect}, expected dialect: custom`,
        "key",
      );
    }
    if (DIALECTS[dialect]?.takesStatus !== true && status !== undefined) {
      problems.add(
        [...this.#path, "status"],
        `no effect with dialect ${dialect}, expected dialect: graph`,
        "key",
      );
    }
  }

  /** The chains with the values of their placeholders. Unknown or repeated chains are problems. */
  #list(chainIds: ReadonlyMap<string, number> | null): readonly Listed[] {
    const { chains } = this.#entry;
    const { problems } = this.#context;
    const listPath = [...this.#path, "chains"];
    const entries: readonly (readonly [string, Path, ChainValues])[] = Array.isArray(chains)
      ? chains.map((slug, index) => [slug, [...listPath, index], {}])
      : Object.entries(chains).map(([slug, own]) => [slug, [...listPath, slug], own]);
    const seen = new Set<string>();
    return entries.flatMap(([slug, path, own]) => {
      if (seen.has(slug)) {
        problems.add(path, `chain "${slug}" is listed twice`, "key");
        return [];
      }
      seen.add(slug);
      if (chainIds?.has(slug) === false) {
        const known = [...chainIds.keys()];
        problems.add(path, () => `unknown chain "${slug}"${didYouMean(slug, known)}`, "key");
      }
      const chainId = chainIds?.get(slug) ?? 0;
      const builtIn = { protocol: this.#id.protocol, chain: slug, chain_id: String(chainId) };
      const values = new Map([...this.#ownValues(path, own), ...Object.entries(builtIn)]);
      return [{ slug, chainId, path, own, values }];
    });
  }

  #ownValues(path: Path, own: ChainValues): readonly (readonly [string, string])[] {
    return ownKeysOf(own).flatMap((name) => {
      const value = own[name] ?? null;
      // A number is used as it is written: 1.10 is not 1.1.
      const text = typeof value === "string" ? value : this.#context.sourceOf([...path, name]);
      return value === null ? [] : [[name, text ?? String(value)] as const];
    });
  }

  /** A value that no template uses is most likely a mistyped key, unless a template is wrong itself. */
  #checkOwnValues(listed: readonly Listed[], selections: readonly string[]): void {
    const { problems } = this.#context;
    const { status, dialect } = this.#entry;
    const isUncertain = ["url", "explorer", "playground", "status"].some((key) =>
      problems.has([...this.#path, key]),
    );
    for (const { path, own } of listed.filter((chain) => ownKeysOf(chain.own).length > 0)) {
      const templates = [this.#entry, own].flatMap(({ url, explorer, playground }) => [
        url,
        explorer,
        playground,
      ]);
      const { url, deployment } = status ?? {};
      const used = [...templates, url, deployment, ...selections].flatMap(placeholdersOf);
      used.push(...(DIALECTS[dialect]?.needs === DEPLOYMENT ? [DEPLOYMENT] : []));
      for (const name of ownKeysOf(own)) {
        if (BUILT_IN.includes(name)) {
          problems.add([...path, name], `{${name}} is built in and cannot be set`, "key");
        } else if (!used.includes(name) && !isUncertain) {
          const hint = () => didYouMean(name, [...OVERRIDE_KEYS, ...used]);
          const message = () => `unknown key "${name}": no template uses {${name}}${hint()}`;
          problems.add([...path, name], message, "key");
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
    const { dialect, custom, ...entry } = this.#entry;
    const own = chain?.own ?? {};
    const url = this.#url(own.url ?? entry.url, this.#pathOf("url", chain), chain);
    const isAtOrigin = own.url === undefined || url?.origin === this.#originFor(chain);
    // Keys and budget of the indexer are not meant for another origin.
    const { headers: written = {}, budget = null } = { ...(isAtOrigin ? entry : {}), ...own };
    const headers = this.#headers(written, this.#pathOf("headers", chain));
    const targets = listed.map((one) => this.#target(one));
    if (url === null || headers === null) {
      return null;
    }
    const name = chain?.slug ?? SHARED_ENDPOINT;
    // Without a URL of the indexer it is meant for all chains.
    const status = isAtOrigin || entry.url === undefined ? this.#status(listed) : null;
    return {
      schedulePath: this.#pathOf("schedule", chain),
      endpoint: {
        key: this.#keyOf(name),
        kind: "indexer",
        ...this.#id,
        name,
        url: url.href,
        host: url.host,
        headers: withCredentials(headers, url, this.#context.secrets),
        dialect,
        ...(custom && { custom: toForm(custom) }),
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
  #pathOf(key: "url" | "headers" | "schedule" | "explorer" | "playground", chain: Listed | null): Path {
    return [...(chain === null || chain.own[key] === undefined ? this.#path : chain.path), key];
  }

  #url(text: string | undefined, path: Path, chain: Listed | null): URL | null {
    if (text === undefined) {
      this.#context.problems.add(path, "required key missing (expected an http:// or https:// URL)");
      return null;
    }
    const filled = this.#fill(text, path, chain);
    return filled === null ? null : readFilledUrl(filled, path, this.#context);
  }

  /** The origin of the indexer's own URL. A chain with its own URL needs no values for it; they rarely affect the origin. */
  #originFor(chain: Listed | null): string | null {
    const { text } = this.#context.secrets.fill(this.#entry.url ?? "", chain?.values ?? new Map());
    return URL.canParse(text) ? new URL(text).origin : null;
  }

  #headers(written: Headers, path: Path): Headers | null {
    return readHeaders(written, path, this.#context, (text, at) => this.#fill(text, at, null, "header"));
  }

  #target(chain: Listed): Target {
    const { slug, chainId, own } = chain;
    const deployment = DIALECTS[this.#entry.dialect]?.needs === DEPLOYMENT ? this.#deployment(chain) : null;
    const provider = own.provider ?? this.#entry.provider;
    return {
      key: this.#keyOf(slug),
      ...this.#id,
      chain: slug,
      chainId,
      ...(deployment === null ? {} : { deployment }),
      ...(provider === undefined ? {} : { provider }),
      explorer: this.#link("explorer", chain),
      playground: this.#link("playground", chain),
      pollIntervalMs: 0,
    };
  }

  /** The id that the dialect needs. */
  #deployment({ slug, path, values }: Listed): string | null {
    const deployment = values.get(DEPLOYMENT);
    const expected = `expected ${slug}: { deployment: Qm… }, the id that dialect ${this.#entry.dialect} asks for`;
    if (deployment === undefined) {
      this.#context.problems.add(path, `no deployment of chain ${slug}, ${expected}`);
    } else if (!isDeploymentId(deployment)) {
      this.#context.problems.add([...path, DEPLOYMENT], `found ${describeValue(deployment)}, ${expected}`);
    }
    return deployment ?? null;
  }

  #link(key: "explorer" | "playground", chain: Listed): string | null {
    const own = chain.own[key];
    const text = (own === undefined ? this.#entry[key] : own) ?? null;
    // A variable in a link is a mistake that is reported with the shape.
    if (text === null || text.includes("${")) {
      return null;
    }
    const path = this.#pathOf(key, chain);
    const link = this.#fill(text, path, chain)?.text ?? null;
    const flaw = link === null ? null : readWebUrl(link);
    if (typeof flaw === "string") {
      this.#context.problems.add(path, flaw);
    }
    return link;
  }

  /** The index-node API beside an endpoint. Null: the indexer has none, or a problem was added. */
  #status(listed: readonly Listed[]): StatusApi | null {
    const { status } = this.#entry;
    const { problems, secrets } = this.#context;
    const path = [...this.#path, "status"];
    const [chain, ...others] = listed;
    if (status === undefined || chain === undefined) {
      return null;
    }
    if (others.length > 0) {
      const message = `an endpoint of ${listed.length} chains cannot have a status; give url a placeholder, so that each chain has its own`;
      problems.add(path, message, "key");
      return null;
    }
    const url = this.#url(status.url, [...path, "url"], chain);
    const deployment = this.#fill(status.deployment, [...path, "deployment"], chain)?.text ?? null;
    if (deployment !== null && !isDeploymentId(deployment)) {
      const message = `found ${describeValue(deployment)} for chain ${chain.slug}, expected an id such as Qm…`;
      problems.add([...path, "deployment"], message);
    }
    return url === null || deployment === null
      ? null
      : { url: url.href, host: url.host, headers: withCredentials({}, url, secrets), deployment };
  }

  /** Fills a template with the values of a chain. Null: problems were added, or an optional indexer will be skipped. */
  #fill(text: string, path: Path, chain: Listed | null, kind: "header" | "url" = "url"): Filled | null {
    const { secrets } = this.#context;
    const shared = new Map([["protocol", this.#id.protocol]]);
    const filled = secrets.fill(text, kind === "header" ? null : (chain?.values ?? shared));
    for (const problem of filled.problems) {
      this.#addProblem(problem, path, chain, kind);
    }
    return filled.problems.length === 0 ? filled : null;
  }

  #addProblem({ kind, what }: TemplateProblem, path: Path, chain: Listed | null, of: "header" | "url"): void {
    const { problems } = this.#context;
    if (kind === "flaw") {
      problems.add(path, what);
    } else if (kind === "missing" && of === "header") {
      // The name may be a key.
      problems.add(path, "placeholders work only in url, explorer and playground");
    } else if (kind === "missing") {
      const hint = what === "id" ? "; use {chain_id} for the chain's number" : "";
      const message = `no value for {${what}} in ${String(path.at(-1))} on chain ${chain?.slug}${hint}`;
      problems.add([...(chain?.path ?? this.#path), what], message);
    } else if (this.#entry.optional) {
      this.#unset.add(what);
    } else {
      problems.add(path, `${what}; set it, or add optional: true to the indexer`);
    }
  }
}

function ownKeysOf(own: ChainValues): readonly string[] {
  return Object.keys(own).filter((key) => !OVERRIDE_KEYS.includes(key));
}

/** Whether a text can be the id of a deployment, which is sent within a query. */
function isDeploymentId(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text);
}

/** Without a query and a body it is a GET. */
function toForm({ method: _, chain_id: chainId, not_started: notStarted, ...rest }: CustomEntry): Form {
  return { ...rest, chainId, notStarted };
}
