import type { Endpoint } from "./core/fleet.ts";
import type { FailureReason, Observation, PollTimes } from "./core/observation.ts";
import { nextQuestion, refusedByAll } from "./dialects/conversation.ts";
import type { Question } from "./dialects/dialect.ts";
import { failEverySource, type Interpretation, interpret } from "./dialects/interpret.ts";
import type { Outcome } from "./dialects/outcome.ts";
import { questionsFor } from "./dialects/registry.ts";
import type { Post } from "./post.ts";
import type { Redact } from "./redact.ts";

/** What a request is drawn for: the schedule's own, or the spare part of the budget. */
export type Use = "poll" | "spare";

/** The outside of a poll. */
export interface PollPorts {
  readonly post: Post;
  /** Draws one request from the endpoint's budget; false: not to be sent. */
  readonly draw: (endpoint: Endpoint, use: Use) => boolean;
  /** The provider wants to be left alone: for `retryAfterMs`, or, where that is null, as long as seems wise. */
  readonly backOff: (endpoint: Endpoint, retryAfterMs: number | null) => void;
  /** A request was sent and came to its end. */
  readonly onRequest: (endpoint: Endpoint, durationMs: number) => void;
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

/** Polls an endpoint once, and again after a passing failure as often as `retries` allows and the budget bears. */
export async function poll(endpoint: Endpoint, questionIndex: number, ports: PollPorts): Promise<PollResult> {
  let attempt = await converse(endpoint, { questionIndex, use: "poll" }, ports);
  for (let left = ports.retries; left > 0 && isWorthARetry(attempt); left -= 1) {
    if ((await ports.sleep(RETRY_DELAY_MS * (1 + 3 * ports.random()))) === "stopped") {
      break;
    }
    const again = await converse(endpoint, { questionIndex: attempt.questionIndex, use: "spare" }, ports);
    if (again.kind === "failed" && again.reason === "budget") {
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
      if (!isRefusedRetry(answer, from.use)) {
        note(endpoint, answer, ports);
      }
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

/** A poll that failed and can't be tried again has failed once, and for its own reason. */
function isRefusedRetry({ reason }: Failure, use: Use): boolean {
  return reason === "budget" && use === "spare";
}

function startingAt(questions: readonly Question[], index: number): readonly Question[] {
  return [...questions.slice(index), ...questions.slice(0, index)];
}

/** Sends one question, if the budget allows, and understands what comes back. */
async function ask(
  endpoint: Endpoint,
  { question, use }: { readonly question: Question; readonly use: Use },
  ports: PollPorts,
): Promise<PollTimes & { readonly answer: Interpretation }> {
  const nowMs = ports.nowMs();
  if (!ports.draw(endpoint, use)) {
    const detail = "not sent: the budget has nothing left, or its provider wants to be left alone";
    const answer = { kind: "failed", reason: "budget", detail, retryAfterMs: null } as const;
    return { sentAtMs: nowMs, receivedAtMs: nowMs, answer };
  }
  const { url, headers } = endpoint;
  const result = await ports.post({ url, headers, body: question.body });
  const { sentAtMs, receivedAtMs } = result;
  ports.onRequest(endpoint, receivedAtMs - sentAtMs);
  if (result.kind === "failed") {
    return { sentAtMs, receivedAtMs, answer: { ...result, retryAfterMs: null } };
  }
  // Before anything is cut out of it: half of an echoed key would no longer be recognised.
  const reply = { ...result.reply, body: ports.redact(result.reply.body) };
  const answer = interpret({ endpoint, question, reply, nowMs: receivedAtMs });
  return { sentAtMs, receivedAtMs, answer };
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

function isWorthARetry(attempt: Attempt): boolean {
  return attempt.kind === "failed" && attempt.retryAfterMs === null && WORTH_A_RETRY.has(attempt.reason);
}

/** Adds the times and removes the secrets. What shutdown cut off says nothing about anybody. */
function observe(endpoint: Endpoint, attempt: Attempt, ports: PollPorts): readonly Observation[] {
  const { sentAtMs, receivedAtMs } = attempt;
  if (attempt.kind === "failed" && attempt.reason === "aborted") {
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
  return new Map(
    outcomes.flatMap((outcome) => (outcome.kind === "failed" ? [[outcome.reason, outcome] as const] : [])),
  ).values();
}
