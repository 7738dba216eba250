import { parseDuration } from "../config/schema/quantities.ts";
import { expositionText } from "../metrics/exposition.ts";
import { STATUS_METRICS } from "../metrics/families/status.ts";
import type { StatusJson } from "../views/api/api-schema.ts";
import { statusSource } from "../views/terminal/check-metrics.ts";
import { applyMaxLag, selectForCheck } from "../views/terminal/check-selection.ts";
import { type CheckTableOptions, renderCheckTable } from "../views/terminal/check-table.ts";
import { type CheckExitCode, checkVerdict } from "../views/terminal/check-verdict.ts";
import type { CommandWorld } from "./command-world.ts";
import { askDaemon, pollLocally } from "./status-result.ts";
import { colorsFor } from "./terminal.ts";

export interface CheckFlags {
  readonly config: string;
  /** A running daemon to ask instead of polling. */
  readonly url?: string;
  /** Whose budgets are drawn on; its daemon is asked instead where one runs. */
  readonly state?: string;
  readonly maxLag?: string;
  readonly format: "table" | "json" | "prometheus";
}

/** Nothing could be learned, and mistakes of usage and configuration: `UNKNOWN` of monitoring plugins. */
const EXIT_UNKNOWN: CheckExitCode = 3;

/** `synclag check`: one look at the fleet, by itself or at a daemon's, as text for people or programs and an exit code. */
export async function check(
  filters: readonly string[],
  flags: CheckFlags,
  world: CommandWorld,
): Promise<CheckExitCode> {
  const maxLagMs = flags.maxLag === undefined ? null : parseDuration(flags.maxLag);
  if (maxLagMs === null && flags.maxLag !== undefined) {
    return refuse(world, [
      `Cannot use --max-lag ${JSON.stringify(flags.maxLag)}: expected a duration such as 30s, 10m or 1h`,
    ]);
  }
  const learned = await (flags.url === undefined
    ? pollLocally(filters, flags, world)
    : askDaemon(flags.url, world));
  if (learned.kind === "mistakes") {
    return refuse(world, learned.mistakes);
  }
  const whole = maxLagMs === null ? learned.json : applyMaxLag(learned.json, maxLagMs);
  const selected = selectForCheck(whole, filters);
  if (selected.kind === "mistakes") {
    return refuse(world, selected.mistakes);
  }
  const { json } = selected;
  world.out(render({ json, whole, statusesAt: learned.statusesAt }, flags.format, world));
  return checkVerdict(json, selected.selections);
}

function render(
  { json, ...known }: Pick<CheckTableOptions, "whole" | "statusesAt"> & { readonly json: StatusJson },
  format: CheckFlags["format"],
  world: CommandWorld,
): string {
  switch (format) {
    case "json":
      return JSON.stringify(json, null, 2);
    case "prometheus":
      return expositionText(STATUS_METRICS, statusSource(json)).trimEnd();
    case "table":
      return renderCheckTable(json, {
        color: colorsFor("out", world),
        widthColumns: world.outColumns ?? null,
        ...known,
      });
  }
}

function refuse(world: CommandWorld, mistakes: readonly string[]): CheckExitCode {
  for (const mistake of mistakes) {
    world.err(mistake);
  }
  return EXIT_UNKNOWN;
}
