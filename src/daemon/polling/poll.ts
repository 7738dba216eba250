import type { BudgetGate } from "../../budgets/gate.ts";
import type { Use } from "../../budgets/ledger.ts";
import { failureWords } from "../../core/model/failure-words.ts";
import type { Post } from "../../core/model/http-post.ts";
import type {
  Failure,
  FailureReason,
  Observation,
  PollTimes,
  ReportedBlock,
} from "../../core/model/observation.ts";
import type { ParityReading } from "../../core/model/parity.ts";
import type { Redact } from "../../core/model/redact.ts";
import type { QueryAddress, QueryResult, Selection } from "../../core/model/selection.ts";
import { failEverySource } from "../../dialects/assign-rows.ts";
import { type Question, questionText, requestOf } from "../../dialects/dialect.ts";
import { blockQuestion, CHAIN_ID_QUESTION, questionsFor, RPC_DIALECT } from "../../dialects/families.ts";
import { afterAnswer, afterRefusals, otherDialect, questionsToAsk } from "../../dialects/search.ts";
import {
  type AliasedSelection,
  combineQuestion,
  readSelections,
  refusedSelections,
  type SelectionReplies,
  separateQuestion,
} from "../../dialects/selections.ts";
import type { World } from "../../io/world.ts";
import {
  doubtfulSelections,
  dueSelections,
  type EndpointState,
  noteExchange,
  noteResults,
  noteSent,
} from "./endpoint-state.ts";
import { type Answer, interpretResult } from "./interpret-result.ts";

/** The longest delay before a failed poll is retried: short compared with the poll intervals, so that faults show soon. */
const LONGEST_RETRY_DELAY_MS = 200;

/** A server that fails is asked again after this time, even if it names a later one. */
const LONGEST_WAIT_MS = 3_600_000;

/** Why an endpoint is polled: its schedule, a decision between two scheduled polls, or `check`. */
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
  /** The values of selections that are compared between variants. */
  readonly readings: readonly ParityReading[];
}

/** A question and its result. */
interface Attempt {
  readonly question: Question;
  readonly answer:
    | Answer
    /** Held back by our own limit, or because the provider asked us to wait after a rate limit or another failure. */
    | ({ readonly kind: "unsent" } & Failure);
  readonly times: PollTimes;
  /** How long nothing is sent after this attempt; absent: until the next poll. */
  readonly waitMs?: number;
  /** The body of the reply, with the secrets that it may echo; empty without a reply. */
  readonly body: string;
}

/** A question for the heights, combined with selections of a probe. */
interface CombinedQuestion {
  readonly question: Question;
  readonly selections: readonly AliasedSelection[];
  /** By a clock that never jumps. */
  readonly sentMs: number;
}

const WORTH_A_RETRY: ReadonlySet<FailureReason> = new Set([
  "timeout",
  "dns",
  "connect",
  "http_status",
  "graphql",
  "malformed",
  "no_indexers",
]);

/** Failures by which an RPC node shows that it does not support `eth_chainId`. */
const CHAIN_UNKNOWN: ReadonlySet<FailureReason> = new Set(["graphql", "schema", "unauthorized"]);

/** Failures of the network and the account, which a selection cannot cause. */
const NOT_OF_A_SELECTION: ReadonlySet<FailureReason> = new Set([
  "dns",
  "tls",
  "rate_limited",
  "payment_required",
  "aborted",
]);

const NO_RESULT: PollResult = { observations: [], readings: [] };

/** One poll of an endpoint, from the grant for its first request to the observations of its targets. */
export class Poll {
  readonly #state: EndpointState;
  readonly #occasion: Occasion;
  /** What the first request is for; all others are opportunistic. */
  readonly #use: Use;
  readonly #retries: number;
  readonly #tools: PollTools;

  constructor(state: EndpointState, occasion: Occasion, tools: PollTools) {
    this.#state = state;
    this.#occasion = occasion;
    this.#use = occasion === "schedule" ? "scheduled" : "opportunistic";
    this.#retries = occasion === "extra" ? 0 : tools.retries;
    this.#tools = tools;
  }

