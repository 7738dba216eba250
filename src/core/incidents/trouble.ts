import type { Status, TargetReport } from "../model/report.ts";

/** What is wrong with a target, as coarse as one cause would show on many: to lag and to stall are one trouble. */
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

/** The trouble that a status stands for, or null where nothing is wrong or nothing is known. */
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

/** Whether a target answers at all, so that it can say something of its chain. */
export function isHeard({ status }: TargetReport): boolean {
  return !UNHEARD.has(status);
}

/** What is said of many targets in that trouble. */
export function troubleText(trouble: Trouble): string {
  switch (trouble) {
    case "rejected":
      return "reject our key";
    case "throttled":
      return "are throttled";
    case "not_found":
      return "are not found";
    case "unreachable":
      return "give no usable answer";
    case "missing":
      return "are missing from the answer";
    case "failed":
      return "report a failed deployment";
    case "diverged":
      return "answer for another chain or fork";
    case "halted":
      return "stand at a chain that has halted";
    case "behind":
      return "lag or stand still";
  }
}

const UNHEARD: ReadonlySet<Status> = new Set([
  "unknown",
  "rejected",
  "throttled",
  "not_found",
  "unreachable",
]);
