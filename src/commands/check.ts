import { expositionText } from "../metrics/exposition.ts";
import { STATUS_METRICS } from "../metrics/families.ts";
import { applyMaxLag, type CheckExitCode, checkExitCode, renderCheckTable } from "../views/terminal/check.ts";
import { renderNagiosLine } from "../views/terminal/nagios.ts";
import type { CommandWorld } from "./command-world.ts";
import { readDuration } from "./load-config.ts";
import { askDaemon, type LocalFlags, pollLocally, select } from "./status-result.ts";
import { colorsFor } from "./terminal.ts";

export interface CheckFlags extends LocalFlags {
  /** A running daemon to ask instead of polling. */
  readonly url?: string;
  readonly maxLag?: string;
  readonly format: "table" | "json" | "prometheus" | "nagios";
}

/**
 * `synclag check`: polls the fleet once, or asks a daemon; prints the status and returns the exit code of a monitoring plugin.
 *
 * @throws {ConfigError | CommandError} If no status can be had, or the usage or configuration is wrong.
 */
export async function check(
  filters: readonly string[],
  flags: CheckFlags,
  world: CommandWorld,
): Promise<CheckExitCode> {
  const maxLagMs = flags.maxLag === undefined ? null : readDuration("--max-lag", flags.maxLag);
  const status = await (flags.url === undefined
    ? pollLocally(filters, flags, world)
    : askDaemon(flags.url, world));
  const unfiltered = maxLagMs === null ? status.json : applyMaxLag(status.json, maxLagMs);
  const { json, selections } = select(unfiltered, filters);
  const exitCode = checkExitCode(json, selections);
  switch (flags.format) {
    case "nagios":
      world.out(renderNagiosLine(json, exitCode));
      break;
    case "json":
      world.out(JSON.stringify(json, null, 2));
      break;
    case "prometheus":
      world.out(expositionText(STATUS_METRICS, { report: json }).trimEnd());
      break;
    case "table":
      world.out(
        renderCheckTable(json, {
          unfiltered,
          color: colorsFor("out", world),
          widthColumns: world.outColumns ?? null,
          statusesUrl: status.statusesUrl,
        }),
      );
  }
  return exitCode;
}
