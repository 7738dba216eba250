import { planFleet } from "../budgets/plan.ts";
import { renderPlanJson, renderPlanTable } from "../views/terminal/tables.ts";
import { type CommandWorld, EXIT, type Flags } from "./command-world.ts";
import { printWarnings } from "./config.ts";
import { loadConfig } from "./load-config.ts";

/**
 * `synclag plan`: how often each endpoint is polled, and how much of each budget that uses.
 *
 * @throws {ConfigError} If the configuration is invalid.
 */
export function plan(flags: Flags, world: CommandWorld): number {
  const config = loadConfig(flags.config, world);
  printWarnings(config, world);
  const planned = planFleet(config.fleet);
  world.out(flags.format === "json" ? renderPlanJson(planned) : renderPlanTable(planned));
  return EXIT.ok;
}
