import type { MaintenanceMatch, MaintenanceWindow } from "../core/model/maintenance-window.ts";
import type { Spot } from "./problems.ts";
import type { MaintenanceEntry } from "./schema.ts";
import { didYouMean } from "./shape.ts";

type Matched = Required<MaintenanceMatch>;

/** Resolves a maintenance window. `targets`: what it may match; null if that is not known. Null: a problem was added. */
export function resolveWindow(
  entry: MaintenanceEntry,
  spot: Spot,
  targets: readonly Matched[] | null,
): MaintenanceWindow | null {
  const { match, from, to, schedule, for: durationMs } = entry;
  if (targets !== null) {
    checkMatch(match, spot.at("match"), targets);
  }
  const isOnce = from !== undefined && to !== undefined;
  const isRecurring = schedule !== undefined && durationMs !== undefined;
  const found = ["from", "to", "schedule", "for"].filter((key) => Object.hasOwn(entry, key));
  if (found.length !== 2 || !(isOnce || isRecurring)) {
    const expected = "expected from and to, or schedule and for";
    spot.add(`found a window with ${found.join(", ") || "no times"}, ${expected}`);
    return null;
  }
  if (isRecurring) {
    return { match, kind: "recurring", schedule, durationMs };
  }
  const [fromMs, toMs] = [Date.parse(from ?? ""), Date.parse(to ?? "")];
  if (fromMs >= toMs) {
    spot.at("to").add(`found ${to}, expected a time after the start, ${from}`);
  }
  return { match, kind: "once", fromMs, toMs };
}

const KEYS = ["protocol", "variant", "tier", "chain"] as const;

/** A window that matches nothing is most likely mistyped. */
function checkMatch(match: MaintenanceMatch, spot: Spot, targets: readonly Matched[]): void {
  const wanted = KEYS.filter((key) => match[key] !== undefined);
  for (const key of wanted) {
    const name = match[key] ?? "";
    const known = [...new Set(targets.map((target) => target[key]))];
    if (!known.includes(name)) {
      spot.at(key).add(() => `no indexer with ${key} "${name}"${didYouMean(name, known)}`);
      return;
    }
  }
  if (!targets.some((target) => wanted.every((key) => match[key] === target[key]))) {
    spot.add(`no indexer with ${wanted.map((key) => `${key} ${match[key]}`).join(", ")} together`);
  }
}