  /**
   * Asks for the heights, together with the due selections of a probe, and retries after a transient failure. If the selections
   * may have caused a failure, the heights are asked for alone. Selections with a URL of their own are sent after the heights.
   */
  async run(): Promise<PollResult> {
    const due = this.#selectionsAt(this.#tools.world.monotonicMs());
    const address = due[0]?.address ?? null;
    const combined = address === null ? this.#combine(due) : null;
    if (combined === null) {
      const result = this.#resultOf(await this.#retry(await this.#attempt(this.#use)));
      return address === null ? result : await this.#askSeparately(due, address, result);
    }
    const first = await this.#ask(combined.question, this.#use);
    if (first.answer.kind === "answered") {
      this.#state.search = afterAnswer(this.#state.search);
      noteSent(this.#state, combined);
      const replies = readSelections(combined.selections, first.body, first.answer.observations, first.times);
      return this.#withReplies(this.#resultOf(first), replies);
    }
    if (mayBeOfSelection(first.answer)) {
      return await this.#askAlone(combined, first, wordsOf(first.answer));
    }
    return this.#resultOf(await this.#retry(this.#counted(first)));
  }

  /** The block of an RPC node at this height: null if the node does not have it, undefined if that cannot be known now. */
  async blockAt(block: number): Promise<ReportedBlock | null | undefined> {
    const { answer } = await this.#ask(blockQuestion(block), "opportunistic");
    if (answer.kind === "failed" || answer.kind === "refused") {
      this.#count({ reason: "schema", ...answer });
    }
    const [observation] = answer.kind === "answered" ? answer.observations : [];
    if (observation?.kind === "head") {
      return observation.head;
    }
    return observation?.kind === "not_started" ? null : undefined;
  }

  #combine(due: readonly Selection[]): CombinedQuestion | null {
    const { endpoint, search } = this.#state;
    const sentMs = this.#tools.world.monotonicMs();
    const heights = questionsFor(endpoint)[search.questionIndex];
    return due.length === 0 || heights === undefined
      ? null
      : { sentMs, ...combineQuestion(heights, due, endpoint.targets) };
  }

