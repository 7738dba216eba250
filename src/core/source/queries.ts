import type { QueryResult } from "../model/selection.ts";

/** The state of the query of one probe on one target: plain data. */
export interface QueryState {
  readonly probe: string;
  /** How many results in a row were failures. */
  readonly failures: number;
  /** Why the last result was a failure; null after a success. */
  readonly failure: string | null;
  /** Whether the query ever had the expected result. If not, the query may be wrong. */
  readonly hasSucceeded: boolean;
  /** When the present run of failures, or of successes, began, by the clock of the chain. */
  readonly sinceMs: number;
  readonly lastMs: number;
  /** How long the last request took. */
  readonly tookMs: number;
}

/** By the key of the query, from `queryKeyOf`. */
export type Queries = Readonly<Record<string, QueryState>>;

/** A query fails after this number of failures in a row: a single failure may be a passing fault. */
const FAILURES = 2;

/** Adds the results of the queries of one poll. */
export function foldQueries(queries: Queries, results: readonly QueryResult[], atMs: number): Queries {
  const folded = results.map(({ probe, queryKey, tookMs, failure }) => {
    const known = queries[queryKey];
    const isSame = known !== undefined && (known.failure === null) === (failure === null);
    const state: QueryState = {
      probe,
      failures: failure === null ? 0 : (known?.failures ?? 0) + 1,
      failure,
      hasSucceeded: failure === null || (known?.hasSucceeded ?? false),
      sinceMs: isSame ? known.sinceMs : atMs,
      lastMs: atMs,
      tookMs,
    };
    return [queryKey, state] as const;
  });
  return { ...queries, ...Object.fromEntries(folded) };
}

/** The queries that are still sent. */
export function retainQueries(queries: Queries, sent: ReadonlyMap<string, string>): Queries {
  return Object.fromEntries(Object.entries(queries).filter(([key]) => sent.has(key)));
}

/** `unknown`: the query failed once, and the next result has to confirm that. */
export function resultOf({ failures }: QueryState): "ok" | "failing" | "unknown" {
  if (failures === 0) {
    return "ok";
  }
  return failures < FAILURES ? "unknown" : "failing";
}

/** The queries whose last result was a failure. */
export function failedQueries(queries: Queries): readonly QueryState[] {
  return Object.values(queries).filter(({ failure }) => failure !== null);
}

/** Whether any query of a target fails: its users get errors, whatever its height. */
export function hasFailingQuery({ queries }: { readonly queries: Queries }): boolean {
  return Object.values(queries).some((query) => resultOf(query) === "failing");
}

/** Whether any query has failed once, and the next result has to confirm that. */
export function hasDoubtfulQuery({ queries }: { readonly queries: Queries }): boolean {
  return Object.values(queries).some((query) => resultOf(query) === "unknown");
}

/**
 * Whether a first failure of a query came in the poll at `atMs`. To confirm an older failure is not worth a request, because
 * the polls since then gave no result.
 */
export function broughtDoubt({ queries }: { readonly queries: Queries }, atMs: number): boolean {
  return Object.values(queries).some((query) => resultOf(query) === "unknown" && query.lastMs === atMs);
}
