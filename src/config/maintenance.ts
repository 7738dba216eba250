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
  const keys = ["from", "to", "schedule", "for"].filter((key) => Object.hasOwn(entry, key)).join();
  if (keys === "from,to") {
    const [fromMs, toMs] = [Date.parse(from ?? ""), Date.parse(to ?? "")];
    if (fromMs >= toMs) {
      spot.at("to").add(`found ${to}, expected a time after the start, ${from}`);
    }
    return { match, kind: "once", fromMs, toMs };
  }
  if (keys === "schedule,for" && schedule !== undefined && durationMs !== undefined) {
    return { match, kind: "recurring", schedule, durationMs };
  }
  spot.add("expected from and to, or schedule and for");
  return null;
}

const KEYS = ["protocol", "variant", "tier", "chain"] as const;

/** A window that matches nothing is most likely mistyped. */
function checkMatch(match: MaintenanceMatch, spot: Spot, targets: readonly Matched[]): void {
  let matched = targets;
  for (const key of KEYS) {
    const name = match[key];
    if (name !== undefined && matched.length > 0) {
      const known = [...new Set(matched.map((target) => target[key]))];
      matched = matched.filter((target) => target[key] === name);
      if (matched.length === 0) {
        spot.at(key).add(`no matching indexer with ${key} "${name}"${didYouMean(name, known)}`);
      }
    }
  }
}
