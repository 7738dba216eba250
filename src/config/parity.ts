import { createRequire } from "node:module";
import type { FieldNode, SelectionNode } from "graphql";
import type { Endpoint } from "../core/model/fleet.ts";
import type { CarriedSelection, ParityProbe } from "../core/model/parity.ts";
import { didYouMean } from "../core/text/near-miss.ts";
import { whyNotCarried } from "../dialects/parity.ts";
import type { Sections } from "./fleet.ts";
import type { ListedTarget } from "./indexers.ts";
import type { Spot } from "./problems.ts";
import type { ParityEntry } from "./schema.ts";
import { fillPlaceholders, placeholdersOf } from "./secrets.ts";
import { checkKnown } from "./shape.ts";

/** The probes, and the selections of each target. */
export interface ResolvedProbe extends ParityProbe {
  /** By the target's key. */
  readonly selections: ReadonlyMap<string, CarriedSelection>;
}

/** An endpoint with the selections that its requests carry. */
export function carriedBy(probes: readonly ResolvedProbe[], endpoint: Endpoint): Endpoint {
  const parity = probes.flatMap(({ selections }) =>
    endpoint.targets.flatMap(({ key }) => selections.get(key) ?? []),
  );
  return parity.length === 0 ? endpoint : { ...endpoint, parity };
}

/** Resolves `parity`. If a problem was added, the result must not be used. */
export function resolveProbes(sections: Sections, served: readonly ListedTarget[]): readonly ResolvedProbe[] {
  return (sections.parity ?? []).flatMap(({ value: entry, spot }) => {
    if (entry === null) {
      return [];
    }
    spot.at("name").claim(`probe ${entry.name}`);
    return resolveProbe(entry, spot, sections, served) ?? [];
  });
}

/** Null: a problem was added, or what it refers to is broken. */
function resolveProbe(
  entry: ParityEntry,
  spot: Spot,
  { chains, protocols }: Sections,
  allServed: readonly ListedTarget[],
): ResolvedProbe | null {
  const { name, protocol, every: everyMs, queries } = entry;
  checkKnown("protocol", protocol, protocols, spot.at("protocol"));
  // A variant may be missing because its entry is broken.
  if (!protocols?.get(protocol)?.every(({ value }) => value !== null)) {
    for (const [variant, { select, value }] of Object.entries(queries)) {
      if (placeholdersOf(select).length === 0) {
        readSelection(select, value, spot.at("queries", variant));
      }
    }
    return null;
  }
  const served = allServed.filter((target) => target.protocol === protocol);
  const known = [...new Set(served.map(({ variant }) => variant))];
  for (const variant of Object.keys(queries)) {
    checkKnown("variant", variant, new Set(known), spot.at("queries", variant), "key");
  }
  const variants = known.filter((one) => Object.hasOwn(queries, one));
  if (variants.length < 2) {
    spot.at("queries").add(`expected two or more variants of ${known.join(", ")}`);
    return null;
  }
  const asked = served.filter(({ variant }) => variants.includes(variant));
  const slugs = resolveSlugs(entry, spot, [...(chains?.keys() ?? [])], asked);
  const selections = asked
    .filter(({ chain }) => slugs.includes(chain))
    .flatMap((target) => resolveSelection(entry, spot.at("queries", target.variant), target) ?? [])
    .map((selection) => [selection.target, selection] as const);
  return { name, protocol, everyMs, chains: slugs, variants, selections: new Map(selections) };
}

/** The chains to compare on, in the order of the file. `asked`: the targets of the probe's variants. */
function resolveSlugs(
  { chains }: ParityEntry,
  spot: Spot,
  known: readonly string[],
  asked: readonly ListedTarget[],
): readonly string[] {
  const shared = known.filter(
    (slug) => new Set(asked.filter(({ chain }) => chain === slug).map(({ variant }) => variant)).size >= 2,
  );
  if (chains === undefined && shared.length === 0) {
    spot.at("queries").add("no chain is served by two of these variants");
  }
  for (const [index, slug] of (chains ?? []).entries()) {
    if (!shared.includes(slug)) {
      const message = `nothing to compare on chain "${slug}": it is not served by two of these variants`;
      spot.at("chains", index).add(`${message}${didYouMean(slug, shared)}`);
    }
  }
  return shared.filter((slug) => chains?.includes(slug) ?? true);
}

