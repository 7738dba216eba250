import { memoize } from "./memoize.ts";
import type { ParityValue } from "./parity.ts";

/** What a probe asks of one target. */
export interface Selection {
  /** The probe's name. */
  readonly probe: string;
  /** The shortest time between two requests that carry it. */
  readonly everyMs: number;
  /** The target's key. */
  readonly target: string;
  /** A GraphQL selection with filled placeholders, without an alias. */
  readonly select: string;
  readonly expect: Expectation;
  /** A reply that takes longer is a failure; null: there is no limit. */
  readonly maxLatencyMs: number | null;
  /** Where it is sent in a request of its own; null: it is sent together with the query for the height. */
  readonly address: QueryAddress | null;
}

/** May contain a key: it is never printed or logged. */
export interface QueryAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the reply to a selection must hold. */
export type Expectation =
  /** Anything but an error. */
  | { readonly kind: "reply" }
  /** At least one row. */
  | { readonly kind: "rows" }
  /** The first value of the reply equals this one. */
  | { readonly kind: "equal"; readonly value: ParityValue }
  /** A value at this path in `data`, to compare with the values of other variants, e.g. `["campaigns", "0", "subgraphId"]`. */
  | { readonly kind: "compared"; readonly path: readonly string[] };

/** The result of one selection in one poll. */
export interface QueryResult {
  readonly probe: string;
  /** From `queryKeyOf`. */
  readonly queryKey: string;
  /** How long the request took. */
  readonly tookMs: number;
  /** Why the reply was not as expected, without secrets; null if it was. */
  readonly failure: string | null;
}

/** The most selections in one request: GraphQL Armor's default limit; Ponder allows 30. */
export const MOST_IN_REQUEST = 15;

/** The key of a selection: its probe, its target, and a digest of what it asks and expects. */
export const queryKeyOf = memoize(
  ({ probe, target, select, expect, maxLatencyMs }: Selection): string =>
    `${probe} ${target} ${digestOf(JSON.stringify([select, expect, maxLatencyMs]))}`,
);

/** A digest of a text: FNV-1a of 64 bits. It does not protect against forgery. */
function digestOf(text: string): string {
  let digest = 0xcbf29ce484222325n;
  for (const character of text) {
    digest = BigInt.asUintN(64, (digest ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n);
  }
  return digest.toString(36);
}
