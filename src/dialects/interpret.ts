import type { Endpoint } from "../core/model/fleet.ts";
import type { Reply } from "../core/model/http-post.ts";
import type { FailureReason } from "../core/model/observation.ts";
import { classify, type ReplyError } from "./answer/classify.ts";
import type { Outcome } from "./answer/outcome.ts";
import { assignRows, type Subject } from "./assign-rows.ts";
import type { Question, Reading } from "./dialect.ts";
import { readMetaBlock } from "./graph.ts";

/** An HTTP answer with what is needed to interpret it. */
export interface Answered {
  readonly endpoint: Pick<Endpoint, "key" | "kind" | "dialect" | "targets">;
  readonly question: Question;
  readonly reply: Reply;
  /** When the answer was received, unix milliseconds. */
  readonly nowMs: number;
}

/** The result of one question. */
export type Interpretation =
  /** One outcome for each source of the endpoint. The question fitted: the next poll starts with it. */
  | { readonly kind: "answered"; readonly outcomes: readonly Outcome[] }
  /** Not a failure: the next question may fit. */
  | { readonly kind: "refused"; readonly detail: string }
  | {
      readonly kind: "failed";
      readonly reason: FailureReason;
      readonly detail: string;
      /** How long the provider asks to wait, or null. */
      readonly retryAfterMs: number | null;
    };

/** Turns one HTTP answer into an outcome for each of the endpoint's sources. */
export function interpret({ endpoint, question, reply, nowMs }: Answered): Interpretation {
  const classified = classify(reply, nowMs);
  if (classified.kind !== "data") {
    return interpretError(classified, endpoint);
  }
  const reading = readData(question, classified.data);
  if (classified.error !== null && !hasHead(reading)) {
    return interpretError(classified.error, endpoint);
  }
  if (reading.kind === "rows") {
    return {
      kind: "answered",
      outcomes: assignRows(subjectsOf(endpoint), reading.rows).map(withIndexingErrors(classified.error)),
    };
  }
  // With dialect auto, data of another shape may be what another question is meant for.
  if (reading.kind === "refused" || endpoint.dialect === "auto") {
    return { kind: "refused", detail: reading.detail };
  }
  return { ...reading, retryAfterMs: null };
}

/** The same failure for every source of an endpoint: for a poll without a usable answer. */
export function failEverySource(
  endpoint: Answered["endpoint"],
  failure: { readonly reason: FailureReason; readonly detail: string },
): readonly Outcome[] {
  const { reason, detail } = failure;
  return subjectsOf(endpoint).map(({ source }) => ({ source, kind: "failed", reason, detail }));
}

/** Beside an error, a field of null means that it could not be read, and not that nothing is indexed yet. */
function hasHead(reading: Reading): boolean {
  return reading.kind === "rows" && reading.rows.some(({ content }) => content.kind === "head");
}

/** The plain shape of one block number is accepted from every dialect. */
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

function interpretError(error: ReplyError, endpoint: Answered["endpoint"]): Interpretation {
  if (error.kind !== "not_started") {
    return error;
  }
  const outcomes = subjectsOf(endpoint).map(({ source }) => ({ source, kind: "not_started" }) as const);
  return { kind: "answered", outcomes };
}

/** A head beside `indexing_error` still counts, and is flagged. */
function withIndexingErrors(error: ReplyError | null): (outcome: Outcome) => Outcome {
  const isFlagged = error?.kind === "failed" && error.reason === "indexing_error";
  return (outcome) =>
    isFlagged && outcome.kind === "head"
      ? { ...outcome, head: { ...outcome.head, indexingErrors: true } }
      : outcome;
}
