import type { MaintenanceMatch, MaintenanceWindow } from "../core/model/maintenance-window.ts";
import type { TargetId } from "../core/model/report.ts";
import { lastFiringMs } from "./firing-times.ts";

/**
 * Makes a function that returns when the last open window of a target ends; null: none is open. The open windows are found
 * once for a report, not for each target.
 */
export function openMaintenance(
  windows: readonly MaintenanceWindow[],
  nowMs: number,
): (target: TargetId) => number | null {
  const open = windows.flatMap((window) => {
    const endMs = endOf(window, nowMs);
    return endMs === null ? [] : { match: window.match, endMs };
  });
  return (target) => {
    const ends = open.filter(({ match }) => matches(match, target)).map(({ endMs }) => endMs);
    return ends.length === 0 ? null : Math.max(...ends);
  };
}

/** When an open window ends; null: it is not open. */
function endOf(window: MaintenanceWindow, nowMs: number): number | null {
  if (window.kind === "once") {
    return window.fromMs <= nowMs && nowMs < window.toMs ? window.toMs : null;
  }
  const firedMs = lastFiringMs(window.schedule, nowMs, window.durationMs);
  return firedMs === null ? null : firedMs + window.durationMs;
}

const KEYS: readonly (keyof MaintenanceMatch)[] = ["protocol", "variant", "tier", "chain"];

function matches(match: MaintenanceMatch, target: TargetId): boolean {
  return KEYS.every((key) => match[key] === undefined || match[key] === target[key]);
}
