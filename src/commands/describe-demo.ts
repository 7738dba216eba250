import type { Config } from "../config/config.ts";
import { type Endpoint, endpointsOf } from "../core/model/fleet.ts";
import type { Pace } from "../sim/fleet/accelerate.ts";
import type { Scenario, Step } from "../sim/scenarios/scenario.ts";

/** What a new user reads first: what runs, where to look, and what differs from real life. */
export function describeDemo(demo: {
  readonly real: Config;
  readonly played: Config;
  readonly url: string;
  readonly pace: Pace;
  readonly scenario: Scenario;
}): readonly string[] {
  const { real, played, url, pace, scenario } = demo;
  const endpoints = endpointsOf(played.fleet);
  const protocols = new Set(played.fleet.indexers.map(({ protocol }) => protocol));
  const { laggingMs, stalledMs } = pace.thresholds;
  return [
    `Synclag watches ${played.fleet.chains.length} chains and ${protocols.size} protocols at ${endpoints.length} endpoints, all simulated here: no key, no network.`,
    "",
    `  page     ${url}/`,
    `  metrics  ${url}/metrics`,
    `  API      ${url}/api/v1/status`,
    "  stop     Ctrl-C",
    "",
    `Faster than life: every endpoint is polled each ${pace.pollIntervalSec} s, lagging begins at ${laggingMs / 1_000} s (three block times),`,
    `stalled at ${stalledMs / 1_000} s (50 block times), whichever is longer. Budgets are lifted, or such polling would use them up.`,
    "",
    "Who plays whom:",
    ...castOf(endpointsOf(real.fleet), endpoints),
    "",
    `Scenario ${scenario.name}: ${scenario.about}`,
  ];
}

/** One line for what has just happened to the fleet, at its time in the scenario. */
export function describeStep(step: Step, speed: number): string {
  const atSec = Math.round(step.atSec / speed);
  const minutes = String(Math.floor(atSec / 60)).padStart(2, "0");
  return `${minutes}:${String(atSec % 60).padStart(2, "0")}  ${step.say}`;
}

/** The hosts of the indexers; those of RPC nodes are counted. */
function castOf(real: readonly Endpoint[], played: readonly Endpoint[]): readonly string[] {
  const cast = new Map(
    real.flatMap((endpoint, index) =>
      endpoint.kind === "indexer" ? [[endpoint.host, played[index]?.host ?? ""] as const] : [],
    ),
  );
  const nodes = new Set(real.filter(({ kind }) => kind === "rpc").map(({ host }) => host));
  const lines = [...cast].map(([host, player]) => `  ${player}  ${host}`);
  return nodes.size === 0 ? lines : [...lines, `  and ${nodes.size} more: RPC nodes of the chains`];
}
