import { Budgets } from "../budgets/budgets.ts";
import { planFleet } from "../budgets/plan.ts";
import { SavedBudgets } from "../budgets/saved-budgets.ts";
import type { Fleet } from "../core/model/fleet.ts";
import { renderPlanJson, renderPlanTable } from "../views/terminal/plan-table.ts";
import { type CommandWorld, EXIT } from "./command-world.ts";
import { printWarnings } from "./config.ts";
import { defaultStateFile, loadConfig } from "./load-config.ts";

export interface PlanFlags {
  readonly config: string;
  readonly format: "table" | "json";
}

/**
 * `synclag plan`: how often each endpoint is polled, how much of each budget that uses, and how soon a fault is detected.
 *
 * @throws {ConfigError} If the configuration is invalid.
 */
export function plan(flags: PlanFlags, world: CommandWorld): number {
  const config = loadConfig(flags.config, world);
  printWarnings(config, world);
  const planned = planFleet(config.fleet, config.poll);
  world.out(flags.format === "json" ? renderPlanJson(planned) : renderPlanTable(planned));
  for (const line of backOffs(config.fleet, defaultStateFile(flags.config), world)) {
    world.err(line);
  }
  return EXIT.ok;
}

/** A line for each budget that waits for its provider, from the state file; no lines if the file cannot be read. */
function backOffs(fleet: Fleet, stateFile: string, world: CommandWorld): readonly string[] {
  const budgets = new Budgets(fleet);
  try {
    const state = JSON.parse(world.readFile(stateFile)) as { budgets?: unknown };
    budgets.restore(SavedBudgets.parse(state.budgets));
  } catch {
    return [];
  }
  return budgets
    .report(world.nowMs())
    .flatMap(({ budget, endpoint, detail }) =>
      detail === null ? [] : [`budget ${budget}${endpoint === null ? "" : ` of ${endpoint}`}: ${detail}`],
    );
}
