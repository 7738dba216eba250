import type { Grant } from "../../budgets/budgets.ts";
import type { Use } from "../../budgets/ledger.ts";
import type { Exchange } from "../../core/model/exchange.ts";
import type { Endpoint } from "../../core/model/fleet.ts";
import type { Post } from "../../core/model/http-post.ts";
import type { FailureReason, Observation, PollTimes } from "../../core/model/observation.ts";
import type { ParityReading } from "../../core/model/parity.ts";
import type { Redact } from "../../core/model/redact.ts";
import { failEverySource } from "../../dialects/assign-rows.ts";
import type { Outcome, Question } from "../../dialects/dialect.ts";
import { CHAIN_ID_QUESTION, questionsFor } from "../../dialects/families.ts";
import {
  afterAnswer,
  afterRefusals,
  otherDialect,
  type QuestionSearch,
  questionsToAsk,
  refusedByAll,
} from "../../dialects/search.ts";
import { retryDelayMs } from "../../schedule/retry-delay.ts";
import { type Answer, interpretResult } from "./interpret-result.ts";

/** What a poll needs from outside. */
export interface PollPorts {
  readonly post: Post;
  /** What the first request is for; retries are opportunistic. */
  readonly use: Use;
  /** Whether a poll that the budget did not allow is observed as a failure of its targets. */
  readonly unsent: "observed" | "ignored";
  /** Counts one request against the endpoint's budget. */
  readonly acquire: (endpoint: Endpoint, use: Use) => Promise<Grant>;
  /** The provider asks us to wait: for `retryAfterMs`, or, where that is null, for a time of our choice. */
  readonly backOff: (endpoint: Endpoint, retryAfterMs: number | null) => void;
  /** The provider answered a request without asking us to wait. */
  readonly onAccepted: (endpoint: Endpoint) => void;
  /** A request was sent and has ended. */
  readonly onRequest: (endpoint: Endpoint, exchange: Exchange) => void;
  readonly onFailure: (endpoint: Endpoint, failure: Failure) => void;
  /** Waits; ends early at shutdown, after which nothing more is sent. */
  readonly sleep: (durationMs: number) => Promise<"done" | "stopped">;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly redact: Redact;
  readonly retries: number;
}

/** Why a request, or a row of its answer, gave nothing usable. `detail` may still contain a secret. */
interface Failure {
  readonly reason: FailureReason;
  readonly detail: string;
}

/** What one poll of an endpoint brought. */
export interface PollResult {
  /** One for each of the endpoint's targets, or for its RPC node; none where the poll was aborted. */
  readonly observations: readonly Observation[];
  /** The values that came with them, where the poll carried a parity probe. */
  readonly readings: readonly ParityReading[];
  readonly search: QuestionSearch;
}

/** What an attempt begins with. */
interface AttemptFrom {
  readonly search: QuestionSearch;
  readonly use: Use;
}

/** One attempt: the answer to the question that was not refused, or what went wrong. */
export interface Attempt {
  readonly search: QuestionSearch;
  readonly times: PollTimes;
  readonly answer: Exclude<Answer, { readonly kind: "refused" }> | Unsent | Undecided;
}

/** What came of one question. */
interface Asked {
  readonly answer: Answer | Unsent;
  readonly times: PollTimes;
  /** Of the reply, with the secrets that it may echo; empty where there was none. */
  readonly body: string;
}

/** The questions asked so far were refused, and the budget has nothing to spare for the others now. */
interface Undecided {
  readonly kind: "undecided";
}

/** The budget did not allow the request. */
type Unsent = Failure & { readonly kind: "unsent" };

/** Failures that may be over a moment later. */
const WORTH_A_RETRY: ReadonlySet<FailureReason> = new Set([
  "timeout",
  "dns",
  "connect",
  "http_status",
  "graphql",
  "malformed",
  "no_indexers",
]);

/** Polls an endpoint once, and again after a transient failure as often as `retries` and the budget allow. */
export async function poll(
  endpoint: Endpoint,
  search: QuestionSearch,
  ports: PollPorts,
): Promise<PollResult> {
  const first = await attempt(endpoint, { search, use: ports.use }, ports);
  const latest = await retry(endpoint, { latest: first, retries: ports.retries }, ports);
  return { observations: observe(endpoint, latest, ports), readings: [], search: latest.search };
}

