import type { BudgetGate } from "../../budgets/gate.ts";
import type { Use } from "../../budgets/ledger.ts";
import { LONGEST_RETRY_DELAY_MS } from "../../budgets/plan.ts";
import type { BlockOnNode } from "../../core/chain/proofs.ts";
import type { Endpoint } from "../../core/model/fleet.ts";
import type { Post } from "../../core/model/http-post.ts";
import type { FailureReason, Observation, PollTimes } from "../../core/model/observation.ts";
import type { ParityReading } from "../../core/model/parity.ts";
import type { Redact } from "../../core/model/redact.ts";
import { failEverySource } from "../../dialects/assign-rows.ts";
import { askedBy, type Outcome, type Question, requestOf } from "../../dialects/dialect.ts";
import { blockQuestion, CHAIN_ID_QUESTION, questionsFor, RPC_DIALECT } from "../../dialects/families.ts";
import { combineQuestion, readParity } from "../../dialects/parity.ts";
import {
  afterAnswer,
  afterRefusals,
  otherDialect,
  type QuestionSearch,
  questionsToAsk,
} from "../../dialects/search.ts";
import type { World } from "../../io/world.ts";
import type { PollCounters } from "./counters.ts";
import { type DueSelection, dueSelections, noteCarriage, probesOf } from "./due-selections.ts";
import type { EndpointState } from "./endpoint-state.ts";
import { type Answer, interpretResult } from "./interpret-result.ts";

/** Why an endpoint is polled: its schedule, a confirmation before that, or `check`. */
export type Occasion = "schedule" | "extra" | "check";

/** What the polls of one configuration share. */
export interface PollTools {
  readonly post: Post;
  readonly gate: BudgetGate;
  readonly counters: PollCounters;
  readonly redact: Redact;
  readonly retries: number;
  /** Aborted when the process stops: no retry follows. */
  readonly stopping: AbortSignal;
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "random" | "logger">;
}

/** The result of one poll of an endpoint. */
export interface PollResult {
  /**
   * One for each target of the endpoint, or for its RPC node; empty if the poll was aborted or carried no
   * result for them.
   */
  readonly observations: readonly Observation[];
  /** The values that came with them, where the poll carried selections of parity probes. */
  readonly readings: readonly ParityReading[];
  readonly search: QuestionSearch;
}

/** One attempt: the answer to the question that was not refused, or what went wrong. */
interface Attempt {
  readonly search: QuestionSearch;
  readonly times: PollTimes;
  readonly answer:
    | Exclude<Answer, { readonly kind: "refused" }>
    | Unsent
    /** The questions asked so far were refused, and the budget has nothing to spare for the others now. */
    | { readonly kind: "undecided" };
}

/** The result of one question. */
interface Asked {
  readonly question: Question;
  readonly answer: Answer | Unsent;
  readonly times: PollTimes;
  /** The body of the reply, with the secrets that it may echo; empty without a reply. */
  readonly body: string;
}

/** The budget did not allow the request. */
interface Unsent {
  readonly kind: "unsent";
  readonly reason: "budget" | "rate_limited";
  readonly detail: string;
}

type Failed = Extract<Answer, { readonly kind: "failed" }>;

/** Transient failures. */
const WORTH_A_RETRY: ReadonlySet<FailureReason> = new Set([
  "timeout",
  "dns",
  "connect",
  "http_status",
  "graphql",
  "malformed",
  "no_indexers",
]);

/** Reasons for which an RPC node replied, but does not support `eth_chainId`. */
const CHAIN_UNKNOWN: ReadonlySet<FailureReason> = new Set(["graphql", "schema", "unauthorized"]);

/** Failures of the network and the account, which a selection cannot cause. */
const NOT_OF_A_SELECTION: ReadonlySet<FailureReason> = new Set([
  "dns",
  "tls",
  "rate_limited",
  "payment_required",
  "budget",
  "aborted",
]);

/** One poll of an endpoint, from the grant for its first request to the observations of its targets. */
export class Poll {
  readonly #state: EndpointState;
  readonly #endpoint: Endpoint;
  readonly #occasion: Occasion;
  /** What the first request is for; all others are opportunistic. */
  readonly #use: Use;
  readonly #retries: number;
  readonly #tools: PollTools;

  constructor(state: EndpointState, occasion: Occasion, tools: PollTools) {
    this.#state = state;
    this.#endpoint = state.endpoint;
    this.#occasion = occasion;
    this.#use = occasion === "schedule" ? "scheduled" : "opportunistic";
    this.#retries = occasion === "extra" ? 0 : tools.retries;
    this.#tools = tools;
  }

