import type { ParityProbe } from "../core/model/parity.ts";
import type { Selection } from "../core/model/selection.ts";
import { didYouMean } from "../core/text/near-miss.ts";
import { whyNotCarried } from "../dialects/selections.ts";
import type { Sections } from "./fleet.ts";
import type { ListedTarget } from "./indexers.ts";
import type { ParityEntry } from "./probe-schema.ts";
import type { Spot } from "./problems.ts";
import { placeholdersOf } from "./secrets.ts";
import { readSelection, resolveSelection } from "./selections.ts";
import { checkKnown } from "./shape.ts";

/** A probe of parity with its selections. */
export interface ResolvedProbe extends ParityProbe {
  readonly selections: readonly Selection[];
}

/** Resolves `parity`. If a problem was added, the result must not be used. */
export function resolveParity(sections: Sections, served: readonly ListedTarget[]): readonly ResolvedProbe[] {
  return (sections.parity ?? []).flatMap(({ value: entry, spot }) => {
    if (entry === null) {
      return [];
    }
    spot.at("name").claim(`probe ${entry.name}`);
    return resolveProbe(entry, spot, sections, served) ?? [];
  });
}

/** Resolves one probe. Null: a problem was added, or the probe refers to a broken entry. */
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
        readSelection(select, { spot: spot.at("queries", variant), key: "select", value });
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
    spot.at("queries").add(`expected at least two of the variants ${known.join(", ")}`);
    return null;
  }
  const asked = served.filter(({ variant }) => variants.includes(variant));
  const slugs = resolveSlugs(entry, spot, [...(chains?.keys() ?? [])], asked);
  const selections = asked
    .filter(({ chain }) => slugs.includes(chain))
    .flatMap((target): Selection | readonly never[] => {
      const { key, variant } = target;
      const { select = "", value = "" } = queries[variant] ?? {};
      const from = { spot: spot.at("queries", variant), key: "select", value };
      const why = whyNotCarried(target);
      if (why !== null) {
        from.spot.add(`${variant} cannot be asked for a value: ${why}`, "key");
        return [];
      }
      const line = resolveSelection(select, target, from);
      const expect = { kind: "compared" as const, path: value.split(".") };
      const rest = { everyMs, expect, maxLatencyMs: null, address: null };
      return line === null ? [] : { probe: name, target: key, select: line, ...rest };
    });
  return { name, protocol, everyMs, chains: slugs, variants, selections };
}

/** The chains on which the variants are compared, in the order of the file. `asked`: the targets of these variants. */
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