/** Asks again while the latest attempt failed for a reason that may be over a moment later; returns the last that was sent. */
export async function retry(
  endpoint: Endpoint,
  { latest, retries }: { readonly latest: Attempt; readonly retries: number },
  ports: PollPorts,
): Promise<Attempt> {
  if (
    retries === 0 ||
    !isTransient(latest) ||
    (await ports.sleep(retryDelayMs(ports.random()))) === "stopped"
  ) {
    return latest;
  }
  const again = await attempt(endpoint, { search: latest.search, use: "opportunistic" }, ports);
  return again.answer.kind === "unsent"
    ? latest
    : retry(endpoint, { latest: again, retries: retries - 1 }, ports);
}

/** Asks an RPC node for its chain before its first block is asked for and believed; then asks for the heights. */
export async function attempt(endpoint: Endpoint, from: AttemptFrom, ports: PollPorts): Promise<Attempt> {
  if (endpoint.kind === "indexer" || from.search.isOfChain) {
    return await askHeights(endpoint, from, ports);
  }
  const { search, use } = from;
  const { answer, times } = await ask(endpoint, { question: CHAIN_ID_QUESTION, use }, ports);
  if (answer.kind === "refused" || isBelieved(answer)) {
    return await askHeights(endpoint, { search: { ...search, isOfChain: true }, use }, ports);
  }
  report(endpoint, answer, { use, ports });
  return { answer, times, search };
}

/** With one of these reasons a node has replied, but does not know the question for its chain. */
const CHAIN_UNKNOWN: ReadonlySet<FailureReason> = new Set(["graphql", "schema", "unauthorized"]);

/**
 * Whether an RPC node may be believed after this answer to the question for its chain: one that does not know the question may.
 * One of another chain is a mistake in chains.yaml or in the node, and asked again with each poll until that is corrected.
 */
function isBelieved(answer: Attempt["answer"]): boolean {
  return answer.kind === "answered"
    ? answer.outcomes.every(({ kind }) => kind !== "failed")
    : answer.kind === "failed" && CHAIN_UNKNOWN.has(answer.reason);
}

/**
 * Asks the question that was answered last, and where it is refused the next ones of the dialect, each at most once. That
 * search is opportunistic: where the budget cannot spare it, the next poll goes on with it.
 */
async function askHeights(endpoint: Endpoint, from: AttemptFrom, ports: PollPorts): Promise<Attempt> {
  const questions = questionsFor(endpoint);
  const toAsk = questionsToAsk(questions, from.search, ports.nowMs());
  const { asked, refused, use } = await askInTurn(endpoint, { questions: toAsk, use: from.use }, ports);
  const search = afterRefusals(from.search, refused, questions.length);
  const { times } = asked;
  const answer = withDialect(asked.answer, endpoint);
  if (answer.kind !== "refused") {
    report(endpoint, answer, { use, ports });
    return { answer, times, search: answer.kind === "answered" ? afterAnswer(search) : search };
  }
  if (search.refused < questions.length) {
    return { answer: { kind: "undecided" }, times, search };
  }
  const refusal = refusedByAll(endpoint, toAsk[refused - 1], answer.detail);
  const failure = { kind: "failed", ...refusal, retryAfterMs: null } as const;
  report(endpoint, failure, { use: from.use, ports });
  const failedAtMs = toAsk.length < questions.length ? search.failedAtMs : ports.nowMs();
  return { answer: failure, times, search: { ...search, failedAtMs } };
}

/** Data of an unexpected shape may be those of another dialect. */
function withDialect(answer: Asked["answer"], endpoint: Endpoint): Asked["answer"] {
  return answer.kind === "failed" && answer.reason === "schema"
    ? { ...answer, detail: otherDialect(endpoint, answer.detail) }
    : answer;
}

/** Asks until a question is not refused; ends earlier where the budget has nothing to spare for the next one. */
async function askInTurn(
  endpoint: Endpoint,
  { questions, use }: { readonly questions: readonly Question[]; readonly use: Use },
  ports: PollPorts,
): Promise<{ readonly asked: Asked; readonly refused: number; readonly use: Use }> {
  const [first, ...others] = questions;
  if (first === undefined) {
    throw new TypeError(`Cannot poll ${endpoint.key}: its dialect has no question`);
  }
  let asked = await ask(endpoint, { question: first, use }, ports);
  let refused = asked.answer.kind === "refused" ? 1 : 0;
  for (const question of others) {
    if (asked.answer.kind !== "refused") {
      break;
    }
    const next = await ask(endpoint, { question, use: "opportunistic" }, ports);
    if (next.answer.kind === "unsent") {
      break;
    }
    asked = next;
    refused += next.answer.kind === "refused" ? 1 : 0;
  }
  return { asked, refused, use: refused === 0 ? use : "opportunistic" };
}

