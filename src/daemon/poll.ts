import type { Exchange } from "../core/exchange.ts";
import type { Endpoint } from "../core/fleet.ts";
import type { FailureReason, Observation, PollTimes } from "../core/observation.ts";
import { nextQuestion, refusedByAll } from "../dialects/conversation.ts";
import type { Question } from "../dialects/dialect.ts";
import { failEverySource, type Interpretation } from "../dialects/interpret.ts";
import type { Outcome } from "../dialects/outcome.ts";
import { questionsFor } from "../dialects/registry.ts";
import type { Post } from "../post.ts";
import type { Redact } from "../redact.ts";
import type { Use } from "../schedule/budget.ts";
import type { Drawn } from "../schedule/drawn.ts";
import { understand } from "./understand.ts";

/** The outside of a poll. */
export interface PollPorts {
  readonly post: Post;
  /** What the first try is drawn for; all others are spare. */
  readonly use: Use;
  /** Draws one request from the endpoint's budget. */
  readonly draw: (endpoint: Endpoint, use: Use) => Promise<Drawn>;
  /** The provider wants to be left alone: for `retryAfterMs`, or, where that is null, as long as seems wise. */
  readonly backOff: (endpoint: Endpoint, retryAfterMs: number | null) => void;
  /** A request was sent and came to its end. */
  readonly onRequest: (endpoint: Endpoint, exchange: Exchange) => void;
  readonly onFailure: (endpoint: Endpoint, failure: Failure) => void;
  /** Waits; ends early at shutdown, after which nothing more is sent. */
  readonly sleep: (durationMs: number) => Promise<"done" | "stopped">;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly redact: Redact;
  readonly retries: number;
}

/** Why a request, or a row of its answer, gave nothing usable. `detail` may still hold a secret. */
export interface Failure {
  readonly reason: FailureReason;
  readonly detail: string;
}

/** What one poll of an endpoint brought. */
export interface PollResult {
  /** One for each of the endpoint's targets, or for its RPC node; none where the poll was cut off. */
  readonly observations: readonly Observation[];
  /** Which of the dialect's questions fitted last: the next poll begins with it. */
  readonly questionIndex: number;
}

/** One try: the answer to the question that fitted, or what went wrong. */
type Attempt = PollTimes & { readonly questionIndex: number } & (
    | { readonly kind: "said"; readonly outcomes: readonly Outcome[] }
    | (Failure & { readonly kind: "failed"; readonly retryAfterMs: number | null })
    /** The budget did not allow it. */
    | Unsent
  );

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

const RETRY_DELAY_MS = 250;

type Unsent = Failure & { readonly kind: "unsent" };

/** Polls an endpoint once, and again after a passing failure as often as `retries` allows and the budget bears. */
export async function poll(endpoint: Endpoint, questionIndex: number, ports: PollPorts): Promise<PollResult> {
  let attempt = await converse(endpoint, { questionIndex, use: ports.use }, ports);
  for (let left = ports.retries; left > 0 && isWorthARetry(attempt); left -= 1) {
    if ((await ports.sleep(RETRY_DELAY_MS * (1 + ports.random()))) === "stopped") {
      break;
    }
    const again = await converse(endpoint, { questionIndex: attempt.questionIndex, use: "spare" }, ports);
    if (again.kind === "unsent") {
      break;
    }
    attempt = again;
  }
  return { observations: observe(endpoint, attempt, ports), questionIndex: attempt.questionIndex };
}

/** Asks the question that fitted last, and where that is refused the next one of the dialect, at most once around. */
async function converse(
  endpoint: Endpoint,
  from: { readonly questionIndex: number; readonly use: Use },
  ports: PollPorts,
): Promise<Attempt> {
  const questions = questionsFor(endpoint);
  let questionIndex = from.questionIndex;
  let refusal: (PollTimes & { readonly detail: string }) | null = null;
  for (const question of startingAt(questions, questionIndex)) {
    const { answer, ...times } = await ask(endpoint, { question, use: from.use }, ports);
    if (answer.kind === "said") {
      return { ...answer, ...times, questionIndex };
    }
    if (answer.kind === "failed") {
      note(endpoint, answer, ports);
      return { ...answer, ...times, questionIndex };
    }
    if (answer.kind === "unsent") {
      noteUnsent(endpoint, answer, { use: from.use, ports });
      return { ...answer, ...times, questionIndex };
    }
    refusal = { detail: answer.detail, ...times };
    questionIndex = nextQuestion(questionIndex, questions.length);
  }
  const failure = { ...refusedByAll(questions, refusal?.detail ?? ""), retryAfterMs: null };
  note(endpoint, failure, ports);
  const nowMs = ports.nowMs();
  return { kind: "failed", sentAtMs: nowMs, receivedAtMs: nowMs, ...refusal, ...failure, questionIndex };
}

