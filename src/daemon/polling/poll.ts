import type { Grant } from "../../budgets/budgets.ts";
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
import { afterAnswer, afterRefusals, otherDialect, questionsToAsk } from "../../dialects/search.ts";
import type { World } from "../../io/world.ts";
import { type DueSelection, dueSelections, type EndpointState, noteCarried } from "./endpoint-state.ts";
import { type Answer, interpretResult } from "./interpret-result.ts";

/** Why an endpoint is polled: its schedule, a confirmation before that, or `check`. */
export type Occasion = "schedule" | "extra" | "check";

/** What the polls of one configuration share. */
export interface PollTools {
  readonly post: Post;
  readonly gate: BudgetGate;
  readonly redact: Redact;
  readonly retries: number;
  /** Aborted when the process stops: no retry follows. */
  readonly stopping: AbortSignal;
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "random" | "logger">;
}

export interface PollResult {
  /**
   * One for each target of the endpoint, or for its RPC node; empty if the poll was aborted or carried no
   * result for them.
   */
  readonly observations: readonly Observation[];
  /** The values that came with them, where the poll carried selections of a parity probe. */
  readonly readings: readonly ParityReading[];
}

type Unsent = Omit<Extract<Grant, { readonly kind: "refused" }>, "kind"> & { readonly kind: "unsent" };

interface Asked {
  readonly answer: Answer | Unsent;
  readonly times: PollTimes;
  /** The body of the reply, with the secrets that it may echo; empty without a reply. */
  readonly body: string;
}

interface Attempt {
  readonly times: PollTimes;
  readonly answer:
    | Exclude<Answer, { readonly kind: "refused" }>
    | Unsent
    /** The questions asked so far were refused, and the budget has nothing to spare for the others now. */
    | { readonly kind: "undecided" };
  /** Selections were sent with the question, and may be why it failed. */
  readonly isCarrying?: boolean;
}

type Failed = Extract<Answer, { readonly kind: "failed" }>;

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

