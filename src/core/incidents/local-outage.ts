import { type Endpoint, sourceKeysOf } from "../model/fleet.ts";
import { groupBy } from "../model/group-by.ts";
import type { FailureReason, Observation } from "../model/observation.ts";
import type { LastPoll, SourceState } from "../source/source-state.ts";

/** What a source tells of our own network. */
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
/** Nothing may have been reached for at least so long, and for two polls of the one that is asked most often. */
const SILENCE_MS = 45_000;
const SILENT_POLLS = 2;
/** One whose last height is so many polls older than the last answer of all, or less, fell silent with the others. */
const TOGETHER_POLLS = 2;

/** What the sources of one chain, or of several, tell of our own network in short. */
export interface Reach {
  /** When any of them answered last; before all time, where none has. */
  readonly answeredMs: number;
  /** Between two polls of the indexer that is asked most often; without end, where there is none. */
  readonly shortestMs: number;
  /** Whether the last poll of any of them failed as it does where our own network is broken. */
  readonly someUnreached: boolean;
}

/** What these tell of our own network in short. */
export function reachOf(contacts: readonly SourceContact[]): Reach {
  let answeredMs = Number.NEGATIVE_INFINITY;
  let shortestMs = Number.POSITIVE_INFINITY;
  let someUnreached = false;
  for (const contact of contacts) {
    answeredMs = Math.max(answeredMs, answerMs(contact));
    shortestMs = contact.kind === "indexer" ? Math.min(shortestMs, contact.pollIntervalMs) : shortestMs;
    someUnreached ||= isUnreached(contact.last);
  }
  return { answeredMs, shortestMs, someUnreached };
}

/** Whether the chains' short words show already that not everything fails; if not, {@link nothingIsReached} must look closer. */
export function isSurelyReached(chains: readonly { readonly reach: Reach }[], nowMs: number): boolean {
  let answeredMs = Number.NEGATIVE_INFINITY;
  let shortestMs = Number.POSITIVE_INFINITY;
  let someUnreached = false;
  for (const { reach } of chains) {
    answeredMs = Math.max(answeredMs, reach.answeredMs);
    shortestMs = Math.min(shortestMs, reach.shortestMs);
    someUnreached ||= reach.someUnreached;
  }
  return !someUnreached || nowMs - answeredMs < shortestMs;
}

/**
 * Whether nothing at all can be reached: nobody has answered of late, and every host fails, of two or more. Hosts that
 * have not been asked since are not waited for while more than these fell silent together; RPC nodes count only among
 * those. A host that our own budget keeps us from asking says nothing.
 */
export function nothingIsReached(
  contacts: readonly SourceContact[],
  endpoints: readonly Endpoint[],
  nowMs: number,
): boolean {
  const { answeredMs, shortestMs } = reachOf(contacts);
  const fallen = new Set(contacts.filter((contact) => hasFallen(contact, answeredMs)));
  return (
    isSilent(fallen, nowMs - answeredMs, shortestMs) &&
    allFail(witnessesOf(contacts, endpoints, fallen), fallen)
  );
}

/** Whether nobody has ever answered, and some have not been asked yet: it may still be our own network. */
export function nobodyAnsweredYet(
  contacts: readonly SourceContact[],
  endpoints: readonly Endpoint[],
): boolean {
  if (reachOf(contacts).answeredMs !== Number.NEGATIVE_INFINITY) {
    return false;
  }
  const asked = new Set(contacts.map(({ key }) => key));
  return endpoints.some(({ targets }) => targets.length > 0 && !targets.some(({ key }) => asked.has(key)));
}

/** Whether a poll failed as it does where our own network is broken: it may say nothing of whom it asked. */
export function isUnreached(said: Observation | LastPoll | null | undefined): boolean {
  return said?.kind === "failed" && UNREACHED.has(said.reason);
}

/** When it answered last; before all time, where it never has. */
function answerMs({ last, lastSuccessMs }: SourceContact): number {
  const answers = last !== null && !isUnreached(last) && !isUnasked(last);
  const latestMs = answers ? last.receivedAtMs : Number.NEGATIVE_INFINITY;
  return Math.max(latestMs, lastSuccessMs ?? latestMs);
}

/** Whether it was well till shortly before nobody answered any more. */
function hasFallen({ last, lastSuccessMs, pollIntervalMs }: SourceContact, answeredMs: number): boolean {
  const wasWell = lastSuccessMs !== null && lastSuccessMs >= answeredMs - TOGETHER_POLLS * pollIntervalMs;
  return wasWell && isUnreached(last);
}

/** Whether the silence is more than one bad poll: it has lasted, or has just turned a status. */
function isSilent(fallen: ReadonlySet<SourceContact>, silentMs: number, shortestMs: number): boolean {
  const turned = [...fallen].some(({ verdict }) => verdict?.status === "unreachable");
  return silentMs >= (turned ? shortestMs : Math.max(SILENCE_MS, SILENT_POLLS * shortestMs));
}

/** What one source of a host says; null while it was never asked. */
interface Witness {
  readonly host: string;
  readonly contact: SourceContact | null;
}

function allFail(witnesses: readonly Witness[], fallen: ReadonlySet<SourceContact>): boolean {
  const hosts = [...groupBy(witnesses, ({ host }) => host).values()]
    .map((members) => members.map(({ contact }) => contact))
    .filter((members) => !members.every((contact) => isUnasked(contact?.last)));
  const failing = hosts.filter((members) => members.some((contact) => isUnreached(contact?.last)));
  const waiting = hosts.length - failing.length;
  const counted =
    waiting === 0
      ? failing
      : failing.filter((members) => members.some((contact) => contact !== null && fallen.has(contact)));
  return (
    counted.length > Math.max(1, waiting) && counted.flat().some((contact) => contact?.kind === "indexer")
  );
}

/** All of every indexer's host, and the RPC nodes that fell silent with them. */
function witnessesOf(
  contacts: readonly SourceContact[],
  endpoints: readonly Endpoint[],
  fallen: ReadonlySet<SourceContact>,
): readonly Witness[] {
  const byKey = new Map(contacts.map((contact) => [contact.key, contact]));
  return endpoints.flatMap((endpoint) =>
    sourceKeysOf(endpoint)
      .map((source) => ({ host: endpoint.host, contact: byKey.get(source) ?? null }))
      .filter(({ contact }) => endpoint.kind === "indexer" || (contact !== null && fallen.has(contact))),
  );
}

function isUnasked(last: LastPoll | null | undefined): boolean {
  return last?.kind === "failed" && last.reason === "budget";
}
