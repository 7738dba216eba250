import { type Endpoint, indexerKey } from "../core/model/fleet.ts";
import type { Expectation, QueryAddress, Selection } from "../core/model/selection.ts";
import { parityValueOf, whyNotCarried } from "../dialects/selections.ts";
import { readAddress } from "./address.ts";
import type { Sections } from "./fleet.ts";
import type { ListedTarget } from "./indexers.ts";
import type { ProbeEntry } from "./probe-schema.ts";
import type { Spot } from "./problems.ts";
import { fillPlaceholders, type Secrets } from "./secrets.ts";
import { resolveSelection } from "./selections.ts";

/** Resolves the `probes` of all indexers. If a problem was added, the result must not be used. */
export function resolveProbes(
  { parity, protocols }: Pick<Sections, "parity" | "protocols">,
  served: readonly ListedTarget[],
  secrets: Secrets,
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
          at.add(`the parity probe at ${other.where} already has this name; expected another name`, "key");
        }
        const scope = { secrets, isOptional: entry?.optional ?? false };
        return own.flatMap((target) => resolveProbe(name, probe, { target, spot: at, ...scope }) ?? []);
      });
    }),
  );
}

/** The target for which a probe is resolved, and where the probe is written. */
interface ProbeContext {
  readonly target: ListedTarget;
  readonly spot: Spot;
  readonly secrets: Secrets;
  /** Whether its indexer is skipped while a variable is not set. */
  readonly isOptional: boolean;
}

/** The selection of a probe for one target. Null: a problem was added. */
function resolveProbe(probe: string, entry: ProbeEntry, asked: ProbeContext): Selection | null {
  const { every: everyMs, max_latency: maxLatencyMs = null, query, url } = entry;
  const { spot, target } = asked;
  const why = url === undefined ? whyNotCarried(target) : null;
  if (why !== null) {
    spot.add(`${why}; add the url of its GraphQL API, or use a dialect that sends GraphQL`, "key");
    return null;
  }
  const address = url === undefined ? null : addressOf(url, asked);
  const select = resolveSelection(query, target, { spot, key: "query" });
  const expect = expectationOf(entry.expect, target, spot.at("expect"));
  return select === null
    ? null
    : { probe, everyMs, target: target.key, select, expect, maxLatencyMs, address };
}

/** The separate URL of a probe. Null: a problem was added, or the indexer is skipped. */
function addressOf(url: string, { isOptional, secrets, spot, target }: ProbeContext): QueryAddress | null {
  const address = readAddress({ url, headers: {} }, (key) => spot.at(key), {
    secrets,
    values: target.values,
    onMissing: (name) => {
      spot.at("url").add(`no value for {${name}} on ${target.key}`);
    },
    onUnset: (what, at) => {
      if (!isOptional) {
        at.add(`${what}; set it, or add optional: true to the indexer`);
      }
    },
  });
  return address && { url: address.url, headers: address.headers };
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

/**
 * Adds to an endpoint the probes of its targets. If a probe's own URL has the origin of the endpoint, the probe also sends the
 * endpoint's headers.
 */
export function withSelections(endpoint: Endpoint, all: readonly Selection[]): Endpoint {
  const keys = new Set(endpoint.targets.map(({ key }) => key));
  const { origin } = new URL(endpoint.url);
  const selections = all
    .filter(({ target }) => keys.has(target))
    .map((selection): Selection => {
      const { address } = selection;
      return address === null || new URL(address.url).origin !== origin
        ? selection
        : { ...selection, address: { ...address, headers: { ...endpoint.headers, ...address.headers } } };
    });
  return selections.length === 0 ? endpoint : { ...endpoint, selections };
}
