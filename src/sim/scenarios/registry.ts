import { calm } from "./calm.ts";
import { outage } from "./outage.ts";
import type { Scenario } from "./scenario.ts";
import { tour } from "./tour.ts";

/** Every scenario that `--scenario` may name; the first is the default. */
export const SCENARIOS: readonly [Scenario, ...Scenario[]] = [tour, calm, outage];

/** A scenario by its name, or null. */
export function findScenario(name: string): Scenario | null {
  return SCENARIOS.find((scenario) => scenario.name === name) ?? null;
}
