import type { Config } from "../../config/config.ts";
import type { Chain, Endpoint, Fleet, Thresholds } from "../../core/model/fleet.ts";

/** How a demo runs: at this pace something shows within the minute. */
export interface Pace {
  readonly pollIntervalSec: number;
  readonly thresholds: Thresholds;
}

/** Below this a healthy indexer, a second behind and polled each second, would seem to lag. */
const LEAST_MS = 5_000;

/** The pace of a demo; `speed` 2 is twice as fast. Cron knows no fraction of a second, so polls have a floor. */
export function paceAtSpeed(speed: number): Pace {
  const accelerated = (durationMs: number): number => Math.max(LEAST_MS, durationMs / speed);
  return {
    pollIntervalSec: Math.max(1, Math.round(5 / speed)),
    thresholds: {
      laggingMs: accelerated(20_000),
      criticalMs: accelerated(60_000),
      stalledMs: accelerated(25_000),
      staleMs: accelerated(20_000),
    },
  };
}

/** Enough for polls each second, of everything, all month. */
const LIFT = 10_000;

/**
 * The same configuration at a demo's pace. Budgets and limits of concurrency, which polls as frequent as these would
 * soon meet, are lifted.
 */
export function accelerate(config: Config, pace: Pace): Config {
  return {
    ...config,
    poll: { ...config.poll, concurrency: 64, perHost: 32 },
    fleet: accelerateFleet(config.fleet, pace),
  };
}

function accelerateFleet(fleet: Fleet, pace: Pace): Fleet {
  const accelerateEndpoint = (endpoint: Endpoint): Endpoint => {
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
    chains: fleet.chains.map((chain) => ({ ...chain, thresholds: thresholdsOf(chain, pace.thresholds) })),
    indexers: fleet.indexers.map((indexer) => ({
      ...indexer,
      endpoints: indexer.endpoints.map(accelerateEndpoint),
    })),
    rpcEndpoints: fleet.rpcEndpoints.map(accelerateEndpoint),
    budgets: fleet.budgets.map((budget) => ({ ...budget, limit: budget.limit * LIFT })),
  };
}

/** One block more or less is no lag: a slow chain is given three. */
function thresholdsOf({ blockTimeMs }: Chain, thresholds: Thresholds): Thresholds {
  const laggingMs = Math.max(thresholds.laggingMs, 3 * (blockTimeMs ?? 0));
  return { ...thresholds, laggingMs, criticalMs: Math.max(thresholds.criticalMs, 2 * laggingMs) };
}
