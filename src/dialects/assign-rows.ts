import type { Endpoint } from "../core/model/fleet.ts";
import type { Failure, Observation, PollTimes } from "../core/model/observation.ts";
import type { Row, RowContent } from "./dialect.ts";
import { unreadable } from "./form.ts";

type AskedEndpoint = Pick<Endpoint, "key" | "kind" | "chainId" | "targets">;

interface Source {
  readonly source: string;
  readonly chainId: number | null;
}

/**
 * Assigns each row to the source whose chain it names. A height without a chain id is used only if the endpoint has a single
 * source. Rows of other chains are dropped, and an expected chain without a row is `missing`. If a reply for a single source has
 * only one chain, and not the expected one, the poll has failed.
 */
export function assignRows(
  endpoint: AskedEndpoint,
  rows: readonly Row[],
  { sentAtMs, receivedAtMs }: PollTimes,
): readonly Observation[] {
  const byChain = mergeByChain(rows);
  const sources = sourcesOf(endpoint);
  return sources.map(({ source, chainId }) => ({
    source,
    sentAtMs,
    receivedAtMs,
    ...(byChain.get(chainId) ?? contentOfAbsentRow(endpoint.kind, chainId, byChain, sources.length === 1)),
  }));
}

/** At most this number of chain ids is kept: a hostile reply may name more. */
const MOST_SERVED = 200;

/** The chain ids in rows, without duplicates, lowest first; null if no row has a chain id. */
export function servedChains(rows: readonly Row[]): readonly number[] | null {
  const ids = new Set(rows.flatMap(({ chainId }) => chainId ?? []));
  return ids.size === 0 ? null : [...ids].sort((a, b) => a - b).slice(0, MOST_SERVED);
}

/** The observations of a poll without a usable reply: the same failure for every source of the endpoint. */
export function failEverySource(
  endpoint: AskedEndpoint,
  { reason, detail }: Failure,
  { sentAtMs, receivedAtMs }: PollTimes,
): readonly Observation[] {
  const failure = { sentAtMs, receivedAtMs, kind: "failed", reason, detail } as const;
  return sourcesOf(endpoint).map(({ source }) => ({ source, ...failure }));
}

/** The sources that a reply may describe: targets, or a chain's RPC node. */
function sourcesOf({ key, kind, chainId, targets }: AskedEndpoint): readonly Source[] {
  return kind === "rpc"
    ? [{ source: key, chainId: chainId ?? null }]
    : targets.map((target) => ({ source: target.key, chainId: target.chainId }));
}

/** One row per chain. If a chain has several rows, such as one for each contract, the worst one counts. */
function mergeByChain(rows: readonly Row[]): ReadonlyMap<number | null, RowContent> {
  const byChain = new Map<number | null, RowContent>();
  for (const { chainId, content } of rows) {
    byChain.set(chainId, worseOf(byChain.get(chainId) ?? content, content));
  }
  return byChain;
}

/** The worse of two rows: a failure, else a row that has not started, else the lower height. */
function worseOf(one: RowContent, other: RowContent): RowContent {
  if (one.kind !== "head" || other.kind !== "head") {
    return one.kind === "failed" || other.kind === "head" ? one : other;
  }
  const { head } = other.head.block < one.head.block ? other : one;
  const isFlagged = one.head.indexingErrors === true || other.head.indexingErrors === true;
  return { kind: "head", head: isFlagged ? { ...head, indexingErrors: true } : head };
}

/** The content for a chain that no row names. */
function contentOfAbsentRow(
  kind: Endpoint["kind"],
  chainId: number | null,
  byChain: ReadonlyMap<number | null, RowContent>,
  isOnlySource: boolean,
): RowContent | { readonly kind: "missing" } {
  const nameless = byChain.get(null);
  const [onlyId] = byChain.size === 1 ? byChain.keys() : [];
  if (nameless?.kind === "failed") {
    return nameless;
  }
  if (nameless !== undefined) {
    // The row of an indexer that has not started may lack the chain.
    return onlyId === null && (isOnlySource || nameless.kind === "not_started")
      ? nameless
      : unreadable(
          "Cannot tell which chain a row of the reply belongs to: it has no chain id, and the reply or the configuration has several chains; give each chain its own URL with {chain} or {chain_id}",
        );
  }
  if (!isOnlySource || onlyId === undefined) {
    return { kind: "missing" };
  }
  if (kind === "rpc") {
    const detail = `the node serves chain ${onlyId}, but chains.yaml says ${chainId}`;
    return { kind: "failed", reason: "wrong_chain", detail };
  }
  const detail = `Cannot use the reply for chain ${chainId}: it has only chain ${onlyId}`;
  return { kind: "failed", reason: "implausible", detail };
}
