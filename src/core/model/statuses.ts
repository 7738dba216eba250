import type { FailureReason } from "./observation.ts";

/** The traits of all targets with one status. */
interface StatusTraits {
  /** The higher, the sooner a person should look at it. */
  readonly urgency: number;
  /** The runbook of the alert that the status leads to; empty for `ok`. */
  readonly runbook: string;
  /**
   * What is wrong with targets that share a cause, as a predicate in the plural; null: nothing is wrong, or nothing is known.
   */
  readonly trouble: string | null;
  /** A single target with this status pages somebody, because the status is unlikely to end by itself. */
  readonly pages: boolean;
  /** Its endpoint gives usable replies. */
  readonly hasReply: boolean;
  /** Its polls usually give a height. */
  readonly hasHeight: boolean;
  /** The lag of the last height is still shown. A throttled target keeps its lag, because only our polls are limited. */
  readonly hasLag: boolean;
  /** Users can be served from it, though the data may be late: not while it back-fills old blocks. */
  readonly isUsable: boolean;
  /** The target is on the chain, and below the head. */
  readonly isBehind: boolean;
  /** Its height does not grow, so a new block at the head ends the status. */
  readonly isMotionless: boolean;
  /** The status follows from a comparison with other sources, so it can change when sources are added or removed. */
  readonly isCompared: boolean;
}

const NO_HEIGHT = {
  hasReply: false,
  hasHeight: false,
  hasLag: false,
  isUsable: false,
  isBehind: false,
  isMotionless: false,
  isCompared: false,
};
const WITH_HEIGHT = { ...NO_HEIGHT, hasReply: true, hasHeight: true, hasLag: true };

/** The statuses of a target: a closed list, in its order of precedence. Everything that depends only on a status is here. */
const STATUS_TRAITS = {
  unknown: {
    ...NO_HEIGHT,
    hasLag: true,
    urgency: 1,
    runbook: "SynclagTargetUnknown",
    trouble: null,
    pages: false,
  },
  rejected: {
    ...NO_HEIGHT,
    urgency: 8,
    runbook: "SynclagKeyRejected",
    trouble: "reject our requests",
    pages: false,
  },
  throttled: {
    ...NO_HEIGHT,
    hasLag: true,
    urgency: 4,
    runbook: "SynclagThrottled",
    trouble: "are throttled",
    pages: false,
  },
  not_found: {
    ...NO_HEIGHT,
    urgency: 9,
    runbook: "SynclagEndpointDown",
    trouble: "are not found",
    pages: false,
  },
  unreachable: {
    ...NO_HEIGHT,
    urgency: 7,
    runbook: "SynclagEndpointDown",
    trouble: "are unreachable",
    pages: false,
  },
  missing: {
    ...NO_HEIGHT,
    hasReply: true,
    urgency: 10,
    runbook: "SynclagChainMissing",
    trouble: "are missing from the reply",
    pages: true,
  },
  failed: {
    ...WITH_HEIGHT,
    urgency: 11,
    runbook: "SynclagIndexerFailed",
    trouble: "have failed",
    pages: true,
  },
  diverged: {
    ...WITH_HEIGHT,
    hasLag: false,
    isCompared: true,
    urgency: 12,
    runbook: "SynclagIndexerDiverged",
    trouble: "answer for another chain or fork",
    pages: true,
  },
  chain_halted: {
    ...WITH_HEIGHT,
    isUsable: true,
    isMotionless: true,
    isCompared: true,
    urgency: 3,
    runbook: "SynclagChainHalted",
    trouble: "have stopped because the chain has halted",
    pages: false,
  },
  stalled: {
    ...WITH_HEIGHT,
    isBehind: true,
    isMotionless: true,
    urgency: 6,
    runbook: "SynclagIndexerStalled",
    trouble: "have stopped advancing",
    pages: true,
  },
  syncing: {
    ...WITH_HEIGHT,
    isBehind: true,
    urgency: 2,
    runbook: "SynclagIndexerSyncing",
    trouble: "were at the head and index again",
    pages: false,
  },
  lagging: {
    ...WITH_HEIGHT,
    isUsable: true,
    isBehind: true,
    isCompared: true,
    urgency: 5,
    runbook: "SynclagIndexerLagging",
    trouble: "are lagging",
    pages: false,
  },
  ok: { ...WITH_HEIGHT, isUsable: true, urgency: 0, runbook: "", trouble: null, pages: false },
} as const satisfies Readonly<Record<string, StatusTraits>>;

export type Status = keyof typeof STATUS_TRAITS;

/** Object.keys() has the names in the order in which they are written. */
const NAMES = Object.keys(STATUS_TRAITS) as readonly Status[];

/** In the order of precedence: the first status that applies counts. */
export const STATUSES: readonly [Status, ...Status[]] = ["unknown", ...NAMES.slice(1)];

/** The least urgent first. */
export const STATUSES_BY_URGENCY: readonly Status[] = NAMES.toSorted(
  (a, b) => STATUS_TRAITS[a].urgency - STATUS_TRAITS[b].urgency,
);

/**
 * The traits of a status. A status that only another version of the daemon knows is treated as `lagging`, without a runbook.
 */
export function traitsOf(status: string): StatusTraits {
  const known: Readonly<Record<string, StatusTraits>> = STATUS_TRAITS;
  return (
    (Object.hasOwn(known, status) ? known[status] : undefined) ?? { ...STATUS_TRAITS.lagging, runbook: "" }
  );
}

/** How urgent a status is, from 0 for `ok`. */
export function statusRank(status: Status): number {
  return traitsOf(status).urgency;
}

const STATUS_OF_FAILURE: Readonly<Record<FailureReason, Status>> = {
  unauthorized: "rejected",
  payment_required: "rejected",
  wrong_chain: "rejected",
  rate_limited: "throttled",
  budget: "throttled",
  not_found: "not_found",
  // The server works. What is asked for is not at this address, as with a wrong `dialect:`.
  schema: "not_found",
  indexing_error: "failed",
  query: "failed",
  implausible: "diverged",
  timeout: "unreachable",
  dns: "unreachable",
  connect: "unreachable",
  tls: "unreachable",
  http_status: "unreachable",
  no_indexers: "unreachable",
  graphql: "unreachable",
  malformed: "unreachable",
  too_large: "unreachable",
  aborted: "unreachable",
};

/** The status that a failed poll means. */
export function statusOfFailure(reason: FailureReason): Status {
  return STATUS_OF_FAILURE[reason];
}
