import type { MaintenanceMatch, MaintenanceWindow } from "../core/model/maintenance-window.ts";
import type { TargetId } from "../core/model/report.ts";
import { lastFiringMs } from "./firing-times.ts";

/** Tells which targets are inside a maintenance window at an instant; asked once for each report, not for each target. */
export function openMaintenance(
  windows: readonly MaintenanceWindow[],
  nowMs: number,
): (target: TargetId) => boolean {
  const open = windows.filter((window) => isOpen(window, nowMs));
  return (target) => open.some(({ match }) => matches(match, target));
}

function isOpen(window: MaintenanceWindow, nowMs: number): boolean {
  return window.kind === "once"
    ? window.fromMs <= nowMs && nowMs < window.toMs
    : lastFiringMs(window.schedule, nowMs, window.durationMs) !== null;
}

const KEYS: readonly (keyof MaintenanceMatch)[] = ["protocol", "variant", "tier", "chain"];

function matches(match: MaintenanceMatch, target: TargetId): boolean {
  return KEYS.every((key) => match[key] === undefined || match[key] === target[key]);
}
