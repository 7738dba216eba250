import { type Endpoint, indexerKey } from "../core/model/fleet.ts";
import type { Expectation, Selection } from "../core/model/selection.ts";
import { parityValueOf } from "../dialects/selections.ts";
import type { Sections } from "./fleet.ts";
import type { ListedTarget } from "./indexers.ts";
import type { ProbeEntry } from "./probe-schema.ts";
import type { Spot } from "./problems.ts";
import { fillPlaceholders } from "./secrets.ts";
import { resolveSelection } from "./selections.ts";

/** Resolves the `probes` of all indexers. If a problem was added, the result must not be used. */
export function resolveProbes(
  { parity, protocols }: Pick<Sections, "parity" | "protocols">,
  served: readonly ListedTarget[],
): readonly Selection[] {
  const compared = new Map((parity ?? []).flatMap(({ value, spot }) => (value ? [[value.name, spot]] : [])));
  return [...(protocols ?? [])].flatMap(([protocol, entries]) =>
    (entries ?? []).flatMap(({ value: entry, spot }) => {
      const own = served.filter(
        (one) => entry !== null && indexerKey(one) === indexerKey({ protocol, ...entry }),
      );
      return Object.entries(entry?.probes ?? {}).flatMap(([name, probe]) => {
        const at = spot.at("probes", name);
        const other = compared.get(name);
        if (other !== undefined) {
          at.add(`the name of a probe of parity at ${other.where}; expected another name`, "key");
        }
        return own.flatMap((target) => resolveProbe(name, probe, target, at) ?? []);
      });
    }),
  );
}

/** Null: a problem was added. */
function resolveProbe(probe: string, entry: ProbeEntry, target: ListedTarget, spot: Spot): Selection | null {
  const { every: everyMs, max_latency: maxLatencyMs = null, query } = entry;
  const select = resolveSelection(query, target, { spot, key: "query" });
  const expect = expectationOf(entry.expect, target, spot.at("expect"));
  return select === null ? null : { probe, everyMs, target: target.key, select, expect, maxLatencyMs };
}

function expectationOf(
  expected: ProbeEntry["expect"],
  { key, values }: ListedTarget,
  spot: Spot,
): Expectation {
  if (expected === undefined || expected === "rows") {
    return { kind: expected ?? "reply" };
  }
  const filled =
    typeof expected === "string"
      ? fillPlaceholders(expected, values, (name) => {
          spot.add(`no value for {${name}} on ${key}`);
        })
      : expected;
  const value = parityValueOf(filled);
  if (value === null) {
    spot.add("expected a value of at most 256 characters");
  }
  return value === null ? { kind: "reply" } : { kind: "equal", value };
}

/** An endpoint with what probes ask of its targets. */
export function withSelections(endpoint: Endpoint, all: readonly Selection[]): Endpoint {
  const keys = new Set(endpoint.targets.map(({ key }) => key));
  const selections = all.filter(({ target }) => keys.has(target));
  return selections.length === 0 ? endpoint : { ...endpoint, selections };
}
