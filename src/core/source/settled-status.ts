import type { FailureReason } from "../model/observation.ts";
import type { Status } from "../model/statuses.ts";

/** The settled status of a target, and how strongly its latest polls disagree with it. */
export interface SettledStatus {
  readonly status: Status;
  /** How near the latest polls in a row, which said something else, are to changing it: 0 to 1. */
  readonly dissent: number;
  readonly sinceMs: number;
}

/** What one poll says. */
export interface StatusVote {
  readonly status: Status;
  /**
   * How many polls in a row that say so change the status. One: there is nothing to doubt, or nothing yet to be steady about. Two: the
   * rule. Three, of timeouts: a lone one is everyday (1 % of polls even on a good day), and two in a row would come once in two days at
   * 15 s.
   */
  readonly polls: 1 | 2 | 3;
}

/** Folds one vote into a status: agreement forgets all dissent, enough dissent changes it to the latest vote. */
export function debounce(verdict: SettledStatus | null, vote: StatusVote, nowMs: number): SettledStatus {
  if (verdict?.status === vote.status) {
    return verdict.dissent === 0 ? verdict : { ...verdict, dissent: 0 };
  }
  const dissent = (verdict?.dissent ?? 0) + 1 / vote.polls;
  return verdict === null || dissent >= 1
    ? { status: vote.status, dissent: 0, sinceMs: nowMs }
    : { ...verdict, dissent };
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
