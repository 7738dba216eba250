import { planFleet } from "../budgets/plan.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/yaml/config-error.ts";
import { renderPlanJson, renderPlanTable } from "../views/terminal/plan-table.ts";
import { type CommandWorld, EXIT } from "./command-world.ts";
import { loadConfig } from "./load-config.ts";

export interface PlanFlags {
  readonly config: string;
  readonly format: "table" | "json";
}

/** `synclag plan`: what is polled how often, what of each budget that takes, and how soon a fault shows. */
export function plan(flags: PlanFlags, world: CommandWorld): number {
  let config: Config;
  try {
    config = loadConfig(flags.config, world);
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    world.err(error.message);
    return EXIT.usage;
  }
  for (const warning of config.warnings) {
    world.err(`${flags.config}: warning: ${warning}`);
  }
  const planned = planFleet(config.fleet, config.poll);
  world.out(flags.format === "json" ? renderPlanJson(planned) : renderPlanTable(planned));
  return EXIT.ok;
}