  /** Asks for the heights, and again after a transient failure as often as the retries and the budget allow. */
  async run(): Promise<PollResult> {
    const { search } = this.#state;
    const question = search.isAnswered ? questionsFor(this.#endpoint)[search.questionIndex] : undefined;
    const nowMs = this.#tools.world.monotonicMs();
    const due = this.#occasion === "schedule" ? dueSelections(this.#state, nowMs) : [];
    if (question !== undefined && due.length > 0) {
      return await this.#runCarrying(question, due, nowMs);
    }
    const first = await this.#attempt(search, this.#use);
    const result = this.#resultOf(await this.#retry(first, this.#retries));
    if (due.length === 0 && result.observations.some(({ kind }) => kind !== "failed")) {
      this.#state.isBare = false;
    }
    return result;
  }

  /** What an RPC node has at this height: null where it does not have that block, undefined where it cannot be known now. */
  async blockAt(block: number): Promise<BlockOnNode | null | undefined> {
    const { answer } = await this.#ask(blockQuestion(block), "opportunistic");
    this.#report(answer.kind === "refused" ? schemaFailure(answer.detail) : answer, "opportunistic");
    const [outcome] = answer.kind === "answered" ? answer.outcomes : [];
    if (outcome?.kind === "head") {
      return outcome.head;
    }
    return outcome?.kind === "not_started" ? null : undefined;
  }

  /**
   * Asks for the heights with the selections of parity probes beside them. Where that fails and the selections may be why, the
   * heights are asked alone: an opportunistic request, in place of the first retry if the failure is one that is retried.
   */
  async #runCarrying(question: Question, due: readonly DueSelection[], nowMs: number): Promise<PollResult> {
    const { search } = this.#state;
    const probes = probesOf(due);
    const { question: combined, selections } = combineQuestion(question, probes, this.#endpoint.targets);
    const { answer, times, body } = await this.#ask(combined, this.#use);
    if (answer.kind === "answered") {
      const { outcomes } = answer;
      const readings = readParity(selections, body, outcomes, times);
      const result = this.#resultOf({ answer, times, search: afterAnswer(search) });
      noteCarriage(this.#state, due, "answered", nowMs);
      return { ...result, readings: readings.map((one) => withoutSecrets(one, this.#tools.redact)) };
    }
    // A refused combined request proves nothing about the question alone, so the search stays.
    const failure = answer.kind === "refused" ? schemaFailure(answer.detail) : answer;
    const failed: Attempt = { answer: failure, times, search };
    if (!mayBeOfSelection(failed)) {
      this.#report(failure, this.#use);
      return this.#resultOf(await this.#retry(failed, this.#retries));
    }
    const alone = await this.#askAlone(failed);
    // Where nothing more could be sent, the selections may be why: that is no evidence of the targets.
    const result = alone === failed ? { observations: [], readings: [], search } : this.#resultOf(alone);
    // If another question was answered, the combined one may have been refused for another reason than the selections.
    const isRefused = alone.answer.kind === "answered" && alone.search.questionIndex === search.questionIndex;
    noteCarriage(this.#state, due, isRefused ? "refused" : "unclear", nowMs);
    if (!isRefused) {
      this.#state.isBare ||= result.observations.length === 0;
      return result;
    }
    // With several probes it is unknown which one was refused.
    const refused = probes.length > 1 ? [] : selections;
    const { detail } = failure;
    const { sentAtMs, receivedAtMs } = times;
    const readings = refused.map(
      ({ probe, target }): ParityReading => ({
        kind: "failed",
        probe,
        target,
        detail,
        sentAtMs,
        receivedAtMs,
      }),
    );
    return { ...result, readings };
  }

  /** The heights without the selections. The result is `failed` itself where nothing more could be sent. */
  async #askAlone(failed: Attempt): Promise<Attempt> {
    if (isTransient(failed)) {
      return await this.#retry(failed, Math.max(1, this.#retries));
    }
    const alone = await this.#attempt(failed.search, "opportunistic");
    return alone.answer.kind === "unsent" ? failed : await this.#retry(alone, this.#retries);
  }

  /** Retries while the latest attempt failed for a transient reason; returns the last attempt that was sent. */
  async #retry(first: Attempt, retries: number): Promise<Attempt> {
    const { stopping, world } = this.#tools;
    let latest = first;
    for (let left = retries; left > 0 && isTransient(latest); left -= 1) {
      await sleep((LONGEST_RETRY_DELAY_MS * (1 + world.random())) / 2, stopping);
      if (stopping.aborted) {
        break;
      }
      const again = await this.#attempt(latest.search, "opportunistic");
      if (again.answer.kind === "unsent") {
        break;
      }
      latest = again;
    }
    return latest;
  }

  /** Asks a JSON-RPC node for its chain id before its first block; then asks for the heights. */
  async #attempt(search: QuestionSearch, use: Use): Promise<Attempt> {
    if (this.#endpoint.dialect !== RPC_DIALECT || search.isOfChain) {
      return await this.#askHeights(search, use);
    }
    const { answer, times } = await this.#ask(CHAIN_ID_QUESTION, use);
    if (answer.kind === "refused" || isBelieved(answer)) {
      return await this.#askHeights({ ...search, isOfChain: true }, use);
    }
    this.#report(answer, use);
    return { answer, times, search };
  }

  /**
   * Asks the question that was answered last, and where it is refused the next ones of the dialect, each at most once. That
   * search is opportunistic: where the budget cannot spare it, the next poll goes on with it.
   */
  async #askHeights(from: QuestionSearch, use: Use): Promise<Attempt> {
    const endpoint = this.#endpoint;
    const { nowMs } = this.#tools.world;
    const questions = questionsFor(endpoint);
    const toAsk = questionsToAsk(questions, from, nowMs());
    const { asked, refused } = await this.#askInTurn(toAsk, use);
    const { answer, times } = asked;
    const search = afterRefusals(from, refused, questions.length);
    if (answer.kind === "answered") {
      return { answer, times, search: afterAnswer(search) };
    }
    if (answer.kind !== "refused") {
      // Data of an unexpected shape may belong to another dialect.
      const isOther = answer.kind === "failed" && answer.reason === "schema";
      const failure = isOther ? this.#otherDialect(answer.detail) : answer;
      this.#report(failure, refused === 0 ? use : "opportunistic");
      return { answer: failure, times, search };
    }
    if (search.refused < questions.length) {
      return { answer: { kind: "undecided" }, times, search };
    }
    const found = `expected a reply to ${askedBy(asked.question)}, found: ${answer.detail}`;
    const failure = this.#otherDialect(found);
    this.#report(failure, use);
    const failedAtMs = toAsk.length < questions.length ? search.failedAtMs : nowMs();
    return { answer: failure, times, search: { ...search, failedAtMs } };
  }

  #otherDialect(found: string): Failed {
    return schemaFailure(this.#tools.redact(otherDialect(this.#endpoint, found)));
  }

  /** Asks until a question is not refused; ends earlier where the budget has nothing to spare for the next one. */
  async #askInTurn(
    questions: readonly Question[],
    use: Use,
  ): Promise<{ readonly asked: Asked; readonly refused: number }> {
    let asked: Asked | null = null;
    let refused = 0;
    for (const question of questions) {
      const next = await this.#ask(question, refused === 0 ? use : "opportunistic");
      if (asked !== null && next.answer.kind === "unsent") {
        break;
      }
      asked = next;
      if (next.answer.kind !== "refused") {
        break;
      }
      refused += 1;
    }
    if (asked === null) {
      throw new TypeError(`Cannot poll ${this.#endpoint.key}: its dialect has no question`);
    }
    return { asked, refused };
  }

  /** Sends one question, if the budget allows, and interprets the reply. */
  async #ask(question: Question, use: Use): Promise<Asked> {
    const endpoint = this.#endpoint;
    const { counters, gate, post, redact, world } = this.#tools;
    const grant = await gate.acquire(endpoint, use);
    if (grant.kind === "refused") {
      const nowMs = world.nowMs();
      const times = { sentAtMs: nowMs, receivedAtMs: nowMs };
      return { question, answer: { ...grant, kind: "unsent" }, times, body: "" };
    }
    const result = await post(requestOf(endpoint, question));
    const { answer, exchange, body } = interpretResult(endpoint, question, result, redact);
    counters.countRequest(endpoint, exchange.receivedAtMs - exchange.sentAtMs);
    this.#state.exchanges.note(exchange);
    if (answer.kind === "answered" && endpoint.kind === "indexer") {
      this.#state.served = answer.served;
    }
    if (!asksToWait(answer) && exchange.outcome !== "aborted") {
      gate.accept(endpoint);
    }
    return { question, answer, times: result, body };
  }