function startingAt(questions: readonly Question[], index: number): readonly Question[] {
  return index === 0 ? questions : [...questions.slice(index), ...questions.slice(0, index)];
}

/** Sends one question, if the budget allows, and understands what comes back. */
async function ask(
  endpoint: Endpoint,
  { question, use }: { readonly question: Question; readonly use: Use },
  ports: PollPorts,
): Promise<PollTimes & { readonly answer: Interpretation | Unsent }> {
  const drawn = await ports.draw(endpoint, use);
  if (drawn.kind === "refused") {
    const nowMs = ports.nowMs();
    return { sentAtMs: nowMs, receivedAtMs: nowMs, answer: { ...drawn, kind: "unsent" } };
  }
  const { url, headers } = endpoint;
  const result = await ports.post({ url, headers, body: question.body });
  const { answer, exchange } = understand({ endpoint, question, result }, ports.redact);
  ports.onRequest(endpoint, exchange);
  return { sentAtMs: result.sentAtMs, receivedAtMs: result.receivedAtMs, answer };
}

/** Counts a failure, and heeds a provider that asks to be left alone. */
function note(
  endpoint: Endpoint,
  failure: Failure & { readonly retryAfterMs: number | null },
  ports: PollPorts,
): void {
  ports.onFailure(endpoint, failure);
  if (failure.reason === "rate_limited" || failure.retryAfterMs !== null) {
    ports.backOff(endpoint, failure.retryAfterMs);
  }
}

/**
 * Counts what our own budget did not allow. Not what the provider's refusal did not, which was counted when it came;
 * and not what was spare: a poll that failed and can't be tried again has failed once, and for its own reason.
 */
function noteUnsent(
  endpoint: Endpoint,
  unsent: Unsent,
  { use, ports }: { readonly use: Use; readonly ports: PollPorts },
): void {
  if (use === "poll" && unsent.reason === "budget") {
    ports.onFailure(endpoint, unsent);
  }
}

function isWorthARetry(attempt: Attempt): boolean {
  return attempt.kind === "failed" && attempt.retryAfterMs === null && WORTH_A_RETRY.has(attempt.reason);
}

/** Adds the times and removes the secrets. What shutdown cut off, or was spare and not sent, says nothing about anybody. */
function observe(endpoint: Endpoint, attempt: Attempt, ports: PollPorts): readonly Observation[] {
  const { sentAtMs, receivedAtMs } = attempt;
  const isCutOff = attempt.kind === "failed" && attempt.reason === "aborted";
  if (isCutOff || (attempt.kind === "unsent" && ports.use === "spare")) {
    return [];
  }
  const outcomes = attempt.kind === "said" ? attempt.outcomes : failEverySource(endpoint, attempt);
  for (const failure of rowFailures(attempt)) {
    ports.onFailure(endpoint, failure);
  }
  return outcomes.map((outcome) => ({
    ...(outcome.kind === "failed" ? { ...outcome, detail: ports.redact(outcome.detail) } : outcome),
    sentAtMs,
    receivedAtMs,
  }));
}

/** Why rows of a good answer can't be used, each reason once. */
function rowFailures(attempt: Attempt): Iterable<Failure> {
  const outcomes = attempt.kind === "said" ? attempt.outcomes : [];
  const failures = new Map<FailureReason, Failure>();
  for (const outcome of outcomes) {
    if (outcome.kind === "failed") {
      failures.set(outcome.reason, outcome);
    }
  }
  return failures.values();
}
