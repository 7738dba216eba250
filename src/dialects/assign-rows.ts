import type { Endpoint } from "../core/model/fleet.ts";
import type { FailureReason } from "../core/model/observation.ts";
import type { Outcome, Row, RowContent } from "./dialect.ts";
import { unreadable } from "./form.ts";
import { describeValue } from "./values.ts";

type AskedEndpoint = Pick<Endpoint, "key" | "kind" | "chainId" | "targets">;

/** What a reply may describe: a target, or a chain's RPC node. */
interface Subject {
  readonly source: string;
  readonly kind: Endpoint["kind"];
  readonly chainId: number | null;
}

/**
 * Assigns each row to the source whose chain it names. A row without a chain id is used only where there is a single
 * source. Rows of other chains are dropped; an expected chain without a row is `missing`.
 */
export function assignRows(endpoint: AskedEndpoint, rows: readonly Row[]): readonly Outcome[] {
  const subjects = subjectsOf(endpoint);
  const merged = mergeByChain(rows);
  const [only] = merged;
  if (only !== undefined && merged.length === 1 && (subjects.length === 1 || isNotStarted(only))) {
    return subjects.map((subject) => ({ source: subject.source, ...contentOfOnlyRow(subject, only) }));
  }
  const byChain = new Map(merged.map(({ chainId, content }) => [chainId, content]));
  return subjects.map(({ source, chainId }) => ({
    source,
    ...(byChain.get(chainId) ?? contentOfAbsentRow(byChain.get(null), subjects.length)),
  }));
}

/** So many are kept of what a hostile reply may name. */
const MOST_SERVED = 200;

/** The chain ids in rows, without duplicates, lowest first; null if no row has a chain id. */
export function servedChains(rows: readonly Row[]): readonly number[] | null {
  const ids = new Set(rows.flatMap(({ chainId }) => chainId ?? []));
  return ids.size === 0 ? null : [...ids].sort((a, b) => a - b).slice(0, MOST_SERVED);
}

/** The same failure for every source of an endpoint: for a poll without a usable reply. */
export function failEverySource(
  endpoint: AskedEndpoint,
  { reason, detail }: { readonly reason: FailureReason; readonly detail: string },
): readonly Outcome[] {
  return subjectsOf(endpoint).map(({ source }) => ({ source, kind: "failed", reason, detail }));
}

function subjectsOf({ key, kind, chainId, targets }: AskedEndpoint): readonly Subject[] {
  return kind === "rpc"
    ? [{ source: key, kind, chainId: chainId ?? null }]
    : targets.map((target) => ({ source: target.key, kind, chainId: target.chainId }));
}

type Content = RowContent | { readonly kind: "missing" };

/** One row per chain: identical rows count once, contradictory ones are no evidence. */
function mergeByChain(rows: readonly Row[]): readonly Row[] {
  const byChain = new Map<number | null, RowContent>();
  for (const { chainId, content } of rows) {
    const earlier = byChain.get(chainId) ?? content;
    const isSame = earlier.kind === "failed" || JSON.stringify(earlier) === JSON.stringify(content);
    byChain.set(chainId, isSame ? earlier : unreadable("Cannot use contradictory rows of one chain"));
  }
  return Array.from(byChain, ([chainId, content]) => ({ chainId, content }));
}

/** An indexer that has not started anything need not name a chain. */
function isNotStarted({ chainId, content }: Row): boolean {
  return chainId === null && content.kind === "not_started";
}

function contentOfOnlyRow(subject: Subject, { chainId, content }: Row): Content {
  if (chainId === null || chainId === subject.chainId) {
    return content;
  }
  if (subject.kind === "rpc") {
    const detail = `the node is of chain ${chainId.toString()}; chains.yaml says ${describeValue(subject.chainId)}`;
    return { kind: "failed", reason: "wrong_chain", detail };
  }
  const detail = `Cannot use the reply for chain ${describeValue(subject.chainId)}: it has chain ${chainId} only`;
  return { kind: "failed", reason: "implausible", detail };
}

function contentOfAbsentRow(nameless: RowContent | undefined, subjectCount: number): Content {
  if (nameless === undefined) {
    return { kind: "missing" };
  }
  const chains = subjectCount === 1 ? "rows of other chains" : `${subjectCount} configured chains`;
  return unreadable(
    `Cannot tell which chain the reply is for: found a row without a chain id and ${chains}; a plain reply needs a URL with {chain} or {chain_id}, or a single configured chain`,
  );
}
