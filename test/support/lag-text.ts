import type { TargetReport } from "../../src/core/model/report.ts";
import { formatCount, formatNumber } from "../../src/core/model/text.ts";

/** The lag of a target as stories and goldens print it: `level`, `400 blocks (800.9 s) behind`, `12 s behind` or `lag unknown`. */
export function lagText({
  lag_blocks: blocks,
  lag_seconds: seconds,
}: Pick<TargetReport, "lag_blocks" | "lag_seconds">): string {
  if (blocks === 0) {
    return "level";
  }
  const time = seconds === null ? null : `${formatNumber(seconds)} s`;
  if (blocks === null) {
    return time === null ? "lag unknown" : `${time} behind`;
  }
  return `${formatCount(blocks, "block")} (${time ?? "time unknown"}) behind`;
}
