import type { Grant } from "../../budgets/grant.ts";
import type { Use } from "../../budgets/ledger.ts";
import { LONGEST_RETRY_DELAY_MS } from "../../budgets/plan.ts";
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
import { interpretReply } from "./interpret-reply.ts";

/** The outside of a poll. */
export interface PollPorts {
  readonly post: Post;
  /** What the first try is drawn for; all others are spare. */
  readonly use: Use;
  /** Draws one request from the endpoint's budget. */
  readonly draw: (endpoint: Endpoint, use: Use) => Promise<Grant>;
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
interface Attempt {
  readonly questionIndex: number;
  readonly times: PollTimes;
  readonly answer: Exclude<Interpretation, { readonly kind: "refused" }> | Unsent;
}

/** The budget did not allow it. */
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

/** Polls an endpoint once, and again after a passing failure as often as `retries` allows and the budget bears. */
export async function poll(endpoint: Endpoint, questionIndex: number, ports: PollPorts): Promise<PollResult> {
  let attempt = await converse(endpoint, { questionIndex, use: ports.use }, ports);
  for (let left = ports.retries; left > 0 && isWorthARetry(attempt); left -= 1) {
    if ((await ports.sleep((LONGEST_RETRY_DELAY_MS * (1 + ports.random())) / 2)) === "stopped") {
      break;
    }
    const again = await converse(endpoint, { questionIndex: attempt.questionIndex, use: "spare" }, ports);
    if (again.answer.kind === "unsent") {
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
  let refusal: { readonly times: PollTimes; readonly detail: string } | null = null;
  for (const question of startingAt(questions, questionIndex)) {
    const { answer, times } = await ask(endpoint, { question, use: from.use }, ports);
    if (answer.kind !== "refused") {
      note(endpoint, answer, { use: from.use, ports });
      return { answer, times, questionIndex };
    }
    refusal = { detail: answer.detail, times };
    questionIndex = nextQuestion(questionIndex, questions.length);
  }
  const failure = refusedByAll(questions, refusal?.detail ?? "");
  const answer = { kind: "failed", ...failure, retryAfterMs: null } as const;
  note(endpoint, answer, { use: from.use, ports });
  return { answer, times: refusal?.times ?? atOnce(ports.nowMs()), questionIndex };
}

function startingAt(questions: readonly Question[], index: number): readonly Question[] {
  return index === 0 ? questions : [...questions.slice(index), ...questions.slice(0, index)];
}

/** Sends one question, if the budget allows, and understands what comes back. */
async function ask(
  endpoint: Endpoint,
  { question, use }: { readonly question: Question; readonly use: Use },
  ports: PollPorts,
): Promise<{ readonly answer: Interpretation | Unsent; readonly times: PollTimes }> {
  const drawn = await ports.draw(endpoint, use);
  if (drawn.kind === "refused") {
    return { answer: { ...drawn, kind: "unsent" }, times: atOnce(ports.nowMs()) };
  }
  const { url, headers } = endpoint;
  const result = await ports.post({ url, headers, body: question.body });
  const { answer, exchange } = interpretReply({ endpoint, question, result }, ports.redact);
  ports.onRequest(endpoint, exchange);
  return { answer, times: result };
}

function atOnce(nowMs: number): PollTimes {
  return { sentAtMs: nowMs, receivedAtMs: nowMs };
}

/**
 * Counts a failure, and heeds a provider that asks to be left alone. What our own budget did not allow counts too; not
 * what the provider's refusal did not, which was counted when it came, and not what was spare: a poll that failed and
 * can't be tried again has failed once, and for its own reason.
 */
function note(
  endpoint: Endpoint,
  answer: Attempt["answer"],
  { use, ports }: { readonly use: Use; readonly ports: PollPorts },
): void {
  if (answer.kind === "unsent" && use === "poll" && answer.reason === "budget") {
    ports.onFailure(endpoint, answer);
  }
  if (answer.kind !== "failed") {
    return;
  }
  ports.onFailure(endpoint, answer);
  if (answer.reason === "rate_limited" || answer.retryAfterMs !== null) {
    ports.backOff(endpoint, answer.retryAfterMs);
  }
}

function isWorthARetry({ answer }: Attempt): boolean {
  return answer.kind === "failed" && answer.retryAfterMs === null && WORTH_A_RETRY.has(answer.reason);
}

/** Adds the times and removes the secrets. What shutdown cut off, or was spare and not sent, says nothing about anybody. */
function observe(endpoint: Endpoint, { answer, times }: Attempt, ports: PollPorts): readonly Observation[] {
  const isCutOff = answer.kind === "failed" && answer.reason === "aborted";
  if (isCutOff || (answer.kind === "unsent" && ports.use === "spare")) {
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
  const { source, kind } = outcome;
  switch (kind) {
    case "head":
      // Nearly all are heads, and spreading costs many times what naming does.
      return { source, kind, head: outcome.head, sentAtMs, receivedAtMs };
    case "failed":
      return { ...outcome, detail: redact(outcome.detail), sentAtMs, receivedAtMs };
    default:
      return { ...outcome, sentAtMs, receivedAtMs };
  }
}

/** Why rows of a good answer can't be used, each reason once. */
function rowFailures(outcomes: readonly Outcome[]): Iterable<Failure> {
  const failures = outcomes.filter((outcome) => outcome.kind === "failed");
  return failures.length < 2
    ? failures
    : new Map(failures.map((failure) => [failure.reason, failure])).values();
}