const NO_RESULT: PollResult = { observations: [], readings: [] };

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
    const nowMs = this.#tools.world.monotonicMs();
    const due = this.#occasion === "schedule" ? dueSelections(this.#state, nowMs) : [];
    const question = questionsFor(this.#endpoint)[this.#state.search.questionIndex];
    if (question !== undefined && due.length > 0) {
      return await this.#runCarrying(question, due, nowMs);
    }
    const result = this.#resultOf(await this.#retry(await this.#attempt(this.#use)));
    this.#state.isBare &&= result.observations.every(({ kind }) => kind === "failed");
    return result;
  }

  /** What an RPC node has at this height: null where it does not have that block, undefined where it cannot be known now. */
  async blockAt(block: number): Promise<BlockOnNode | null | undefined> {
    const { answer } = await this.#ask(blockQuestion(block), "opportunistic");
    if (answer.kind === "failed" || answer.kind === "refused") {
      this.#count({ reason: "schema", ...answer });
    }
    const [outcome] = answer.kind === "answered" ? answer.outcomes : [];
    if (outcome?.kind === "head") {
      return outcome.head;
    }
    return outcome?.kind === "not_started" ? null : undefined;
  }

  /**
   * Asks for the heights with the selections of a parity probe beside them. Where that fails and the selections may be why, the
   * heights are asked alone, and the selections wait; where nothing more can be sent, that is no evidence of the targets.
   */
  async #runCarrying(question: Question, due: readonly DueSelection[], nowMs: number): Promise<PollResult> {
    const state = this.#state;
    const probes = due
      .slice(0, 1)
      .map(({ probe }) => ({ ...probe, selections: due.map((one) => one.selection) }));
    const { question: combined, selections } = combineQuestion(question, probes, this.#endpoint.targets);
    const { answer, times, body } = await this.#ask(combined, this.#use);
    if (answer.kind === "answered") {
      state.search = afterAnswer(state.search);
      noteCarried(state, due, "answered", nowMs);
      const readings = readParity(selections, body, answer.outcomes, times);
      return {
        ...this.#resultOf({ answer, times }),
        readings: readings.map((one) => this.#withoutSecrets(one)),
      };
    }
    // A refused combined request proves nothing about the question alone, so the search stays.
    const failure = answer.kind === "refused" ? schemaFailure(answer.detail) : answer;
    if (failure.kind !== "failed" || !mayBeOfSelection(failure)) {
      const first = failure.kind === "failed" ? this.#failed(failure, times) : { answer: failure, times };
      return this.#resultOf(await this.#retry(first));
    }
    const { questionIndex } = state.search;
    const alone = await this.#retry({ answer: failure, times, isCarrying: true });
    const result = alone.isCarrying === true ? NO_RESULT : this.#resultOf(alone);
    // If another question was answered, the combined one may have been refused for another reason than the selections.
    if (alone.answer.kind !== "answered" || state.search.questionIndex !== questionIndex) {
      noteCarried(state, due, "unclear", nowMs);
      state.isBare = result.observations.length === 0;
      return result;
    }
    noteCarried(state, due, "refused", nowMs);
    const { detail } = failure;
    const { sentAtMs, receivedAtMs } = times;
    return {
      ...result,
      readings: selections.map(({ probe, target }): ParityReading => {
        return { kind: "failed", probe, target, detail, sentAtMs, receivedAtMs };
      }),
    };
  }

  /** Retries while the latest attempt failed for a reason that may pass; returns the last attempt that was sent. */
  async #retry(first: Attempt): Promise<Attempt> {
    const { stopping, world } = this.#tools;
    let latest = first;
    let left = first.isCarrying === true ? Math.max(1, this.#retries) : this.#retries;
    while (left > 0 && (latest.isCarrying === true || isTransient(latest.answer))) {
      left -= 1;
      await pause((LONGEST_RETRY_DELAY_MS * (1 + world.random())) / 2, stopping);
      if (stopping.aborted) {
        break;
      }
      const again = await this.#attempt("opportunistic");
      if (again.answer.kind === "unsent") {
        break;
      }
      latest = again;
    }
    return latest;
  }

  /** Asks a JSON-RPC node for its chain id before its first block; then asks for the heights. */
  async #attempt(use: Use): Promise<Attempt> {
    const { search } = this.#state;
    if (this.#endpoint.dialect === RPC_DIALECT && !search.isOfChain) {
      const { answer, times } = await this.#ask(CHAIN_ID_QUESTION, use);
      if (answer.kind !== "refused" && !isBelieved(answer)) {
        return answer.kind === "failed" ? this.#failed(answer, times) : { answer, times };
      }
      this.#state.search = { ...search, isOfChain: true };
    }
    return await this.#askHeights(use);
  }

  /**
   * Asks the question that was answered last, and where it is refused the next ones of the dialect, each at most once. That
   * search is opportunistic: where the budget cannot spare it, the next poll goes on with it.
   */
  async #askHeights(use: Use): Promise<Attempt> {
    const nowMs = this.#tools.world.nowMs();
    const from = this.#state.search;
    const questions = questionsFor(this.#endpoint);
    const { asked, question, refused } = await this.#askInTurn(questionsToAsk(questions, from, nowMs), use);
    const { answer, times } = asked;
    const search = afterRefusals(from, refused, questions.length, nowMs);
    this.#state.search = answer.kind === "answered" ? afterAnswer(search) : search;
    if (answer.kind === "refused") {
      const found = `expected a reply to ${askedBy(question)}, found: ${answer.detail}`;
      return search.refused < questions.length
        ? { answer: { kind: "undecided" }, times }
        : this.#failed(this.#otherDialect(found), times);
    }
    if (answer.kind !== "failed") {
      return { answer, times };
    }
    // Data of an unexpected shape may belong to another dialect.
    return this.#failed(answer.reason === "schema" ? this.#otherDialect(answer.detail) : answer, times);
  }

  /** Asks until a question is not refused; ends earlier where the budget has nothing to spare for the next one. */
  async #askInTurn([question, ...others]: readonly Question[], use: Use) {
    if (question === undefined) {
      throw new TypeError(`Cannot poll ${this.#endpoint.key}: its dialect has no question`);
    }
    let last = { question, asked: await this.#ask(question, use) };
    let refused = last.asked.answer.kind === "refused" ? 1 : 0;
    for (const next of last.asked.answer.kind === "refused" ? others : []) {
      const asked = await this.#ask(next, "opportunistic");
      if (asked.answer.kind === "unsent") {
        break;
      }
      last = { question: next, asked };
      if (asked.answer.kind !== "refused") {
        break;
      }
      refused += 1;
    }
    return { ...last, refused };
  }

  #failed(answer: Failed, times: PollTimes): Attempt {
    this.#count(answer);
    return { answer, times };
  }

  #otherDialect(found: string): Failed {
    return schemaFailure(this.#tools.redact(otherDialect(this.#endpoint, found)));
  }

  /** Sends one question, if the budget allows, and interprets the reply; backs off where the provider asks for it. */
  async #ask(question: Question, use: Use): Promise<Asked> {
    const endpoint = this.#endpoint;
    const { gate, post, redact, world } = this.#tools;
    const grant = await gate.acquire(endpoint, use);
    if (grant.kind === "refused") {
      const nowMs = world.nowMs();
      const times = { sentAtMs: nowMs, receivedAtMs: nowMs };
      return { answer: { ...grant, kind: "unsent" }, times, body: "" };
    }
    const result = await post(requestOf(endpoint, question));
    const { answer, exchange, body } = interpretResult(endpoint, question, result, redact);
    this.#state.counters.countRequest(exchange.receivedAtMs - exchange.sentAtMs);
    this.#state.exchanges.note(exchange);
    if (answer.kind === "answered" && endpoint.kind === "indexer") {
      this.#state.served = answer.served;
    }
    if (answer.kind === "failed" && (answer.reason === "rate_limited" || answer.retryAfterMs !== null)) {
      gate.backOff(endpoint, answer.retryAfterMs);
    } else if (exchange.outcome !== "aborted") {
      gate.accept(endpoint);
    }
    return { answer, times: result, body };
  }

  #count({ reason, detail }: { readonly reason: FailureReason; readonly detail: string }): void {
    this.#state.counters.countFailure(reason);
    this.#tools.world.logger.debug({ endpoint: this.#endpoint.key, reason, detail }, "Poll failed");
  }

  /**
   * Adds the times, and counts why rows cannot be used, each reason once. A poll that was aborted, or extra and not sent, observes
   * nothing. One held back by a back-off is not counted: the provider's refusal was counted when it came.
   */
  #resultOf({ answer, times }: Attempt): PollResult {
    const isAborted = answer.kind === "failed" && answer.reason === "aborted";
    const isSpared = answer.kind === "unsent" && this.#occasion === "extra";
    if (isAborted || isSpared || answer.kind === "undecided") {
      return NO_RESULT;
    }
    if (answer.kind === "answered") {
      const failures = answer.outcomes.filter((outcome) => outcome.kind === "failed");
      for (const failure of new Map(failures.map((one) => [one.reason, one])).values()) {
        this.#count(failure);
      }
    } else if (answer.kind === "unsent" && this.#use === "scheduled" && answer.reason === "budget") {
      this.#count(answer);
    }
    const outcomes = answer.kind === "answered" ? answer.outcomes : failEverySource(this.#endpoint, answer);
    return { observations: outcomes.map((outcome) => timed(outcome, times)), readings: [] };
  }

  #withoutSecrets(reading: ParityReading): ParityReading {
    const { redact } = this.#tools;
    if (reading.kind === "failed") {
      return { ...reading, detail: redact(reading.detail) };
    }
    const text = redact(reading.value.text);
    return text === reading.value.text ? reading : { ...reading, value: { text, isNumber: false } };
  }
}

/** Ends early when `stopping` is aborted. */
function pause(durationMs: number, stopping: AbortSignal): Promise<void> {
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
function isBelieved(answer: Asked["answer"]): boolean {
  return answer.kind === "answered"
    ? answer.outcomes.every(({ kind }) => kind !== "failed")
    : answer.kind === "failed" && CHAIN_UNKNOWN.has(answer.reason);
}

function isTransient(answer: Attempt["answer"]): boolean {
  return answer.kind === "failed" && answer.retryAfterMs === null && WORTH_A_RETRY.has(answer.reason);
}

/** Whether a request with selections may have failed because of them. */
function mayBeOfSelection(answer: Failed): boolean {
  return answer.retryAfterMs === null && !NOT_OF_A_SELECTION.has(answer.reason);
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