  #selectionsAt(nowMs: number): readonly Selection[] {
    if (this.#occasion === "check") {
      return [];
    }
    return this.#occasion === "schedule"
      ? dueSelections(this.#state, nowMs)
      : doubtfulSelections(this.#state);
  }

  /**
   * Asks for the heights without the selections, which may have caused the failure of `first`. `words`: that failure. If no more
   * requests can be sent, the poll has no result.
   */
  async #askAlone(combined: CombinedQuestion, first: Attempt, words: string): Promise<PollResult> {
    const { questionIndex } = this.#state.search;
    // The selections skip the next poll: if the budget cannot spare a request now, that poll still reads the heights.
    noteSent(this.#state, combined, 2 * this.#state.endpoint.pollIntervalMs);
    const last = await this.#retry(first, true);
    const result = this.#resultOf(last);
    if (last === first) {
      return NO_RESULT;
    }
    // If another question was answered, the server may have refused the combined question because of the heights it asks for.
    if (last.answer.kind !== "answered" || this.#state.search.questionIndex !== questionIndex) {
      return result;
    }
    return this.#withReplies(result, refusedSelections(combined.selections, words, first.times));
  }

  /**
   * Sends selections to a URL of their own, once heights are known. The request never uses the part of the budget that scheduled
   * polls need: if the budget cannot spare a request, the next poll sends it.
   */
  async #askSeparately(
    due: readonly Selection[],
    address: QueryAddress,
    result: PollResult,
  ): Promise<PollResult> {
    const { counters, endpoint, exchanges } = this.#state;
    const { gate, post, redact, stopping, world } = this.#tools;
    const hasHeights = result.observations.some(({ kind }) => kind === "head");
    const isGranted =
      hasHeights && !stopping.aborted && (await gate.acquire(endpoint, "opportunistic")).kind === "granted";
    if (!isGranted) {
      return result;
    }
    const sentMs = world.monotonicMs();
    const { question, selections } = separateQuestion(due, endpoint.targets);
    const reply = await post(requestOf(address, question));
    const { answer, exchange, body } = interpretResult(endpoint, question, reply, redact);
    counters.addRequest(exchange.receivedAtMs - exchange.sentAtMs);
    noteExchange(exchanges, exchange);
    const waitMs = answer.kind === "failed" ? (answer.retryAfterMs ?? 0) : 0;
    noteSent(this.#state, { selections, sentMs }, waitMs);
    if (answer.kind === "answered") {
      return this.#withReplies(result, readSelections(selections, body, result.observations, reply));
    }
    // An abort or a rate limit says nothing about the query.
    if (answer.kind === "failed" && (answer.reason === "aborted" || answer.reason === "rate_limited")) {
      return result;
    }
    return this.#withReplies(result, refusedSelections(selections, wordsOf(answer), reply));
  }

  /** Adds the results of the selections to the observations of their targets. */
  #withReplies({ observations }: PollResult, { queries, readings }: SelectionReplies): PollResult {
    const { counters } = this.#state;
    const { redact } = this.#tools;
    const unreadable = readings.filter(({ kind }) => kind === "unreadable");
    for (const { probe, target } of unreadable) {
      counters.add(`parity: ${probe} ${target}`);
    }
    const heard = observations.map((observation): Observation => {
      const own = observation.kind === "head" ? queries.get(observation.source) : undefined;
      if (observation.kind !== "head" || own === undefined) {
        return observation;
      }
      const results = own.map((one) => ({ ...one, failure: one.failure && redact(one.failure) }));
      noteResults(this.#state, results);
      for (const { probe } of results.filter(({ failure }) => failure !== null)) {
        counters.add(`parity: ${probe} ${observation.source}`);
      }
      return { ...observation, queries: results };
    });
    this.#countQueries(heard.flatMap((one) => (one.kind === "head" ? (one.queries ?? []) : [])));
    return { observations: heard, readings: readings.map((one) => this.#withoutSecrets(one)) };
  }

  /** Counts a request with the query of a probe, and whether it failed for any target. */
  #countQueries(results: readonly QueryResult[]): void {
    const [first] = results;
    if (first !== undefined) {
      this.#state.counters.addQuery(first.probe, first.tookMs);
    }
    if (results.some(({ failure }) => failure !== null)) {
      this.#state.counters.add("failed: query");
    }
  }

  /**
   * Retries while the latest attempt failed for a transient reason; returns the last attempt that was sent. `isOwed`: the first
   * retry is due after any failure.
   */
  async #retry(first: Attempt, isOwed = false): Promise<Attempt> {
    const { stopping, world } = this.#tools;
    let latest = first;
    let left = isOwed ? Math.max(1, this.#retries) : this.#retries;
    while (left > 0 && ((isOwed && latest === first) || isTransient(latest.answer))) {
      left -= 1;
      const delayMs = (LONGEST_RETRY_DELAY_MS * (1 + world.random())) / 2;
      await pause(delayMs, stopping);
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
    const { endpoint, search } = this.#state;
    if (endpoint.dialect === RPC_DIALECT && !search.isOfChain) {
      const attempt = await this.#ask(CHAIN_ID_QUESTION, use);
      if (!isBelieved(attempt.answer)) {
        return this.#counted(attempt);
      }
      this.#state.search = { ...search, isOfChain: true };
    }
    return await this.#askHeights(use);
  }

  /**
   * Asks the question that was answered last; if it is refused, the next ones of the dialect, each at most once. If the budget
   * has no requests to spare, the next poll continues this search.
   */
  async #askHeights(use: Use): Promise<Attempt> {
    const { endpoint, search: from } = this.#state;
    const nowMs = this.#tools.world.nowMs();
    const questions = questionsFor(endpoint);
    const [first, ...others] = questionsToAsk(questions, from, nowMs);
    if (first === undefined) {
      throw new TypeError(`Cannot poll ${endpoint.key}: its dialect has no question`);
    }
    let attempt = await this.#ask(first, use);
    let refused = Number(attempt.answer.kind === "refused");
    while (attempt.answer.kind === "refused") {
      const next = others.shift();
      const again = next && (await this.#ask(next, "opportunistic"));
      if (again === undefined || again.answer.kind === "unsent") {
        break;
      }
      attempt = again;
      refused += Number(attempt.answer.kind === "refused");
    }
    const search = afterRefusals(from, refused, questions.length, nowMs);
    const { answer, question } = attempt;
    this.#state.search = answer.kind === "answered" ? afterAnswer(search) : search;
    // Data of an unexpected shape may belong to another dialect.
    if (answer.kind === "failed" && answer.reason === "schema") {
      return this.#counted(this.#ofOtherDialect(attempt, answer.detail));
    }
    return answer.kind === "refused" && search.refused === questions.length
      ? this.#counted(this.#ofOtherDialect(attempt, `${questionText(question)} failed: ${answer.detail}`))
      : this.#counted(attempt);
  }

  #ofOtherDialect(attempt: Attempt, found: string): Attempt {
    const detail = this.#tools.redact(otherDialect(this.#state.endpoint, found));
    return { ...attempt, answer: { kind: "failed", reason: "schema", detail, retryAfterMs: null } };
  }

  /** Sends one question, if the budget allows, and interprets the reply; backs off if the provider asks for it. */
  async #ask(question: Question, use: Use): Promise<Attempt> {
    const { endpoint, counters, exchanges } = this.#state;
    const { gate, post, redact, world } = this.#tools;
    const { outage } = this.#state;
    const leftMs = outage === null ? 0 : outage.untilMs - world.monotonicMs();
    const grant =
      outage !== null && leftMs > 0
        ? { ...outage, kind: "refused" as const, waitMs: leftMs }
        : await gate.acquire(endpoint, use);
    if (grant.kind === "refused") {
      const nowMs = world.nowMs();
      const times = { sentAtMs: nowMs, receivedAtMs: nowMs };
      const { reason, detail, waitMs } = grant;
      return { question, answer: { kind: "unsent", reason, detail }, times, body: "", ...waiting(waitMs) };
    }
    const result = await post(requestOf(endpoint, question));
    const { answer, exchange, body } = interpretResult(endpoint, question, result, redact);
    counters.addRequest(exchange.receivedAtMs - exchange.sentAtMs);
    noteExchange(exchanges, exchange);
    if (answer.kind === "answered" && endpoint.kind === "indexer") {
      this.#state.served = answer.served;
    }
    this.#state.outage = null;
    return { question, answer, times: result, body, ...waiting(this.#waitAfter(answer)) };
  }

  /** Backs off if the provider asked us to wait; returns for how long, or undefined. */
  #waitAfter(answer: Answer): number | undefined {
    const { gate, world } = this.#tools;
    if (answer.kind !== "failed") {
      return undefined;
    }
    const { reason, detail, retryAfterMs } = answer;
    if (reason === "rate_limited") {
      return gate.backOff(this.#state.endpoint, retryAfterMs, detail);
    }
    if (retryAfterMs === null) {
      return undefined;
    }
    const waitMs = Math.min(retryAfterMs, LONGEST_WAIT_MS);
    this.#state.outage = { reason, detail, untilMs: world.monotonicMs() + waitMs };
    return waitMs;
  }

  #counted(attempt: Attempt): Attempt {
    if (attempt.answer.kind === "failed") {
      this.#count(attempt.answer);
    }
    return attempt;
  }

  #count({ reason, detail }: Failure): void {
    const { counters, endpoint } = this.#state;
    counters.add(`failed: ${reason}`);
    this.#tools.world.logger.debug({ endpoint: endpoint.key, reason, detail }, "Poll failed");
  }

  /**
   * The observations of an attempt. Each reason for unusable rows is counted once. A refused or aborted poll, or an extra poll that was
   * not sent, observes nothing. If a failure holds back later polls, only the failure is counted.
   */
  #resultOf({ answer, times, waitMs }: Attempt): PollResult {
    if (answer.kind === "answered") {
      const failures = answer.observations.filter((one) => one.kind === "failed");
      for (const failure of new Map(failures.map((one) => [one.reason, one])).values()) {
        this.#count(failure);
      }
      return { observations: answer.observations, readings: [] };
    }
    if (answer.kind !== "unsent") {
      this.#state.search = { ...this.#state.search, isAnswered: false };
    }
    const isDropped = answer.kind === "unsent" && this.#occasion === "extra";
    if (isDropped || answer.kind === "refused" || (answer.kind === "failed" && answer.reason === "aborted")) {
      return NO_RESULT;
    }
    if (answer.kind === "unsent" && this.#use === "scheduled" && answer.reason === "budget") {
      this.#count(answer);
    }
    const failed = failEverySource(this.#state.endpoint, answer, times);
    const next = waitMs === undefined ? {} : { nextMs: times.receivedAtMs + Math.round(waitMs) };
    return { observations: failed.map((one) => ({ ...one, ...next })), readings: [] };
  }

  #withoutSecrets(reading: ParityReading): ParityReading {
    const { redact } = this.#tools;
    if (reading.kind === "unreadable") {
      return { ...reading, detail: redact(reading.detail) };
    }
    const text = redact(reading.value.text);
    return text === reading.value.text ? reading : { ...reading, value: { text, isNumber: false } };
  }
}

