import { type Endpoint, sourceKeysOf } from "../model/fleet.ts";
import type { FailureReason, Observation } from "../model/observation.ts";
import type { LastPoll, SourceState } from "../source/source-state.ts";

/** Reasons that our own broken network, or a proxy in it, may cause. Other reasons come from the far end or from ourselves. */
const UNREACHED: ReadonlySet<FailureReason> = new Set([
  "timeout",
  "dns",
  "connect",
  "tls",
  "http_status",
  "malformed",
]);
/**
 * A source fell silent with the others if its last success was at most this number of its polls before the last reply of all: the
 * poll in which it failed first, and one more because endpoints are polled at different moments.
 */
const TOGETHER_POLLS = 2;

/**
 * Whether our own network is down. Danger: then every server looks down.
 * - A source fell silent if it fails, and replied until about the last reply of all. A source that failed before proves nothing.
 * - Our network is down if sources on two or more hosts fell silent, and one of them is already `unreachable`, which takes more
 *   than one failed poll.
 * - Hosts of indexers that have not been polled since the last reply must be fewer: each of them may still reply. They do not
 *   count if we sent nothing, because of our budget or because the host asked us to wait.
 * - Since the last reply, every endpoint with the shortest interval must have had time for a poll.
 */
export function isNetworkDown(
  sources: readonly SourceState[],
  endpoints: readonly Endpoint[],
  nowMs: number,
): boolean {
  const indexers = sources.filter(({ kind }) => kind === "indexer");
  const repliedMs = lastReplyMs(sources);
  const fellSilent = sources.filter(
    ({ last, lastSuccessMs, pollIntervalMs }) =>
      isUnreached(last) &&
      (lastSuccessMs ?? Number.NEGATIVE_INFINITY) >= repliedMs - TOGETHER_POLLS * pollIntervalMs,
  );
  if (
    indexers.every(({ pollIntervalMs }) => nowMs - repliedMs < pollIntervalMs) ||
    !fellSilent.some(({ verdict }) => verdict?.status === "unreachable")
  ) {
    return false;
  }
  const hostOf = new Map(
    endpoints.flatMap((endpoint) => sourceKeysOf(endpoint).map((key) => [key, endpoint.host])),
  );
  const hostsOf = (some: readonly SourceState[]) => new Set(some.map(({ key }) => hostOf.get(key)));
  const failing = hostsOf(indexers.filter(({ last }) => isUnreached(last)));
  const sent = hostsOf(indexers.filter(({ last }) => !wasNotSent(last)));
  const notPolledSince = [...sent].filter((host) => !failing.has(host)).length;
  return hostsOf(fellSilent).size > Math.max(1, notPolledSince);
}

/** Whether no host has ever replied and some have not been polled yet: our own network may be down. */
export function hasNoReplyYet(sources: readonly SourceState[], endpoints: readonly Endpoint[]): boolean {
  if (sources.some((source) => replyMs(source) !== null)) {
    return false;
  }
  const polled = new Set(sources.map(({ key }) => key));
  return endpoints.some(({ targets }) => targets.length > 0 && !targets.some(({ key }) => polled.has(key)));
}

/** Whether a poll failed as it does when our own network is broken: it may say nothing about the server. */
export function isUnreached(poll: Observation | LastPoll | null | undefined): boolean {
  return poll?.kind === "failed" && UNREACHED.has(poll.reason);
}

/** The time of the last reply of any source; negative infinity if there was none. */
function lastReplyMs(sources: readonly SourceState[]): number {
  return sources.reduce(
    (latest, source) => Math.max(latest, replyMs(source) ?? latest),
    Number.NEGATIVE_INFINITY,
  );
}

/** The time of the last reply of a source; null: it has not replied. */
function replyMs({ last, lastSuccessMs }: SourceState): number | null {
  const isReply = last !== null && !isUnreached(last) && !wasNotSent(last);
  return isReply ? last.receivedAtMs : lastSuccessMs;
}

/** Whether the poll was not sent: our own budget is spent, or the provider has asked us to wait. Such a poll takes no time. */
function wasNotSent(last: LastPoll | null | undefined): boolean {
  return (
    last?.kind === "failed" &&
    (last.reason === "budget" ||
      ((last.reason === "rate_limited" || last.nextMs !== undefined) && last.sentAtMs === last.receivedAtMs))
  );
}
