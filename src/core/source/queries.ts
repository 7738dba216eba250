import type { QueryResult } from "../model/selection.ts";

/** The state of the query of one probe on one target: plain data. */
export interface QueryState {
  readonly probe: string;
  /** How many results in a row were failures. */
  readonly failures: number;
  /** Why the last one was a failure; null: it was none. */
  readonly failure: string | null;
  /** Whether it was ever answered as expected: otherwise the query may be wrong. */
  readonly wasAnswered: boolean;
  /** When the failures began, or the answers since; Unix milliseconds. */
  readonly sinceMs: number;
  readonly lastMs: number;
  /** How long the last request took. */
  readonly tookMs: number;
}

/** By what is asked, as `askedOf` names it. */
export type Queries = Readonly<Record<string, QueryState>>;

/** A query fails after this number of failures in a row: the first may have met a passing fault. */
const FAILURES = 2;

/** Adds what one poll said of the queries. */
export function foldQueries(queries: Queries, results: readonly QueryResult[], atMs: number): Queries {
  const folded = results.map(({ probe, asked, tookMs, failure }) => {
    const known = queries[asked];
    const isSame = known !== undefined && (known.failure === null) === (failure === null);
    const state: QueryState = {
      probe,
      failures: failure === null ? 0 : (known?.failures ?? 0) + 1,
      failure,
      wasAnswered: failure === null || (known?.wasAnswered ?? false),
      sinceMs: isSame ? known.sinceMs : atMs,
      lastMs: atMs,
      tookMs,
    };
    return [asked, state] as const;
  });
  return { ...queries, ...Object.fromEntries(folded) };
}

/** The queries that are still asked. */
export function retainQueries(queries: Queries, asked: ReadonlyMap<string, string>): Queries {
  return Object.fromEntries(Object.entries(queries).filter(([key]) => asked.has(key)));
}

/** `unknown`: it failed once, which the next result confirms or not. */
export function resultOf({ failures }: QueryState): "ok" | "failing" | "unknown" {
  if (failures === 0) {
    return "ok";
  }
  return failures < FAILURES ? "unknown" : "failing";
}

/** Those whose last result was a failure. */
export function failedQueries(queries: Queries): readonly QueryState[] {
  return Object.values(queries).filter(({ failure }) => failure !== null);
}

/** Whether any query of a target fails: its users get errors, whatever its height. */
export function hasFailingQuery({ queries }: { readonly queries: Queries }): boolean {
  return Object.values(queries).some((query) => resultOf(query) === "failing");
}

/** Whether a query of a target failed when it was last asked, and not before. */
export function hasDoubtfulQuery({ queries }: { readonly queries: Queries }): boolean {
  return Object.values(queries).some((query) => resultOf(query) === "unknown");
}

/** Whether the poll of this instant brought such a failure: only then is another poll worth its request, not in an outage that follows. */
export function broughtDoubt({ queries }: { readonly queries: Queries }, atMs: number): boolean {
  return Object.values(queries).some((query) => resultOf(query) === "unknown" && query.lastMs === atMs);
}