  /**
   * Counts a failure, and backs off where the provider asks for it. A scheduled poll that our own budget did not allow
   * counts too. One held back by a back-off does not: the provider's refusal was counted when it came. Nor does a retry
   * that the budget did not allow: that poll has failed once, for its own reason.
   */
  #report(answer: Attempt["answer"], use: Use): void {
    if (answer.kind === "failed") {
      this.#countFailure(answer.reason, answer.detail);
      if (asksToWait(answer)) {
        this.#tools.gate.backOff(this.#endpoint, answer.retryAfterMs);
      }
    } else if (answer.kind === "unsent" && use === "scheduled" && answer.reason === "budget") {
      this.#countFailure(answer.reason, answer.detail);
    }
  }

  #countFailure(reason: FailureReason, detail: string): void {
    const { counters, world } = this.#tools;
    counters.countFailure(this.#endpoint, reason);
    world.logger.debug({ endpoint: this.#endpoint.key, reason, detail }, "Poll failed");
  }

  /** Adds the times. A poll that was aborted, or extra and not sent, observes nothing. */
  #resultOf({ answer, search, times }: Attempt): PollResult {
    const isAborted = answer.kind === "failed" && answer.reason === "aborted";
    const isSpared = answer.kind === "unsent" && this.#occasion === "extra";
    if (isAborted || isSpared || answer.kind === "undecided") {
      return { observations: [], readings: [], search };
    }
    const isAnswered = answer.kind === "answered";
    const outcomes = isAnswered ? answer.outcomes : failEverySource(this.#endpoint, answer);
    if (isAnswered) {
      this.#countRowFailures(outcomes);
    }
    return { observations: outcomes.map((outcome) => timed(outcome, times)), readings: [], search };
  }

  /** Counts why rows of a reply cannot be used, each reason once. */
  #countRowFailures(outcomes: readonly Outcome[]): void {
    const failures = outcomes.filter((outcome) => outcome.kind === "failed");
    for (const [reason, detail] of new Map(failures.map((failure) => [failure.reason, failure.detail]))) {
      this.#countFailure(reason, detail);
    }
  }
}