/** Sends one question, if the budget allows, and interprets the reply. */
export async function ask(
  endpoint: Endpoint,
  { question, use }: { readonly question: Question; readonly use: Use },
  ports: PollPorts,
): Promise<Asked> {
  const grant = await ports.acquire(endpoint, use);
  if (grant.kind === "refused") {
    return { answer: { ...grant, kind: "unsent" }, times: atOnce(ports.nowMs()), body: "" };
  }
  const { url, headers } = endpoint;
  const result = await ports.post({ url, headers, body: question.body });
  const { answer, exchange, body } = interpretResult({ endpoint, question, result }, ports.redact);
  ports.onRequest(endpoint, exchange);
  if (!asksToWait(answer) && exchange.outcome !== "aborted") {
    ports.onAccepted(endpoint);
  }
  return { answer, times: result, body };
}

function atOnce(nowMs: number): PollTimes {
  return { sentAtMs: nowMs, receivedAtMs: nowMs };
}

/**
 * Counts a failure, and backs off where the provider asks for it. A scheduled poll that our own budget did not allow
 * counts too. One held back by a back-off does not: the provider's refusal was counted when it came. Nor does a retry
 * that the budget did not allow: that poll has failed once, for its own reason.
 */
export function report(
  endpoint: Endpoint,
  answer: Attempt["answer"],
  { use, ports }: { readonly use: Use; readonly ports: PollPorts },
): void {
  if (answer.kind === "unsent" && use === "scheduled" && answer.reason === "budget") {
    ports.onFailure(endpoint, answer);
  }
  if (answer.kind !== "failed") {
    return;
  }
  ports.onFailure(endpoint, answer);
  if (asksToWait(answer)) {
    ports.backOff(endpoint, answer.retryAfterMs);
  }
}

function asksToWait(answer: Answer): boolean {
  return answer.kind === "failed" && (answer.reason === "rate_limited" || answer.retryAfterMs !== null);
}

/** Whether it is worth a retry. */
export function isTransient({ answer }: Attempt): boolean {
  return answer.kind === "failed" && answer.retryAfterMs === null && WORTH_A_RETRY.has(answer.reason);
}

/** Adds the times and removes secrets. A poll that was aborted, or opportunistic and not sent, observes nothing. */
export function observe(
  endpoint: Endpoint,
  { answer, times }: Attempt,
  ports: PollPorts,
): readonly Observation[] {
  const isAborted = answer.kind === "failed" && answer.reason === "aborted";
  if (isAborted || answer.kind === "undecided" || (answer.kind === "unsent" && ports.unsent === "ignored")) {
    return [];
  }
  if (answer.kind !== "answered") {
    return failEverySource(endpoint, answer).map((outcome) => timed(outcome, times, ports.redact));
  }
  for (const failure of rowFailures(answer.outcomes)) {
    ports.onFailure(endpoint, failure);
  }
  return answer.outcomes.map((outcome) => timed(outcome, times, ports.redact));
}

function timed(outcome: Outcome, { sentAtMs, receivedAtMs }: PollTimes, redact: Redact): Observation {
  if (outcome.kind === "head") {
    // Nearly all are heads, and on Node 20 a spread costs 4 % of a poll.
    return { source: outcome.source, kind: "head", head: outcome.head, sentAtMs, receivedAtMs };
  }
  return outcome.kind === "failed"
    ? { ...outcome, detail: redact(outcome.detail), sentAtMs, receivedAtMs }
    : { ...outcome, sentAtMs, receivedAtMs };
}

/** Why rows of an answer cannot be used, each reason once. */
function rowFailures(outcomes: readonly Outcome[]): Iterable<Failure> {
  const failures = outcomes.filter((outcome) => outcome.kind === "failed");
  return failures.length === 0 ? [] : new Map(failures.map((failure) => [failure.reason, failure])).values();
}
