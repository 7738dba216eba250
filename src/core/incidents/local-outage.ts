import { type Endpoint, sourceKeysOf } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import type { FailureReason, Observation } from "../model/observation.ts";
import type { LastPoll, SourceState } from "../source/source-state.ts";

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
/** Sources went silent together if their last heights are at most this many polls older than the last reply of all. */
const TOGETHER_POLLS = 2;

/**
 * Whether our own network is down: there was no recent reply, and all hosts (two or more) fail. Hosts that have not been
 * polled since are ignored while they are fewer than those that went silent together; RPC nodes count only among the latter.
 * A host that is not polled, because of our budget or because it asked us to wait, proves nothing.
 */
export function isNetworkDown(
  sources: readonly SourceState[],
  endpoints: readonly Endpoint[],
  nowMs: number,
): boolean {
  const answeredMs = lastAnswerMs(sources);
  const shortestMs = sources.reduce(
    (least, { kind, pollIntervalMs }) => (kind === "indexer" ? Math.min(least, pollIntervalMs) : least),
    Number.POSITIVE_INFINITY,
  );
  const silenceMs = nowMs - answeredMs;
  if (silenceMs < shortestMs) {
    return false;
  }
  const silent = new Map(
    sources
      .filter(({ last, lastSuccessMs, pollIntervalMs }) => {
        const wasWell =
          lastSuccessMs !== null && lastSuccessMs >= answeredMs - TOGETHER_POLLS * pollIntervalMs;
        return wasWell && isUnreached(last);
      })
      .map((source) => [source.key, source]),
  );
  // A status that has just changed shows that the silence is more than one bad poll.
  const hasChanged = [...silent.values()].some(({ verdict }) => verdict?.status === "unreachable");
  return (
    (hasChanged || silenceMs >= Math.max(SILENCE_MS, SILENT_POLLS * shortestMs)) &&
    allHostsFail(sources, endpoints, silent)
  );
}

/** Whether no host has ever replied and some have not been polled yet: our own network may be down. */
export function nobodyAnsweredYet(sources: readonly SourceState[], endpoints: readonly Endpoint[]): boolean {
  if (lastAnswerMs(sources) !== Number.NEGATIVE_INFINITY) {
    return false;
  }
  const polled = new Set(sources.map(({ key }) => key));
  return endpoints.some(({ targets }) => targets.length > 0 && !targets.some(({ key }) => polled.has(key)));
}

/** Whether a poll failed as it does when our own network is broken: it may say nothing about the server. */
export function isUnreached(poll: Observation | LastPoll | null | undefined): boolean {
  return poll?.kind === "failed" && UNREACHED.has(poll.reason);
}

/** The time of the last reply of any of them; negative infinity: never. */
function lastAnswerMs(sources: readonly SourceState[]): number {
  let answeredMs = Number.NEGATIVE_INFINITY;
  for (const { last, lastSuccessMs } of sources) {
    const isAnswer = last !== null && !isUnreached(last) && !wasNotSent(last);
    const answerMs = isAnswer ? last.receivedAtMs : Number.NEGATIVE_INFINITY;
    answeredMs = Math.max(answeredMs, answerMs, lastSuccessMs ?? answerMs);
  }
  return answeredMs;
}

/** Looks at the sources of every indexer's host, and at the RPC nodes that went silent with them. */
function allHostsFail(
  sources: readonly SourceState[],
  endpoints: readonly Endpoint[],
  silent: ReadonlyMap<string, SourceState>,
): boolean {
  const byKey = new Map(sources.map((source) => [source.key, source]));
  const samples = endpoints.flatMap((endpoint) =>
    sourceKeysOf(endpoint)
      .filter((key) => endpoint.kind === "indexer" || silent.has(key))
      .map((key) => ({ key, host: endpoint.host, kind: endpoint.kind, last: byKey.get(key)?.last })),
  );
  const hosts = [...groupBy(samples, ({ host }) => host).values()].filter(
    (members) => !members.every(({ last }) => wasNotSent(last)),
  );
  const failing = hosts.filter((members) => members.some(({ last }) => isUnreached(last)));
  const waiting = hosts.length - failing.length;
  const counted =
    waiting === 0 ? failing : failing.filter((members) => members.some(({ key }) => silent.has(key)));
  return (
    counted.length > Math.max(1, waiting) &&
    counted.flat().some(({ kind, last }) => kind === "indexer" && last !== undefined)
  );
}

/** Whether the poll was not sent: our own budget is spent, or the provider has asked us to wait. Such a poll takes no time. */
function wasNotSent(last: LastPoll | null | undefined): boolean {
  return (
    last?.kind === "failed" &&
    (last.reason === "budget" || (last.reason === "rate_limited" && last.sentAtMs === last.receivedAtMs))
  );
}