function waiting(waitMs: number | undefined): Pick<Attempt, "waitMs"> {
  return waitMs === undefined ? {} : { waitMs };
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
 * Whether to trust an RPC node after this reply to `eth_chainId`. A node that does not know the question is trusted. A node of
 * another chain is a mistake in chains.yaml or of its operator, so each poll asks again until the mistake is corrected.
 */
function isBelieved(answer: Attempt["answer"]): boolean {
  return answer.kind === "answered"
    ? answer.observations.every(({ kind }) => kind !== "failed")
    : answer.kind === "refused" || (answer.kind === "failed" && CHAIN_UNKNOWN.has(answer.reason));
}

function isTransient(answer: Attempt["answer"]): boolean {
  return answer.kind === "failed" && answer.retryAfterMs === null && WORTH_A_RETRY.has(answer.reason);
}

/** Whether a request with selections may have failed because of them. */
function mayBeOfSelection(answer: Exclude<Attempt["answer"], { readonly kind: "answered" }>): boolean {
  return answer.kind === "failed"
    ? answer.retryAfterMs === null && !NOT_OF_A_SELECTION.has(answer.reason)
    : answer.kind === "refused";
}

/** Why a question was not answered; for a refusal, in the words of the server. */
function wordsOf(answer: Exclude<Attempt["answer"], { readonly kind: "answered" }>): string {
  return failureWords(answer.kind === "refused" ? "graphql" : answer.reason, answer.detail);
}
