import { parseDuration } from "../config/quantities.ts";
import type { Report } from "../core/model/report.ts";
import { expositionText } from "../metrics/exposition.ts";
import { STATUS_METRICS } from "../metrics/families.ts";
import {
  applyMaxLag,
  type CheckExitCode,
  type CheckTableOptions,
  checkExitCode,
  renderCheckTable,
  selectForCheck,
} from "../views/terminal/check.ts";
import type { CommandWorld } from "./command-world.ts";
import { askDaemon, pollLocally } from "./status-result.ts";
import { colorsFor } from "./terminal.ts";

export interface CheckFlags {
  readonly config: string;
  /** A running daemon to ask instead of polling. */
  readonly url?: string;
  /** The state file with the budgets; a daemon that holds it is asked instead of polling. */
  readonly state?: string;
  readonly store?: string;
  readonly cluster?: string;
  readonly maxLag?: string;
  readonly format: "table" | "json" | "prometheus";
}

/** No status could be had, or the usage or configuration is wrong: `UNKNOWN` of monitoring plugins. */
const EXIT_UNKNOWN: CheckExitCode = 3;

/** `synclag check`: polls the fleet once, or asks a daemon; prints the status and returns the exit code of a monitoring plugin. */
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
  const result = await (flags.url === undefined
    ? pollLocally(filters, flags, world)
    : askDaemon(flags.url, world));
  if (result.kind === "errors") {
    return refuse(world, result.errors);
  }
  const unfiltered = maxLagMs === null ? result.json : applyMaxLag(result.json, maxLagMs);
  const selected = selectForCheck(unfiltered, filters);
  if (selected.kind === "errors") {
    return refuse(world, selected.errors);
  }
  const { json } = selected;
  world.out(render({ json, unfiltered, statusesUrl: result.statusesUrl }, flags.format, world));
  return checkExitCode(json, selected.selections);
}

function render(
  { json, ...known }: Pick<CheckTableOptions, "unfiltered" | "statusesUrl"> & { readonly json: Report },
  format: CheckFlags["format"],
  world: CommandWorld,
): string {
  switch (format) {
    case "json":
      return JSON.stringify(json, null, 2);
    case "prometheus":
      return expositionText(STATUS_METRICS, { report: json }).trimEnd();
    case "table":
      return renderCheckTable(json, {
        color: colorsFor("out", world),
        widthColumns: world.outColumns ?? null,
        ...known,
      });
  }
}

function refuse(world: CommandWorld, errors: readonly string[]): CheckExitCode {
  for (const error of errors) {
    world.err(error);
  }
  return EXIT_UNKNOWN;
}
