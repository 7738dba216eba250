import { parseConfig } from "../../src/config/parse.ts";
import type { Fleet } from "../../src/core/model/fleet.ts";
import type { Observation } from "../../src/core/model/observation.ts";
import type { ParityReading } from "../../src/core/model/parity.ts";
import { type ChainReport, chainReports } from "../../src/core/model/report.ts";
import { Monitor } from "../../src/daemon/monitor.ts";

/** What the worlds are played against: it takes observations, and reports on one chain. */
export interface Core {
  /** One poll's result, at the instant at which it is received, and the values of parity that came with it. */
  observe(observation: Observation, readings?: readonly ParityReading[]): void;
  report(nowMs: number): ChainReport;
  /** The daemon ends and starts again, with what it had saved or without. */
  restart(state: "kept" | "lost", nowMs: number): void;
}

/**
 * Starts a core on the text of a chains.yaml that has one chain. All instants passed to it are true; `wallMs` is what
 * the machine's clock shows then.
 */
export type StartCore = (chains: string, wallMs?: (trueMs: number) => number) => Core;

/** The daemon's keys of the nodes of a chains.yaml, by their keys in a world: `rpc/bench/N` is the Nth. */
export function nodesOf(chains: string): ReadonlyMap<string, string> {
  const { rpcEndpoints } = fleetOf(chains);
  return new Map(rpcEndpoints.map(({ key }, index) => [`rpc/bench/${index}`, key]));
}

function fleetOf(chains: string): Fleet {
  return parseConfig(chains, { file: "chains.yaml", env: {}, readFile: () => "" }).fleet;
}

/** The core as the daemon uses it. */
export const startMonitor: StartCore = (chains, wallMs = (trueMs) => trueMs) => {
  const fleet = fleetOf(chains);
  const nodes = nodesOf(chains);
  let trueMs = 0;
  const start = (): Monitor =>
    new Monitor(fleet, { nowMs: () => wallMs(trueMs), uptimeMs: () => trueMs, budgets: () => [] });
  let monitor: Monitor | null = null;
  const at = (nowMs: number): Monitor => {
    trueMs = nowMs;
    monitor ??= start();
    return monitor;
  };
  return {
    observe(observation, readings = []) {
      const sentAtMs = wallMs(observation.sentAtMs);
      const receivedAtMs = wallMs(observation.receivedAtMs);
      const source = nodes.get(observation.source) ?? observation.source;
      const core = at(observation.receivedAtMs);
      core.observe(
        [{ ...observation, source, sentAtMs, receivedAtMs }],
        readings.map((reading) => ({ ...reading, sentAtMs, receivedAtMs })),
      );
    },
    report(nowMs) {
      const core = at(nowMs);
      core.tick();
      const [chain] = chainReports(core.decideIncidents());
      if (chain === undefined) {
        throw new Error("Cannot report on a chain: chains.yaml has none");
      }
      return chain;
    },
    restart(state, nowMs) {
      const core = at(nowMs);
      core.tick();
      const saved = JSON.parse(JSON.stringify(core.save())) as ReturnType<Monitor["save"]>;
      monitor = start();
      if (state === "kept") {
        monitor.restore(saved);
      }
    },
  };
};
