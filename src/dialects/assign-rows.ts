import type { Outcome } from "./answer/outcome.ts";
import { describeValue } from "./answer/quote.ts";
import type { Row } from "./dialect.ts";

/** Whom an answer may speak of: a target, or a chain's RPC node. */
export interface Subject {
  readonly source: string;
  /** Null for an RPC node, whose answer names no chain. */
  readonly chainId: number | null;
}

/**
 * Gives each row to the subject whose chain it names. A row that names none is given only where it can be meant for one
 * subject alone. Rows of chains that nobody expects are dropped; an expected chain without a row is `missing`.
 */
export function assignRows(subjects: readonly Subject[], rows: readonly Row[]): readonly Outcome[] {
  const words = mergeByChain(rows);
  const [word] = words;
  if (word !== undefined && words.length === 1 && (subjects.length === 1 || isNothingYet(word))) {
    return subjects.map((subject) => outcomeOf(subject.source, sayOnly(subject, word)));
  }
  const byChain = new Map(words.map(({ chainId, said }) => [chainId, said]));
  return subjects.map(({ source, chainId }) =>
    outcomeOf(source, byChain.get(chainId) ?? sayAbsent(byChain.get(null), subjects.length)),
  );
}

/** Nearly all are heads, and spreading costs many times what naming does. */
function outcomeOf(source: string, said: Verdict): Outcome {
  return said.kind === "head" ? { source, kind: "head", head: said.head } : { source, ...said };
}

type Verdict = Row["said"] | { readonly kind: "missing" };

/** One row a chain: those that repeat each other count once, those that contradict each other are no evidence. */
function mergeByChain(rows: readonly Row[]): readonly Row[] {
  if (rows.length < 2) {
    return rows;
  }
  const byChain = new Map<number | null, Row["said"]>();
  for (const { chainId, said } of rows) {
    const earlier = byChain.get(chainId);
    byChain.set(chainId, earlier === undefined ? said : mergeWords(earlier, said));
  }
  return Array.from(byChain, ([chainId, said]) => ({ chainId, said }));
}

function mergeWords(earlier: Row["said"], later: Row["said"]): Row["said"] {
  if (earlier.kind === "failed" || JSON.stringify(earlier) === JSON.stringify(later)) {
    return earlier;
  }
  const detail = `Cannot use rows of one chain that disagree: ${summarize(earlier)} and ${summarize(later)}`;
  return { kind: "failed", reason: "schema", detail };
}

function summarize(said: Row["said"]): string {
  switch (said.kind) {
    case "head":
      return `${said.head.block.toString()} at time ${describeValue(said.head.timestampSec)}`;
    case "not_started":
      return "not started";
    case "failed":
      return said.detail;
  }
}

/** An indexer that has nothing to tell of any chain need not say of which. */
function isNothingYet({ chainId, said }: Row): boolean {
  return chainId === null && said.kind === "not_started";
}

function sayOnly(subject: Subject, { chainId, said }: Row): Verdict {
  if (chainId === null || chainId === subject.chainId) {
    return said;
  }
  const detail = `Cannot use the answer for chain ${describeValue(subject.chainId)}: it speaks of chain ${chainId.toString()} alone`;
  return { kind: "failed", reason: "implausible", detail };
}

function sayAbsent(nameless: Row["said"] | undefined, subjectCount: number): Verdict {
  if (nameless === undefined) {
    return { kind: "missing" };
  }
  const found = nameless.kind === "head" ? `block number ${nameless.head.block.toString()}` : "a row";
  const chains = subjectCount === 1 ? "1 chain beside rows of others" : `${subjectCount.toString()} chains`;
  const detail = `Cannot tell which chain is meant: answered ${found} without a chain id for ${chains}; a plain answer needs a URL with {chain} or {chain_id}, or a single configured chain`;
  return { kind: "failed", reason: "schema", detail };
}
