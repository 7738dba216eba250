import type { Endpoint } from "../../core/model/fleet.ts";
import type { FailureReason, PollTimes } from "../../core/model/observation.ts";
import type { CarriedProbe, ParityReading } from "../../core/model/parity.ts";
import type { Redact } from "../../core/model/redact.ts";
import { questionsFor } from "../../dialects/families.ts";
import { type AliasedSelection, combineQuestion, readParity } from "../../dialects/parity.ts";
import { afterAnswer, type QuestionSearch } from "../../dialects/search.ts";
import type { Answer } from "../polling/interpret-result.ts";
import {
  type Attempt,
  ask,
  attempt,
  isTransient,
  observe,
  type PollPorts,
  type PollResult,
  poll,
  report,
  retry,
} from "../polling/poll.ts";

/** What came of the selections of one poll. */
type Carriage =
  /** They were not asked, or the request failed as it would have failed without them: they are still due. */
  | "none"
  /** They came back with the heights. */
  | "answered"
  /** The request failed with them and succeeded without them. */
  | "refused"
  /** The request failed with them, and so did the one without them, or the budget could not spare it. */
  | "unclear";

export interface CarryingResult extends PollResult {
  readonly carriage: Carriage;
}

/** Failures of the network and of the account, which no selection can cause. */
const NOT_OF_A_SELECTION: ReadonlySet<FailureReason> = new Set([
  "dns",
  "tls",
  "rate_limited",
  "payment_required",
  "budget",
  "aborted",
]);

/**
 * Polls an endpoint once, with the selections of parity probes beside the heights in the first request. Where that fails and
 * the selections may be why, the heights are asked alone: an opportunistic request, in place of the first retry if the
 * failure is one that is retried. An endpoint that has not answered a question of its dialect yet is asked without them.
 */
export async function pollCarrying(
  endpoint: Endpoint,
  { search, probes }: { readonly search: QuestionSearch; readonly probes: readonly CarriedProbe[] },
  ports: PollPorts,
): Promise<CarryingResult> {
  const question = questionsFor(endpoint)[search.questionIndex];
  if (probes.length === 0 || !search.isAnswered || question === undefined) {
    return { ...(await poll(endpoint, search, ports)), carriage: "none" };
  }
  const combined = combineQuestion(question, probes, endpoint.targets);
  const { answer, times, body } = await ask(endpoint, { question: combined.question, use: ports.use }, ports);
  if (answer.kind === "answered") {
    const { outcomes } = answer;
    const observations = observe(endpoint, { answer, times, search }, ports);
    const readings = readParity(combined.selections, { body, outcomes, times }).map((reading) =>
      withoutSecrets(reading, ports.redact),
    );
    return { observations, readings, search: afterAnswer(search), carriage: "answered" };
  }
  if (!mayBeOfSelection(answer)) {
    report(endpoint, answer, { use: ports.use, ports });
    const latest = await retry(
      endpoint,
      { latest: { answer, times, search }, retries: ports.retries },
      ports,
    );
    const observations = observe(endpoint, latest, ports);
    return { observations, readings: [], search: latest.search, carriage: "none" };
  }
  const refused = { selections: combined.selections, detail: answer.detail, times };
  const failed: Attempt = { answer: withoutRefusal(answer), times, search };
  const alone = await askAlone(endpoint, failed, ports);
  return resultOf(endpoint, { refused, failed, alone }, ports);
}

function withoutSecrets(reading: ParityReading, redact: Redact): ParityReading {
  if (reading.kind === "failed") {
    return { ...reading, detail: redact(reading.detail) };
  }
  const text = redact(reading.value.text);
  return text === reading.value.text ? reading : { ...reading, value: { text, isNumber: false } };
}

type Doubted = Extract<Answer, { readonly kind: "refused" | "failed" }>;

function mayBeOfSelection(answer: Awaited<ReturnType<typeof ask>>["answer"]): answer is Doubted {
  return (
    answer.kind === "refused" ||
    (answer.kind === "failed" && answer.retryAfterMs === null && !NOT_OF_A_SELECTION.has(answer.reason))
  );
}

/** The heights without the selections. The result is `failed` itself where nothing more could be sent. */
async function askAlone(endpoint: Endpoint, failed: Attempt, ports: PollPorts): Promise<Attempt> {
  if (isTransient(failed)) {
    return retry(endpoint, { latest: failed, retries: Math.max(1, ports.retries) }, ports);
  }
  const alone = await attempt(endpoint, { search: failed.search, use: "opportunistic" }, ports);
  return alone.answer.kind === "unsent"
    ? failed
    : retry(endpoint, { latest: alone, retries: ports.retries }, ports);
}

function resultOf(
  endpoint: Endpoint,
  {
    refused,
    failed,
    alone,
  }: { readonly refused: Refused; readonly failed: Attempt; readonly alone: Attempt },
  ports: PollPorts,
): CarryingResult {
  if (alone === failed) {
    // The selections may be why: that is no evidence of the targets.
    return { observations: [], readings: [], search: failed.search, carriage: "unclear" };
  }
  const observations = observe(endpoint, alone, ports);
  // Another question was answered: then the one before may have been refused for its own sake.
  const isSame = alone.search.questionIndex === failed.search.questionIndex;
  return alone.answer.kind === "answered" && isSame
    ? { observations, readings: failedReadings(refused), search: alone.search, carriage: "refused" }
    : { observations, readings: [], search: alone.search, carriage: "unclear" };
}

interface Refused {
  readonly selections: readonly AliasedSelection[];
  /** The server's words. */
  readonly detail: string;
  readonly times: PollTimes;
}

function failedReadings({ selections, detail, times }: Refused): readonly ParityReading[] {
  const { sentAtMs, receivedAtMs } = times;
  return selections.map(({ probe, target }) => ({
    kind: "failed",
    probe,
    target,
    detail,
    sentAtMs,
    receivedAtMs,
  }));
}

/** A refusal of the combined request says nothing of the question alone, so it does not move the search on. */
function withoutRefusal(answer: Doubted): Attempt["answer"] {
  return answer.kind === "refused"
    ? { kind: "failed", reason: "schema", detail: answer.detail, retryAfterMs: null }
    : answer;
}
