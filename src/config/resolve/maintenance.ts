import type { MaintenanceMatch, MaintenanceWindow } from "../../core/model/maintenance-window.ts";
import type { ConfigFile } from "../schema/config-file.ts";
import type { IndexerEntry } from "../schema/indexer.ts";
import type { MaintenanceEntry } from "../schema/maintenance.ts";
import type { Path } from "../yaml/config-error.ts";
import { didYouMean } from "../yaml/did-you-mean.ts";
import type { ResolveContext } from "./resolve-context.ts";

/** The maintenance windows of a file. Tells of those that never open, and of those that match nothing. */
export function resolveMaintenance(
  { maintenance, protocols }: ConfigFile,
  resolving: ResolveContext,
): readonly MaintenanceWindow[] {
  const targets = Object.entries(protocols).flatMap(([protocol, indexers]) =>
    indexers.flatMap((indexer) => targetsOf(protocol, indexer)),
  );
  return maintenance.flatMap((entry, index) => {
    const path = ["maintenance", index];
    const match = definedOf(entry.match);
    if (!resolving.touches(["protocols"]) && !resolving.touches([...path, "match"])) {
      checkMatch(match, targets, (key, message) => resolving.tell([...path, "match", ...key], message));
    }
    const hasWrongTimes = TIME_KEYS.some((key) => resolving.touches([...path, key]));
    const window = hasWrongTimes ? null : windowOf(entry, path, resolving);
    return window === null ? [] : [{ match, ...window }];
  });
}

function targetsOf(
  protocol: string,
  { variant, tier, chains }: IndexerEntry,
): readonly Required<MaintenanceMatch>[] {
  const slugs = Array.isArray(chains) ? chains : Object.keys(chains);
  return slugs.map((chain) => ({ protocol, variant, tier, chain }));
}

const TIME_KEYS = ["from", "to", "schedule", "for"] as const;

type Key = keyof MaintenanceMatch;

type Times =
  | { readonly kind: "once"; readonly fromMs: number; readonly toMs: number }
  | { readonly kind: "recurring"; readonly schedule: string; readonly durationMs: number };

function windowOf(entry: MaintenanceEntry, path: Path, { tell }: ResolveContext): Times | null {
  const { from, to, schedule, for: durationMs } = entry;
  if (from !== undefined && to !== undefined && schedule === undefined && durationMs === undefined) {
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
    if (fromMs < toMs) {
      return { kind: "once", fromMs, toMs };
    }
    tell([...path, "to"], `Cannot end a window at ${to}: expected a time after its start, ${from}`);
    return null;
  }
  if (schedule !== undefined && durationMs !== undefined && from === undefined && to === undefined) {
    return { kind: "recurring", schedule, durationMs };
  }
  const found = TIME_KEYS.filter((key) => entry[key] !== undefined);
  tell(
    path,
    `Cannot use a window with ${found.join(", ") || "no times"}: expected from and to, or schedule and for`,
  );
  return null;
}

function checkMatch(
  match: MaintenanceMatch,
  targets: readonly Required<MaintenanceMatch>[],
  tell: (key: readonly Key[], message: string) => void,
): void {
  const keys: readonly Key[] = ["protocol", "variant", "tier", "chain"];
  for (const key of keys) {
    const wanted = match[key];
    const known = [...new Set(targets.map((target) => target[key]))];
    if (wanted !== undefined && !known.includes(wanted)) {
      tell([key], `Cannot find ${key} "${wanted}" in any indexer${didYouMean(wanted, known)}`);
      return;
    }
  }
  if (
    !targets.some((target) => keys.every((key) => match[key] === undefined || match[key] === target[key]))
  ) {
    const wanted = keys.flatMap((key) => (match[key] === undefined ? [] : [`${key} ${match[key]}`]));
    tell([], `Cannot match ${wanted.join(", ")}: no indexer has all of it`);
  }
}

/** Without the keys that are undefined, which `exactOptionalPropertyTypes` tells from absent ones. */
function definedOf({ protocol, variant, tier, chain }: MaintenanceEntry["match"]): MaintenanceMatch {
  return {
    ...(protocol === undefined ? {} : { protocol }),
    ...(variant === undefined ? {} : { variant }),
    ...(tier === undefined ? {} : { tier }),
    ...(chain === undefined ? {} : { chain }),
  };
}
