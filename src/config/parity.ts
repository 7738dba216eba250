import { createRequire } from "node:module";
import type { GraphQLError, Kind } from "graphql";
import type { Endpoint } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { CarriedSelection, ParityProbe } from "../core/model/parity.ts";
import { whyNotCarried } from "../dialects/parity.ts";
import type { Sections } from "./fleet.ts";
import type { ServedTarget } from "./indexers.ts";
import type { Problems } from "./problems.ts";
import type { ParityEntry } from "./schema.ts";
import { didYouMean } from "./shape.ts";
import type { Path } from "./yaml.ts";

/** What is compared, and what each target is asked for it. */
export interface ResolvedProbe {
  readonly probe: ParityProbe;
  /** By the target's key. */
  readonly selections: ReadonlyMap<string, CarriedSelection>;
}

/** An endpoint with the selections that its requests carry. */
export function carriedBy(probes: readonly ResolvedProbe[], endpoint: Endpoint): Endpoint {
  const parity = probes.flatMap(({ probe: { name, everyMs }, selections }) => {
    const own = endpoint.targets.flatMap(({ key }) => selections.get(key) ?? []);
    return own.length === 0 ? [] : [{ probe: name, everyMs, selections: own }];
  });
  return parity.length === 0 ? endpoint : { ...endpoint, parity };
}

/** Resolves `parity`. If a problem was added, the result must not be used. */
export function resolveProbes(
  sections: Sections,
  served: readonly ServedTarget[],
  problems: Problems,
): readonly ResolvedProbe[] {
  const names = new Set<string>();
  return (sections.parity ?? []).flatMap((entry, index) => {
    if (entry === null) {
      return [];
    }
    const path = ["parity", index];
    if (names.has(entry.name)) {
      problems.add([...path, "name"], `probe "${entry.name}" is listed twice`);
    }
    names.add(entry.name);
    return new ProbeResolver(entry, path, sections, problems).resolve(served) ?? [];
  });
}

class ProbeResolver {
  readonly #entry: ParityEntry;
  readonly #path: Path;
  readonly #sections: Sections;
  readonly #problems: Problems;

  constructor(entry: ParityEntry, path: Path, sections: Sections, problems: Problems) {
    this.#entry = entry;
    this.#path = path;
    this.#sections = sections;
    this.#problems = problems;
  }

