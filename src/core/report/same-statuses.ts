import type { ChainReport } from "../model/report.ts";

/** Whether a chain has the same targets in the same statuses as before: heights and ages move on by themselves. */
export function hasSameStatuses(before: ChainReport, after: ChainReport): boolean {
  if (before === after) {
    return true;
  }
  return (
    before.targets.length === after.targets.length &&
    before.targets.every((was, index) => {
      const is = after.targets[index];
      return was.status === is?.status && was.target.key === is.target.key;
    })
  );
}
