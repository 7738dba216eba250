import type { Config } from "../config/config.ts";
import type { Endpoint, Fleet, Thresholds } from "../core/fleet.ts";

/** How a demo runs: at this pace something shows within the minute. */
export interface Pace {
  readonly pollIntervalSec: number;
  readonly thresholds: Thresholds;
}

/** The pace of a demo; `speed` 2 is twice as fast. Cron knows no fraction of a second, so polls have a floor. */
export function paceAtSpeed(speed: number): Pace {
  return {
    pollIntervalSec: Math.max(1, Math.round(5 / speed)),
    thresholds: {
      laggingMs: 20_000 / speed,
      criticalMs: 60_000 / speed,
      stalledMs: 25_000 / speed,
      staleMs: 20_000 / speed,
    },
  };
}

/** Enough for polls each second, of everything, all month. */
const LIFT = 10_000;

/**
 * The same configuration at a demo's pace. Budgets and limits of concurrency, which polls as frequent as these would
 * soon meet, are lifted.
 */
export function hasten(config: Config, pace: Pace): Config {
  return {
    ...config,
    poll: { ...config.poll, concurrency: 64, perHost: 32 },
    fleet: hastenFleet(config.fleet, pace),
  };
}

function hastenFleet(fleet: Fleet, pace: Pace): Fleet {
  const hastenEndpoint = (endpoint: Endpoint): Endpoint => {
    const pollIntervalMs = pace.pollIntervalSec * 1_000;
    return {
      ...endpoint,
      schedule: `*/${pace.pollIntervalSec} * * * * *`,
      pollIntervalMs,
      targets: endpoint.targets.map((target) => ({ ...target, pollIntervalMs })),
    };
  };
  return {
    ...fleet,
    chains: fleet.chains.map((chain) => ({ ...chain, thresholds: pace.thresholds })),
    indexers: fleet.indexers.map((indexer) => ({
      ...indexer,
      endpoints: indexer.endpoints.map(hastenEndpoint),
    })),
    rpcEndpoints: fleet.rpcEndpoints.map(hastenEndpoint),
    budgets: fleet.budgets.map((budget) => ({ ...budget, limit: budget.limit * LIFT })),
  };
}
