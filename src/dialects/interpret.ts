import type { Endpoint } from "../core/model/fleet.ts";
import type { Reply } from "../core/model/http-post.ts";
import type { FailureReason } from "../core/model/observation.ts";
import { classify, type ReplyError } from "./answer/classify.ts";
import type { Outcome } from "./answer/outcome.ts";
import { assignRows, type Subject } from "./assign-rows.ts";
import type { Question, Reading } from "./dialect.ts";
import { readMetaBlock } from "./graph.ts";

/** An HTTP answer with what is needed to understand it. */
export interface Answered {
  readonly endpoint: Pick<Endpoint, "key" | "kind" | "dialect" | "targets">;
  readonly question: Question;
  readonly reply: Reply;
  /** When the answer was received, unix milliseconds. */
  readonly nowMs: number;
}

/** What came of one question. */
export type Interpretation =
  /** One for each source of the endpoint. The question fitted: it is the one to begin with next time. */
  | { readonly kind: "said"; readonly outcomes: readonly Outcome[] }
  /** No failure: the next question may fit. */
  | { readonly kind: "refused"; readonly detail: string }
  | {
      readonly kind: "failed";
      readonly reason: FailureReason;
      readonly detail: string;
      /** How long the provider asks to be left alone, or null. */
      readonly retryAfterMs: number | null;
    };

/** Turns one HTTP answer into what it says of each of the endpoint's sources. */
export function interpret({ endpoint, question, reply, nowMs }: Answered): Interpretation {
  const classified = classify(reply, nowMs);
  if (classified.kind !== "data") {
    return settle(classified, endpoint);
  }
  const reading = readData(question, classified.data);
  if (reading.kind === "rows") {
    return {
      kind: "said",
      outcomes: assignRows(subjectsOf(endpoint), reading.rows).map(heed(classified.trouble)),
    };
  }
  if (classified.trouble !== null) {
    return settle(classified.trouble, endpoint);
  }
  // An endpoint that nobody has described may well answer in a shape that another question is meant for.
  if (reading.kind === "refused" || endpoint.dialect === "auto") {
    return { kind: "refused", detail: reading.detail };
  }
  return { ...reading, retryAfterMs: null };
}

/** The same failure for every source of an endpoint: for a poll that brought no answer, or none of use. */
export function failEverySource(
  endpoint: Answered["endpoint"],
  failure: { readonly reason: FailureReason; readonly detail: string },
): readonly Outcome[] {
  const { reason, detail } = failure;
  return subjectsOf(endpoint).map(({ source }) => ({ source, kind: "failed", reason, detail }));
}

/** The plain shape of one block number is understood whatever was asked. */
function readData(question: Question, data: unknown): Reading {
  const reading = question.read(data);
  if (reading.kind === "rows") {
    return reading;
  }
  const plain = readMetaBlock(data);
  return plain.kind === "rows" ? plain : reading;
}

function subjectsOf(endpoint: Answered["endpoint"]): readonly Subject[] {
  return endpoint.kind === "rpc"
    ? [{ source: endpoint.key, chainId: null }]
    : endpoint.targets.map(({ key, chainId }) => ({ source: key, chainId }));
}

function settle(trouble: ReplyError, endpoint: Answered["endpoint"]): Interpretation {
  if (trouble.kind !== "not_started") {
    return trouble;
  }
  const outcomes = subjectsOf(endpoint).map(({ source }) => ({ source, kind: "not_started" }) as const);
  return { kind: "said", outcomes };
}

/** A head that comes with `indexing_error` still counts, yet its indexer has said that it is in trouble. */
function heed(trouble: ReplyError | null): (outcome: Outcome) => Outcome {
  const isBadNews = trouble?.kind === "failed" && trouble.reason === "indexing_error";
  return (outcome) =>
    isBadNews && outcome.kind === "head"
      ? { ...outcome, head: { ...outcome.head, indexingErrors: true } }
      : outcome;
}
