import type { Grant } from "../../budgets/grant.ts";
import type { Use } from "../../budgets/ledger.ts";
import type { Exchange } from "../../core/model/exchange.ts";
import type { Endpoint } from "../../core/model/fleet.ts";
import type { Post } from "../../core/model/http-post.ts";
import type { FailureReason, Observation, PollTimes } from "../../core/model/observation.ts";
import type { Redact } from "../../core/model/redact.ts";
import type { Outcome } from "../../dialects/answer/outcome.ts";
import type { Question } from "../../dialects/dialect.ts";
import { nextQuestion, refusedByAll } from "../../dialects/fallback-query.ts";
import { failEverySource, type Interpretation } from "../../dialects/interpret.ts";
import { questionsFor } from "../../dialects/registry.ts";
import { retryDelayMs } from "../../schedule/retry-delay.ts";
import { interpretReply } from "./interpret-reply.ts";

/** What a poll needs from outside. */
export interface PollPorts {
  readonly post: Post;
  /** What the first request is for; retries are opportunistic. */
  readonly use: Use;
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
export interface Failure {
  readonly reason: FailureReason;
  readonly detail: string;
}

/** What one poll of an endpoint brought. */
export interface PollResult {
  /** One for each of the endpoint's targets, or for its RPC node; none where the poll was aborted. */
  readonly observations: readonly Observation[];
  /** Which of the dialect's questions was answered last: the next poll begins with it. */
  readonly questionIndex: number;
}

/** One attempt: the answer to the question that was not refused, or what went wrong. */
interface Attempt {
  readonly questionIndex: number;
  readonly times: PollTimes;
  readonly answer: Exclude<Interpretation, { readonly kind: "refused" }> | Unsent;
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
export async function poll(endpoint: Endpoint, questionIndex: number, ports: PollPorts): Promise<PollResult> {
  let latest = await attempt(endpoint, { questionIndex, use: ports.use }, ports);
  for (let left = ports.retries; left > 0 && isWorthARetry(latest); left -= 1) {
    if ((await ports.sleep(retryDelayMs(ports.random()))) === "stopped") {
      break;
    }
    const again = await attempt(
      endpoint,
      { questionIndex: latest.questionIndex, use: "opportunistic" },
      ports,
    );
    if (again.answer.kind === "unsent") {
      break;
    }
    latest = again;
  }
  return { observations: observe(endpoint, latest, ports), questionIndex: latest.questionIndex };
}

/** Asks the question that was answered last, and where it is refused the next ones of the dialect, each at most once. */
async function attempt(
  endpoint: Endpoint,
  from: { readonly questionIndex: number; readonly use: Use },
  ports: PollPorts,
): Promise<Attempt> {
  const questions = questionsFor(endpoint);
  let questionIndex = from.questionIndex;
  let refusal: { readonly times: PollTimes; readonly detail: string } | null = null;
  for (const question of startingAt(questions, questionIndex)) {
    const { answer, times } = await ask(endpoint, { question, use: from.use }, ports);
    if (answer.kind !== "refused") {
      report(endpoint, answer, { use: from.use, ports });
      return { answer, times, questionIndex };
    }
    refusal = { detail: answer.detail, times };
    questionIndex = nextQuestion(questionIndex, questions.length);
  }
  const failure = refusedByAll(questions, refusal?.detail ?? "");
  const answer = { kind: "failed", ...failure, retryAfterMs: null } as const;
  report(endpoint, answer, { use: from.use, ports });
  return { answer, times: refusal?.times ?? atOnce(ports.nowMs()), questionIndex };
}

function startingAt(questions: readonly Question[], index: number): readonly Question[] {
  return [...questions.slice(index), ...questions.slice(0, index)];
}

/** Sends one question, if the budget allows, and interprets the reply. */
async function ask(
  endpoint: Endpoint,
  { question, use }: { readonly question: Question; readonly use: Use },
  ports: PollPorts,
): Promise<{ readonly answer: Interpretation | Unsent; readonly times: PollTimes }> {
  const grant = await ports.acquire(endpoint, use);
  if (grant.kind === "refused") {
    return { answer: { ...grant, kind: "unsent" }, times: atOnce(ports.nowMs()) };
  }
  const { url, headers } = endpoint;
  const result = await ports.post({ url, headers, body: question.body });
  const { answer, exchange } = interpretReply({ endpoint, question, result }, ports.redact);
  ports.onRequest(endpoint, exchange);
  if (!asksToWait(answer) && exchange.outcome !== "aborted") {
    ports.onAccepted(endpoint);
  }
  return { answer, times: result };
}

function atOnce(nowMs: number): PollTimes {
  return { sentAtMs: nowMs, receivedAtMs: nowMs };
}

/**
 * Counts a failure, and backs off where the provider asks for it. A scheduled poll that our own budget did not allow
 * counts too. One held back by a back-off does not: the provider's refusal was counted when it came. Nor does a retry
 * that the budget did not allow: that poll has failed once, for its own reason.
 */
function report(
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

function asksToWait(answer: Interpretation): boolean {
  return answer.kind === "failed" && (answer.reason === "rate_limited" || answer.retryAfterMs !== null);
}

function isWorthARetry({ answer }: Attempt): boolean {
  return answer.kind === "failed" && answer.retryAfterMs === null && WORTH_A_RETRY.has(answer.reason);
}

/** Adds the times and removes secrets. A poll that was aborted, or opportunistic and not sent, observes nothing. */
function observe(endpoint: Endpoint, { answer, times }: Attempt, ports: PollPorts): readonly Observation[] {
  const isAborted = answer.kind === "failed" && answer.reason === "aborted";
  if (isAborted || (answer.kind === "unsent" && ports.use === "opportunistic")) {
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
  return outcome.kind === "failed"
    ? { ...outcome, detail: redact(outcome.detail), sentAtMs, receivedAtMs }
    : { ...outcome, sentAtMs, receivedAtMs };
}

/** Why rows of an answer cannot be used, each reason once. */
function rowFailures(outcomes: readonly Outcome[]): Iterable<Failure> {
  const failures = outcomes.filter((outcome) => outcome.kind === "failed");
  return new Map(failures.map((failure) => [failure.reason, failure])).values();
}
