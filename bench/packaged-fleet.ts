import { setTimeout as sleep } from "node:timers/promises";
import { type PlayedFleet, playPackagedFleet } from "./played-fleet.ts";
import { startReaders } from "./readers.ts";
import { startSynclag } from "./running-synclag.ts";

const MINUTE_MS = 60_000;

export interface PackagedFigures {
  /** Includes the replies to the readers. */
  readonly cpuPercentOfACore: number;
  readonly requestsPerMinute: number;
  readonly connectionsOpenedPerMinute: number;
  readonly rssMb: number;
  /** Since the start. */
  readonly peakMb: number;
}

/**
 * Measures a real `synclag run` of the packaged chains.yaml, after its first minute, with everything on: state file, history,
 * log. /metrics is scraped every 15 s, and the page is open. The simulator, in this process, replies in 20 to 400 ms and keeps
 * idle connections.
 */
export async function measurePackaged(minutes: number): Promise<PackagedFigures> {
  await using fleet = await playPackagedFleet();
  await using synclag = await startSynclag(fleet);
  await synclag.untilReady();
  await using readers = startReaders(synclag.url);
  await sleep(MINUTE_MS);
  const before = { ...countsOf(fleet), cpuMs: await synclag.process.cpuMs(), atMs: performance.now() };
  await sleep(minutes * MINUTE_MS);
  const after = { ...countsOf(fleet), cpuMs: await synclag.process.cpuMs(), atMs: performance.now() };
  readers.assertServed();
  const tookMs = after.atMs - before.atMs;
  return {
    cpuPercentOfACore: round((100 * (after.cpuMs - before.cpuMs)) / tookMs),
    requestsPerMinute: round(((after.requests - before.requests) * MINUTE_MS) / tookMs),
    connectionsOpenedPerMinute: round(((after.connections - before.connections) * MINUTE_MS) / tookMs),
    ...(await synclag.process.residentMb()),
  };
}

function countsOf({ endpoints, simulated }: PlayedFleet): {
  readonly requests: number;
  readonly connections: number;
} {
  return {
    requests: endpoints.reduce((sum, { key }) => sum + simulated.endpoint(key).requestCount, 0),
    connections: simulated.origins.reduce((sum, { connectionCount }) => sum + connectionCount, 0),
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
