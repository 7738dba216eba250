import type { MaintenanceMatch, MaintenanceWindow } from "../../core/model/maintenance-window.ts";
import type { ConfigFile } from "../schema/config-file.ts";
import type { IndexerEntry } from "../schema/indexer.ts";
import type { MaintenanceEntry } from "../schema/maintenance.ts";
import { didYouMean } from "../schema/messages.ts";
import type { Path } from "../yaml/config-error.ts";
import type { Message } from "../yaml/problem-list.ts";
import type { ResolveContext } from "./resolve-context.ts";

/** The maintenance windows of a file. Windows that never open or match nothing are problems. */
export function resolveMaintenance(
  { maintenance, protocols }: ConfigFile,
  context: ResolveContext,
): readonly MaintenanceWindow[] {
  const targets = Object.entries(protocols).flatMap(([protocol, indexers]) =>
    indexers.flatMap((indexer) => targetsOf(protocol, indexer)),
  );
  return maintenance.flatMap((entry, index) => {
    const path = ["maintenance", index];
    const match = definedOf(entry.match);
    if (!context.hasProblemAt(["protocols"]) && !context.hasProblemAt([...path, "match"])) {
      checkMatch(match, targets, (key, message) => context.addProblem([...path, "match", ...key], message));
    }
    const hasWrongTimes = TIME_KEYS.some((key) => context.hasProblemAt([...path, key]));
    const window = hasWrongTimes ? null : windowOf(entry, path, context);
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

function windowOf(entry: MaintenanceEntry, path: Path, context: ResolveContext): Times | null {
  const { from, to, schedule, for: durationMs } = entry;
  if (from !== undefined && to !== undefined && schedule === undefined && durationMs === undefined) {
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
    if (fromMs < toMs) {
      return { kind: "once", fromMs, toMs };
    }
    context.addProblem(
      [...path, "to"],
      `Cannot end a window at ${to}: expected a time after its start, ${from}`,
    );
    return null;
  }
  if (schedule !== undefined && durationMs !== undefined && from === undefined && to === undefined) {
    return { kind: "recurring", schedule, durationMs };
  }
  const found = TIME_KEYS.filter((key) => entry[key] !== undefined);
  context.addProblem(
    path,
    `Cannot use a window with ${found.join(", ") || "no times"}: expected from and to, or schedule and for`,
  );
  return null;
}

function checkMatch(
  match: MaintenanceMatch,
  targets: readonly Required<MaintenanceMatch>[],
  addProblem: (key: readonly Key[], message: Message) => void,
): void {
  const keys: readonly Key[] = ["protocol", "variant", "tier", "chain"];
  for (const key of keys) {
    const wanted = match[key];
    const known = [...new Set(targets.map((target) => target[key]))];
    if (wanted !== undefined && !known.includes(wanted)) {
      addProblem([key], () => `Cannot find ${key} "${wanted}" in any indexer${didYouMean(wanted, known)}`);
      return;
    }
  }
  if (
    !targets.some((target) => keys.every((key) => match[key] === undefined || match[key] === target[key]))
  ) {
    const wanted = keys.flatMap((key) => (match[key] === undefined ? [] : [`${key} ${match[key]}`]));
    addProblem([], `Cannot match ${wanted.join(", ")}: no indexer matches all of them`);
  }
}

/** Without undefined keys: `exactOptionalPropertyTypes` distinguishes them from absent ones. */
function definedOf({ protocol, variant, tier, chain }: MaintenanceEntry["match"]): MaintenanceMatch {
  return {
    ...(protocol === undefined ? {} : { protocol }),
    ...(variant === undefined ? {} : { variant }),
    ...(tier === undefined ? {} : { tier }),
    ...(chain === undefined ? {} : { chain }),
  };
}
