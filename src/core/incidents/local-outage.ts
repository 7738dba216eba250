import { type Endpoint, sourceKeysOf } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import type { FailureReason, Observation } from "../model/observation.ts";
import type { LastPoll, SourceState } from "../source/source-state.ts";

/** What the state of a source says about our own network. */
export type SourceContact = Pick<
  SourceState,
  "key" | "kind" | "last" | "lastSuccessMs" | "pollIntervalMs" | "verdict"
>;

/** Reasons that a broken network of our own, or a proxy in it, gives. Any other is an answer from the far end. */
const UNREACHED: ReadonlySet<FailureReason> = new Set([
  "timeout",
  "dns",
  "connect",
  "tls",
  "http_status",
  "malformed",
]);
/** An outage is at least this long without any answer, and at least this many polls of the endpoint that is polled most often. */
const SILENCE_MS = 45_000;
const SILENT_POLLS = 2;
/**
 * Sources went silent together if their last heights are at most this many polls older than the last reply of
 * all.
 */
const TOGETHER_POLLS = 2;

/**
 * Whether our own network is down: there was no recent reply, and all hosts (two or more) fail. Hosts that have not been
 * polled since are ignored while they are fewer than those that went silent together; RPC nodes count only among the latter.
 * A host that is not polled, because of our budget or because it asked us to wait, proves nothing.
 */
export function isNetworkDown(
  contacts: readonly SourceContact[],
  endpoints: readonly Endpoint[],
  nowMs: number,
): boolean {
  const answeredMs = lastAnswerMs(contacts);
  const shortestMs = shortestIntervalMs(contacts);
  const silent = new Set(contacts.filter((contact) => wentSilent(contact, answeredMs)));
  return (
    isLongSilence(silent, nowMs - answeredMs, shortestMs) &&
    allHostsFail(hostSamples(contacts, endpoints, silent), silent)
  );
}

/** Whether no host has ever replied and some have not been polled yet: our own network may be down. */
export function nobodyAnsweredYet(
  contacts: readonly SourceContact[],
  endpoints: readonly Endpoint[],
): boolean {
  if (lastAnswerMs(contacts) !== Number.NEGATIVE_INFINITY) {
    return false;
  }
  const polled = new Set(contacts.map(({ key }) => key));
  return endpoints.some(({ targets }) => targets.length > 0 && !targets.some(({ key }) => polled.has(key)));
}

/** Whether a poll failed as it does when our own network is broken: it may say nothing about the server. */
export function isUnreached(poll: Observation | LastPoll | null | undefined): boolean {
  return poll?.kind === "failed" && UNREACHED.has(poll.reason);
}

/** The time of the last reply of any of them; negative infinity: never. */
function lastAnswerMs(contacts: readonly SourceContact[]): number {
  let answeredMs = Number.NEGATIVE_INFINITY;
  for (const { last, lastSuccessMs } of contacts) {
    const isAnswer = last !== null && !isUnreached(last) && !wasNotSent(last);
    const answerMs = isAnswer ? last.receivedAtMs : Number.NEGATIVE_INFINITY;
    answeredMs = Math.max(answeredMs, answerMs, lastSuccessMs ?? answerMs);
  }
  return answeredMs;
}

/** The time between two polls of the indexer that is polled most often. */
function shortestIntervalMs(contacts: readonly SourceContact[]): number {
  let shortestMs = Number.POSITIVE_INFINITY;
  for (const { kind, pollIntervalMs } of contacts) {
    shortestMs = kind === "indexer" ? Math.min(shortestMs, pollIntervalMs) : shortestMs;
  }
  return shortestMs;
}

/** Whether it returned heights until shortly before the last answer of all, and is not reached now. */
function wentSilent({ last, lastSuccessMs, pollIntervalMs }: SourceContact, answeredMs: number): boolean {
  const wasWell = lastSuccessMs !== null && lastSuccessMs >= answeredMs - TOGETHER_POLLS * pollIntervalMs;
  return wasWell && isUnreached(last);
}

/** Whether the silence is more than one bad poll: long enough, or a status has just changed because of it. */
function isLongSilence(silent: ReadonlySet<SourceContact>, silentMs: number, shortestMs: number): boolean {
  const hasChanged = [...silent].some(({ verdict }) => verdict?.status === "unreachable");
  return silentMs >= (hasChanged ? shortestMs : Math.max(SILENCE_MS, SILENT_POLLS * shortestMs));
}

/** One source of a host; its contact is null before its first poll. */
interface HostSample {
  readonly host: string;
  readonly contact: SourceContact | null;
}

function allHostsFail(samples: readonly HostSample[], silent: ReadonlySet<SourceContact>): boolean {
  const hosts = [...groupBy(samples, ({ host }) => host).values()]
    .map((members) => members.map(({ contact }) => contact))
    .filter((members) => !members.every((contact) => wasNotSent(contact?.last)));
  const failing = hosts.filter((members) => members.some((contact) => isUnreached(contact?.last)));
  const waiting = hosts.length - failing.length;
  const counted =
    waiting === 0
      ? failing
      : failing.filter((members) => members.some((contact) => contact !== null && silent.has(contact)));
  return (
    counted.length > Math.max(1, waiting) && counted.flat().some((contact) => contact?.kind === "indexer")
  );
}

/** The sources of every indexer's host, and the RPC nodes that went silent with them. */
function hostSamples(
  contacts: readonly SourceContact[],
  endpoints: readonly Endpoint[],
  silent: ReadonlySet<SourceContact>,
): readonly HostSample[] {
  const byKey = new Map(contacts.map((contact) => [contact.key, contact]));
  return endpoints.flatMap((endpoint) =>
    sourceKeysOf(endpoint)
      .map((source) => ({ host: endpoint.host, contact: byKey.get(source) ?? null }))
      .filter(({ contact }) => endpoint.kind === "indexer" || (contact !== null && silent.has(contact))),
  );
}

/** Whether the poll was not sent: our own budget is spent, or the provider has asked us to wait. Such a poll takes no time. */
function wasNotSent(last: LastPoll | null | undefined): boolean {
  return (
    last?.kind === "failed" &&
    (last.reason === "budget" || (last.reason === "rate_limited" && last.sentAtMs === last.receivedAtMs))
  );
}
