import type { Config } from "../../config/config.ts";
import type { Chain, Endpoint, Fleet, Thresholds } from "../../core/model/fleet.ts";

/** The pace of a demo, at which incidents are visible within a minute. */
export interface Pace {
  readonly pollIntervalSec: number;
  readonly thresholds: Thresholds;
}

/** Below this, a healthy indexer that is a second behind and polled every second would seem to lag. */
const LEAST_MS = 5_000;

/** The pace of a demo; `speed` 2 is twice as fast. Cron has no fractions of a second, so the poll interval has a minimum. */
export function paceAtSpeed(speed: number): Pace {
  const accelerated = (durationMs: number): number => Math.max(LEAST_MS, durationMs / speed);
  return {
    pollIntervalSec: Math.max(1, Math.round(5 / speed)),
    thresholds: {
      lagging: { ms: accelerated(20_000), blocks: null },
      critical: { ms: accelerated(60_000), blocks: null },
      stalledMs: accelerated(25_000),
      staleMs: accelerated(20_000),
    },
  };
}

/** Enough to poll everything every second, all month. */
const LIFT = 10_000;

/**
 * The same configuration at the pace of a demo. Budgets and concurrency limits are raised, because such frequent polls
 * would soon exhaust them.
 */
export function accelerate({ fleet, ...config }: Config, pace: Pace): Config {
  const accelerateEndpoint = (endpoint: Endpoint): Endpoint => {
    const pollIntervalMs = pace.pollIntervalSec * 1_000;
    return {
      ...endpoint,
      schedule: `*/${pace.pollIntervalSec} * * * * *`,
      pollIntervalMs,
      targets: endpoint.targets.map((target) => ({ ...target, pollIntervalMs })),
    };
  };
  const accelerated: Fleet = {
    ...fleet,
    chains: fleet.chains.map((chain) => ({ ...chain, thresholds: thresholdsOf(chain, pace.thresholds) })),
    indexers: fleet.indexers.map((indexer) => ({
      ...indexer,
      endpoints: indexer.endpoints.map(accelerateEndpoint),
    })),
    rpcEndpoints: fleet.rpcEndpoints.map(accelerateEndpoint),
    budgets: fleet.budgets.map((budget) => ({ ...budget, limit: budget.limit * LIFT })),
  };
  return { ...config, fleet: accelerated, poll: { ...config.poll, concurrency: 64, perHost: 32 } };
}

/** One block is not lag: a slow chain is given three. */
function thresholdsOf({ blockTimeMs }: Chain, thresholds: Thresholds): Thresholds {
  const laggingMs = Math.max(thresholds.lagging.ms ?? 0, 3 * (blockTimeMs ?? 0));
  const criticalMs = Math.max(thresholds.critical.ms ?? 0, 2 * laggingMs);
  return {
    ...thresholds,
    lagging: { ms: laggingMs, blocks: null },
    critical: { ms: criticalMs, blocks: null },
  };
}
