import type { Config } from "../config/config.ts";
import { type Endpoint, endpointsOf } from "../core/model/fleet.ts";
import type { Pace } from "../sim/fleet/accelerate.ts";
import type { Scenario, Step } from "../sim/scenarios/scenario.ts";

/** The first output of the demo: what runs, where to look, and how it differs from a real fleet. */
export function describeDemo(demo: {
  readonly real: Config;
  readonly simulated: Config;
  readonly url: string;
  readonly pace: Pace;
  readonly scenario: Scenario;
}): readonly string[] {
  const { real, simulated, url, pace, scenario } = demo;
  const endpoints = endpointsOf(simulated.fleet);
  const protocols = new Set(simulated.fleet.indexers.map(({ protocol }) => protocol));
  const { laggingMs, stalledMs } = pace.thresholds;
  return [
    `Synclag watches ${simulated.fleet.chains.length} chains and ${protocols.size} protocols at ${endpoints.length} endpoints. All of them are simulated on this machine: no key, no network.`,
    "",
    `  page     ${url}/`,
    `  metrics  ${url}/metrics`,
    `  API      ${url}/api/v1/status`,
    "  stop     Ctrl-C",
    "",
    `The demo runs faster than a real fleet: every endpoint is polled every ${pace.pollIntervalSec} s. A target is lagging after ${laggingMs / 1_000} s (or three`,
    `block times) and stalled after ${stalledMs / 1_000} s (or 50 block times), whichever is longer. Budgets are raised to allow this.`,
    "",
    "Simulated hosts:",
    ...hostLines(endpointsOf(real.fleet), endpoints),
    "",
    `Scenario ${scenario.name}: ${scenario.about}`,
  ];
}

/** One line for what has just happened to the fleet, with its time in the scenario. */
export function describeStep(step: Step, speed: number): string {
  const atSec = Math.round(step.atSec / speed);
  const minutes = String(Math.floor(atSec / 60)).padStart(2, "0");
  return `${minutes}:${String(atSec % 60).padStart(2, "0")}  ${step.say}`;
}

/** A line for each host of an indexer, and the number of RPC nodes. */
function hostLines(real: readonly Endpoint[], simulated: readonly Endpoint[]): readonly string[] {
  const hosts = new Map(
    real.flatMap((endpoint, index) =>
      endpoint.kind === "indexer" ? [[endpoint.host, simulated[index]?.host ?? ""] as const] : [],
    ),
  );
  const nodes = new Set(real.filter(({ kind }) => kind === "rpc").map(({ host }) => host));
  const lines = [...hosts].map(([host, address]) => `  ${address}  ${host}`);
  return nodes.size === 0 ? lines : [...lines, `  and ${nodes.size} more: RPC nodes of the chains`];
}
