import type { Config } from "../../config/config.ts";
import type { Chain, Endpoint, Fleet, Thresholds } from "../../core/model/fleet.ts";

/** The pace of a demo, at which incidents are visible within a minute. */
export interface Pace {
  readonly pollIntervalSec: number;
  readonly thresholds: Thresholds;
}

/**
 * The shortest threshold. With a shorter one, a healthy indexer that is a second behind and polled every second would count as
 * lagging.
 */
const LEAST_MS = 5_000;

/** The pace of a demo. `speed` 2 is twice as fast, but the poll interval is at least a second, the smallest unit of cron. */
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

/** Budgets are multiplied by this number, so that everything can be polled every second, all month. */
const LIFT = 10_000;

/**
 * The same configuration at the pace of a demo. Budgets and concurrency limits are raised, because such frequent polls
 * would soon exhaust them.
 */
export function accelerate(config: Config, { pollIntervalSec, thresholds }: Pace): Config {
  const polled = polledEvery(pollIntervalSec, config);
  const chains = polled.fleet.chains.map((chain) => ({
    ...chain,
    thresholds: thresholdsOf(chain, thresholds),
  }));
  return { ...polled, fleet: { ...polled.fleet, chains } };
}

/** The poll interval of the day before the demo. The day is played in a few seconds, and each incident lasts several polls. */
export const PLAYED_INTERVAL_SEC = 600;

/** The same configuration with the thresholds of a real fleet, for the day before the demo. */
export function atRealPace(config: Config): Config {
  return polledEvery(PLAYED_INTERVAL_SEC, config);
}

function polledEvery(intervalSec: number, { fleet, ...config }: Config): Config {
  const atInterval = (endpoint: Endpoint): Endpoint => {
    const pollIntervalMs = intervalSec * 1_000;
    return {
      ...endpoint,
      schedule: intervalSec < 60 ? `*/${intervalSec} * * * * *` : `0 */${intervalSec / 60} * * * *`,
      pollIntervalMs,
      targets: endpoint.targets.map((target) => ({ ...target, pollIntervalMs })),
    };
  };
  const polled: Fleet = {
    ...fleet,
    indexers: fleet.indexers.map((indexer) => ({ ...indexer, endpoints: indexer.endpoints.map(atInterval) })),
    rpcEndpoints: fleet.rpcEndpoints.map(atInterval),
    budgets: fleet.budgets.map((budget) => ({ ...budget, limit: budget.limit * LIFT })),
  };
  return { ...config, fleet: polled, poll: { ...config.poll, concurrency: 64, perHost: 32 } };
}

/** The thresholds of a chain: at least three blocks, because on a slow chain one block takes longer than the thresholds of a demo. */
function thresholdsOf({ blockTimeMs }: Chain, thresholds: Thresholds): Thresholds {
  const laggingMs = Math.max(thresholds.lagging.ms ?? 0, 3 * (blockTimeMs ?? 0));
  const criticalMs = Math.max(thresholds.critical.ms ?? 0, 2 * laggingMs);
  return {
    ...thresholds,
    lagging: { ms: laggingMs, blocks: null },
    critical: { ms: criticalMs, blocks: null },
  };
}
