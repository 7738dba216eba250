import { createRequire } from "node:module";
import type { GraphQLError, Kind } from "graphql";
import type { Endpoint } from "../core/model/fleet.ts";
import type { CarriedSelection, ParityProbe } from "../core/model/parity.ts";
import { whyNotCarried } from "../dialects/parity.ts";
import type { Sections } from "./fleet.ts";
import type { ServedTarget } from "./indexers.ts";
import type { Spot } from "./problems.ts";
import type { ParityEntry } from "./schema.ts";
import { placeholdersOf } from "./secrets.ts";
import { didYouMean } from "./shape.ts";

/** The probes, and the selections of each target. */
export interface ResolvedProbe extends ParityProbe {
  /** By the target's key. */
  readonly selections: ReadonlyMap<string, CarriedSelection>;
}

/** An endpoint with the selections that its requests carry. */
export function carriedBy(probes: readonly ResolvedProbe[], endpoint: Endpoint): Endpoint {
  const parity = probes.flatMap(({ name, everyMs, selections }) => {
    const own = endpoint.targets.flatMap(({ key }) => selections.get(key) ?? []);
    return own.length === 0 ? [] : [{ probe: name, everyMs, selections: own }];
  });
  return parity.length === 0 ? endpoint : { ...endpoint, parity };
}

/** Resolves `parity`. If a problem was added, the result must not be used. */
export function resolveProbes(
  sections: Sections,
  top: Spot,
  served: readonly ServedTarget[],
): readonly ResolvedProbe[] {
  const places = new Map<string, string>();
  return (sections.parity ?? []).flatMap((entry, index) => {
    if (entry === null) {
      return [];
    }
    const spot = top.at("parity", index);
    const first = places.get(entry.name);
    if (first === undefined) {
      places.set(entry.name, spot.at("name").where);
    } else {
      spot.at("name").add(`probe "${entry.name}" is listed twice, first at ${first}`);
    }
    return resolveProbe(entry, spot, sections, served) ?? [];
  });
}

/** Null: a problem was added, or what it refers to is broken. */
function resolveProbe(
  entry: ParityEntry,
  spot: Spot,
  { chains, protocols }: Sections,
  allServed: readonly ServedTarget[],
): ResolvedProbe | null {
  const { name, protocol, every: everyMs } = entry;
  if (protocols?.has(protocol) === false) {
    const known = [...protocols.keys()];
    spot.at("protocol").add(() => `unknown protocol "${protocol}"${didYouMean(protocol, known)}`);
  }
  // A variant may be missing because its entry is broken.
  if (!protocols?.get(protocol)?.every((indexer) => indexer !== null)) {
    return null;
  }
  const served = allServed.filter((target) => target.protocol === protocol);
  const variants = resolveVariants(entry, spot, served);
  if (variants.length < 2) {
    return null;
  }
  const asked = served.filter(({ variant }) => variants.includes(variant));
  const slugs = resolveSlugs(entry, spot, [...(chains?.keys() ?? [])], asked);
  const selections = asked
    .filter(({ chain }) => slugs.includes(chain))
    .flatMap((target) => resolveSelection(entry, spot, target) ?? [])
    .map((selection) => [selection.target, selection] as const);
  return { name, protocol, everyMs, chains: slugs, variants, selections: new Map(selections) };
}

/** The variants that are compared, in the order of the file. */
function resolveVariants(
  { protocol, queries }: ParityEntry,
  spot: Spot,
  served: readonly ServedTarget[],
): readonly string[] {
  const known = [...new Set(served.map(({ variant }) => variant))];
  const unknown = Object.keys(queries).filter((name) => !known.includes(name));
  for (const variant of unknown) {
    const hint = () => didYouMean(variant, known) || `; expected ${known.join(", ")}`;
    const message = () => `unknown variant "${variant}" of protocol ${protocol}${hint()}`;
    spot.at("queries", variant).add(message, "key");
  }
  const variants = known.filter((name) => Object.hasOwn(queries, name));
  if (variants.length < 2 && unknown.length === 0) {
    const found = variants.join(", ") || "no variant";
    spot.at("queries").add(`found ${found}, expected two or more variants of ${known.join(", ")}`);
  }
  return variants;
}

/** The chains to compare on, in the order of the file. `asked`: the targets of the probe's variants. */
function resolveSlugs(
  { chains, queries }: ParityEntry,
  spot: Spot,
  known: readonly string[],
  asked: readonly ServedTarget[],
): readonly string[] {
  const variants = new Map<string, Set<string>>();
  for (const { chain, variant } of asked) {
    variants.set(chain, (variants.get(chain) ?? new Set()).add(variant));
  }
  const shared = known.filter((slug) => (variants.get(slug)?.size ?? 0) >= 2);
  if (chains === undefined) {
    if (shared.length === 0) {
      spot.at("queries").add("no chain is served by two of these variants");
    }
    return shared;
  }
  for (const [index, slug] of chains.entries()) {
    const own = spot.at("chains", index);
    if (!known.includes(slug) && known.length > 0) {
      own.add(() => `unknown chain "${slug}"${didYouMean(slug, known)}`);
    } else if (chains.indexOf(slug) !== index) {
      own.add(`chain "${slug}" is listed twice`);
    } else if (!shared.includes(slug)) {
      const found = [...(variants.get(slug) ?? ["none"])].join();
      const expected = `expected two of ${Object.keys(queries).join(", ")} to serve it`;
      own.add(`nothing to compare on chain "${slug}": found ${found}, ${expected}`);
    }
  }
  return shared.filter((slug) => chains.includes(slug));
}

function resolveSelection(
  { queries }: ParityEntry,
  probe: Spot,
  target: ServedTarget,
): CarriedSelection | null {
  const { key, variant, values } = target;
  const { select = "", value = "" } = queries[variant] ?? {};
  const spot = probe.at("queries", variant);
  const why = whyNotCarried(target);
  if (why !== null) {
    spot.add(`${variant} cannot be asked for a value: ${why}`, "key");
    return null;
  }
  const missing = placeholdersOf(select).find((name) => !values.has(name));
  const filled = select.replace(PLACEHOLDER, (_, name: string) => values.get(name) ?? "");
  const flaw = missing === undefined ? flawOfSelection(filled) : noValue(missing, target);
  if (flaw !== null) {
    spot.at("select").add(flaw);
    return null;
  }
  return { target: key, select: inOneLine(filled), value: value.split(".") };
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

/** Why a selection cannot be sent with the query for the height; null if it can. It must be one field, because it gets an alias. */
function flawOfSelection(select: string): string | null {
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