function resolveSelection(
  { name: probe, every: everyMs, queries }: ParityEntry,
  spot: Spot,
  target: ListedTarget,
): CarriedSelection | null {
  const { key, variant, values } = target;
  const { select = "", value = "" } = queries[variant] ?? {};
  const why = whyNotCarried(target);
  if (why !== null) {
    spot.add(`${variant} cannot be asked for a value: ${why}`, "key");
    return null;
  }
  const filled = fillPlaceholders(select, values, (name) => {
    const advice = didYouMean(name, [...values.keys()]) || `; for a field, write { ${name} } with spaces`;
    spot.at("select").add(`no value for {${name}} on ${key}${advice}`);
  });
  const line = readSelection(filled, value, spot);
  return line === null ? null : { probe, everyMs, target: key, select: line, value: value.split(".") };
}

/** Why a path cannot lead to a value of this selection; null if it can. A fragment may have any fields. */
function whyNoValue(field: FieldNode, [first = "", ...steps]: readonly string[]): string | null {
  let selections: readonly SelectionNode[] = [field];
  for (const step of [first, ...steps.filter((one) => !/^\d+$/.test(one))]) {
    if (selections.some(({ kind }) => kind !== "Field")) {
      return null;
    }
    const names = selections.flatMap((one) => (one.kind === "Field" ? [one] : []));
    const found = names.find(({ alias, name }) => (alias ?? name).value === step);
    if (found === undefined) {
      const known = names.map(({ alias, name }) => (alias ?? name).value);
      const expected = known.length === 0 ? "the path to end before it" : known.join(" or ");
      return `found "${step}", which the selection does not have, expected ${expected}`;
    }
    selections = found.selectionSet?.selections ?? [];
  }
  const fields = selections.flatMap((one) => (one.kind === "Field" ? [(one.alias ?? one.name).value] : []));
  return fields.length === 0
    ? null
    : `the path ends at a map, expected one of its fields: ${fields.join(" or ")}`;
}

const MAX_TOKENS = 300;

/** A selection in one line. It must be one field, because it gets an alias: only `_meta` must keep its name. Null: a problem was added. */
function readSelection(select: string, value: string, entry: Spot): string | null {
  const spot = entry.at("select");
  // graphql-js is loaded here, so that a start without `parity` does not wait for it. The package's own types.
  const { GraphQLError, parse, stripIgnoredCharacters } = createRequire(import.meta.url)(
    "graphql",
  ) as typeof import("graphql");
  try {
    // The line break ends a comment.
    const document = parse(`{ ${select}\n}`, { maxTokens: MAX_TOKENS, noLocation: true });
    const [operation, ...others] = document.definitions;
    const fields = operation?.kind === "OperationDefinition" ? operation.selectionSet.selections : [];
    const [field] = fields;
    const isOneField = field?.kind === "Field" && fields.length === 1 && others.length === 0;
    if (!isOneField || field.alias !== undefined || field.name.value === "_meta") {
      spot.add("expected one field of a query, without an alias and not _meta");
      return null;
    }
    const misfit = whyNoValue(field, value.split("."));
    if (misfit !== null) {
      entry.at("value").add(misfit);
      return null;
    }
    // A comment would hide what follows it in one line.
    return /#|"""/.test(select)
      ? stripIgnoredCharacters(select)
      : select.trim().replace(/\s*[\r\n]\s*/g, " ");
  } catch (error) {
    if (error instanceof GraphQLError) {
      spot.add(`invalid GraphQL: ${error.message.replace(/^Syntax Error: |\.$/g, "")}`);
      return null;
    }
    throw error;
  }
}
