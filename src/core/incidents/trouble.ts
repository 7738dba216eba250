import type { Status, TargetReport } from "../model/report.ts";

/** What is wrong with a target, coarse enough that one cause gives all of its targets the same: lagging and stalled are one. */
export type Trouble =
  | "rejected"
  | "throttled"
  | "not_found"
  | "unreachable"
  | "missing"
  | "failed"
  | "diverged"
  | "halted"
  | "behind";

/** The trouble that a status means; null: no trouble, or nothing is known. */
export function troubleOf(status: Status): Trouble | null {
  switch (status) {
    case "chain_halted":
      return "halted";
    case "stalled":
    case "lagging":
      return "behind";
    case "unknown":
    case "syncing":
    case "ok":
      return null;
    default:
      return status;
  }
}

/** Whether a target answers, so that it says something about its chain. */
export function isAnswering({ status }: TargetReport): boolean {
  return !NOT_ANSWERING.has(status);
}

/** The predicate of a sentence about many targets with this trouble. */
export function troubleText(trouble: Trouble): string {
  switch (trouble) {
    case "rejected":
      return "reject our key";
    case "throttled":
      return "are throttled";
    case "not_found":
      return "are not found";
    case "unreachable":
      return "return no usable answer";
    case "missing":
      return "are missing from the answer";
    case "failed":
      return "report a failed deployment";
    case "diverged":
      return "answer for another chain or fork";
    case "halted":
      return "have stopped because the chain has halted";
    case "behind":
      return "lag or have stopped";
  }
}

const NOT_ANSWERING: ReadonlySet<Status> = new Set([
  "unknown",
  "rejected",
  "throttled",
  "not_found",
  "unreachable",
]);