/** Ends early when `stopping` is aborted. */
function sleep(durationMs: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, durationMs);
    stopping.addEventListener("abort", end);
    function end(): void {
      clearTimeout(timer);
      stopping.removeEventListener("abort", end);
      resolve();
    }
  });
}

/**
 * Whether an RPC node may be believed after this answer to the question for its chain: one that does not know the question may.
 * One of another chain is a mistake in chains.yaml or in the node, and asked again with each poll until that is corrected.
 */
function isBelieved(answer: Attempt["answer"]): boolean {
  return answer.kind === "answered"
    ? answer.outcomes.every(({ kind }) => kind !== "failed")
    : answer.kind === "failed" && CHAIN_UNKNOWN.has(answer.reason);
}

function asksToWait(answer: Answer): boolean {
  return answer.kind === "failed" && (answer.reason === "rate_limited" || answer.retryAfterMs !== null);
}

/** Whether it is worth a retry. */
function isTransient({ answer }: Attempt): boolean {
  return answer.kind === "failed" && answer.retryAfterMs === null && WORTH_A_RETRY.has(answer.reason);
}

/** Whether a request with selections may have failed because of them. */
function mayBeOfSelection({ answer }: Attempt): boolean {
  return answer.kind === "failed" && answer.retryAfterMs === null && !NOT_OF_A_SELECTION.has(answer.reason);
}

function schemaFailure(detail: string): Failed {
  return { kind: "failed", reason: "schema", detail, retryAfterMs: null };
}

function timed(outcome: Outcome, { sentAtMs, receivedAtMs }: PollTimes): Observation {
  // Nearly all are heads, and on Node 20 a spread costs 4 % of a poll.
  return outcome.kind === "head"
    ? { source: outcome.source, kind: "head", head: outcome.head, sentAtMs, receivedAtMs }
    : { ...outcome, sentAtMs, receivedAtMs };
}

function withoutSecrets(reading: ParityReading, redact: Redact): ParityReading {
  if (reading.kind === "failed") {
    return { ...reading, detail: redact(reading.detail) };
  }
  const text = redact(reading.value.text);
  return text === reading.value.text ? reading : { ...reading, value: { text, isNumber: false } };
}
