import type { FailureReason } from "../model/observation.ts";
import type { Status } from "../model/statuses.ts";

/** The settled status of a target, and how strongly its latest polls disagree with it. */
export interface SettledStatus {
  readonly status: Status;
  /** Sum of the weights of the polls in a row that said something else. */
  readonly dissent: number;
  readonly sinceMs: number;
}

/** What one poll says, and how much it counts for. */
export interface StatusVote {
  readonly status: Status;
  /** {@link WEAK_WEIGHT}, {@link NORMAL_WEIGHT} or {@link CERTAIN_WEIGHT}. */
  readonly weight: number;
}

/** A status flips once the polls in a row that disagree with it weigh as much as this. */
const FLIP_WEIGHT = 6;
/** Two polls in a row: the rule. */
export const NORMAL_WEIGHT = 3;
/**
 * Three polls in a row: a lone timeout is everyday (1 % of polls even on a good day), and two in a row would come
 * once in two days at 15 s.
 */
export const WEAK_WEIGHT = 2;
/** One poll: there is nothing to doubt, or nothing yet to be steady about. */
export const CERTAIN_WEIGHT = 6;

/** Folds one opinion into a verdict: agreement forgets all dissent, enough dissent flips to the latest opinion. */
export function debounce(verdict: SettledStatus | null, opinion: StatusVote, nowMs: number): SettledStatus {
  if (verdict?.status === opinion.status) {
    return verdict.dissent === 0 ? verdict : { ...verdict, dissent: 0 };
  }
  const dissent = (verdict?.dissent ?? 0) + opinion.weight;
  return verdict === null || dissent >= FLIP_WEIGHT
    ? { status: opinion.status, dissent: 0, sinceMs: nowMs }
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