  /** Null: a problem was added, or what it refers to is broken. */
  resolve(allServed: readonly ServedTarget[]): ResolvedProbe | null {
    const { name, protocol, every: everyMs, queries } = this.#entry;
    const { protocols } = this.#sections;
    const indexers = protocols?.get(protocol);
    if (protocols?.has(protocol) === false) {
      const known = [...protocols.keys()];
      const message = () => `unknown protocol "${protocol}"${didYouMean(protocol, known)}`;
      this.#problems.add([...this.#path, "protocol"], message);
    }
    // A variant may be missing because its entry is broken.
    if (!indexers?.every((indexer) => indexer !== null)) {
      return null;
    }
    const served = allServed.filter((target) => target.protocol === protocol);
    const variants = this.#variants(served);
    if (variants.length < 2) {
      return null;
    }
    const asked = served.filter(({ variant }) => Object.hasOwn(queries, variant));
    const chains = this.#chains(asked);
    const selections = asked
      .filter(({ chain }) => chains.includes(chain))
      .flatMap((target) => this.#selection(target) ?? []);
    return {
      probe: { name, protocol, everyMs, chains, variants },
      selections: new Map(selections.map((selection) => [selection.target, selection])),
    };
  }

  /** The variants that are compared, in the order of the file. */
  #variants(served: readonly ServedTarget[]): readonly string[] {
    const known = [...new Set(served.map(({ variant }) => variant))];
    const path = [...this.#path, "queries"];
    const asked = Object.keys(this.#entry.queries);
    const unknown = asked.filter((name) => !known.includes(name));
    for (const variant of unknown) {
      const hint = () => didYouMean(variant, known) || `; expected ${known.join(", ")}`;
      const message = () => `unknown variant "${variant}" of protocol ${this.#entry.protocol}${hint()}`;
      this.#problems.add([...path, variant], message, "key");
    }
    const variants = known.filter((name) => asked.includes(name));
    if (variants.length < 2 && unknown.length === 0) {
      const found = variants.join(", ") || "no variant";
      this.#problems.add(path, `found ${found}, expected two or more variants of ${known.join(", ")}`);
    }
    return variants;
  }

  /** The slugs of the chains to compare on, in the order of the file. `asked`: the targets of the probe's variants. */
  #chains(asked: readonly ServedTarget[]): readonly string[] {
    const known = [...(this.#sections.chains?.keys() ?? [])];
    const byChain = groupBy(asked, ({ chain }) => chain);
    const variantsOn = (slug: string) => [...new Set(byChain.get(slug)?.map(({ variant }) => variant))];
    const shared = known.filter((slug) => variantsOn(slug).length >= 2);
    const { chains, queries } = this.#entry;
    if (chains === undefined) {
      if (shared.length === 0) {
        this.#problems.add([...this.#path, "queries"], "no chain is served by two of these variants");
      }
      return shared;
    }
    for (const [index, slug] of chains.entries()) {
      const path = [...this.#path, "chains", index];
      const variants = variantsOn(slug);
      if (this.#sections.chains?.has(slug) === false) {
        this.#problems.add(path, () => `unknown chain "${slug}"${didYouMean(slug, known)}`);
      } else if (chains.indexOf(slug) !== index) {
        this.#problems.add(path, `chain "${slug}" is listed twice`);
      } else if (variants.length < 2) {
        const expected = `expected two of ${Object.keys(queries).join(", ")} to serve it`;
        this.#problems.add(
          path,
          `nothing to compare on chain "${slug}": found ${variants[0] ?? "none"}, ${expected}`,
        );
      }
    }
    return shared.filter((slug) => chains.includes(slug));
  }

  #selection(target: ServedTarget): CarriedSelection | null {
    const { select = "", value = "" } = this.#entry.queries[target.variant] ?? {};
    const path = [...this.#path, "queries", target.variant];
    const why = whyNotCarried(target);
    if (why !== null) {
      this.#problems.add(path, `${target.variant} cannot be asked for a value: ${why}`, "key");
      return null;
    }
    const missing = new Set<string>();
    const filled = select.replace(PLACEHOLDER, (braces, name: string) => {
      missing.add(target.values.has(name) ? "" : name);
      return target.values.get(name) ?? braces;
    });
    missing.delete("");
    const [unknown] = missing;
    const flaw = unknown === undefined ? flawOf(filled) : noValue(unknown, target);
    if (flaw !== null) {
      this.#problems.add([...path, "select"], flaw);
      return null;
    }
    return { target: target.key, select: inOneLine(filled), value: value.split(".") };
  }
}

/** `{name}` without spaces, as in a URL; a selection of one field is written with spaces: `{ id }`. */
const PLACEHOLDER = /\{([A-Za-z_][\w-]*)\}/g;

function noValue(name: string, { key, values }: ServedTarget): string {
  const advice = didYouMean(name, [...values.keys()]) || `; for a field, write { ${name} } with spaces`;
  return `no value for {${name}} on ${key}${advice}`;
}

type Graphql = Pick<typeof import("graphql"), "GraphQLError" | "parse" | "stripIgnoredCharacters" | "visit">;
let loaded: Graphql | null = null;

/** graphql-js, loaded at the first selection: a start without `parity` does not wait for it, and parsing stays synchronous. */
function loadGraphql(): Graphql {
  // The package's own types.
  loaded ??= createRequire(import.meta.url)("graphql") as Graphql;
  return loaded;
}

// The values of graphql-js, which is loaded late.
const FIELD: `${Kind.FIELD}` = "Field";
const OPERATION: `${Kind.OPERATION_DEFINITION}` = "OperationDefinition";
const MAX_TOKENS = 300;
/** graph-node answers for a failed subgraph under this key only, so nothing else may be asked of it. */
const META = "_meta";

/** Why a selection cannot stand beside a height; null if it can. It must be one field: it gets an alias in each request. */
function flawOf(select: string): string | null {
  const graphql = loadGraphql();
  try {
    // The line break ends a comment.
    const document = graphql.parse(`{ ${select}\n}`, { maxTokens: MAX_TOKENS, noLocation: true });
    const [operation, ...definitions] = document.definitions;
    const [field, ...fields] = operation?.kind === OPERATION ? operation.selectionSet.selections : [];
    if (field?.kind !== FIELD || definitions.length + fields.length > 0) {
      return "expected one field of a query";
    }
    let flaw: string | null = field.alias === undefined ? null : "found an alias; each request gives it one";
    flaw ??= field.name.value === META ? `found ${META}, which each request has already` : null;
    graphql.visit(document, {
      Variable({ name }) {
        flaw ??= `found the variable $${name.value}; placeholders are {chain} and {chain_id}`;
      },
      FragmentSpread({ name }) {
        flaw ??= `found the fragment ...${name.value}, expected its fields`;
      },
    });
    return flaw;
  } catch (error) {
    if (error instanceof graphql.GraphQLError) {
      return `invalid GraphQL: ${syntaxErrorOf(error, select)}`;
    }
    throw error;
  }
}

/** What graphql-js found; the brace that closes our own query is the end of the selection. */
function syntaxErrorOf({ message, positions }: GraphQLError, select: string): string {
  const flaw = message.replace(/^Syntax Error: |\.$/g, "");
  const isAtEnd = (positions?.[0] ?? 0) > select.length;
  return isAtEnd ? flaw.replace(/found (?:"}"|<EOF>)$/, "found its end") : flaw;
}

/** Line breaks outside of block strings have no meaning; a comment would hide what follows it in one line. */
function inOneLine(text: string): string {
  return /#|"""/.test(text)
    ? loadGraphql().stripIgnoredCharacters(text)
    : text.trim().replace(/\s*[\r\n]\s*/g, " ");
}
