import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../test/worlds/figures.ts";
import { writeFullHistory } from "./full-history.ts";
import { scrape } from "./readers.ts";
import { startSynclag } from "./running-synclag.ts";
import { syntheticFleet } from "./synthetic-fleet.ts";
import { startUpstream } from "./upstream.ts";

const PERIOD_SEC = 15;
const PERIOD_MS = PERIOD_SEC * 1_000;
const CONCURRENCY = 64;
const ENDPOINTS_A_CHAIN = 10;
/** Shares of a period: when it is scraped, and when its polls have ended and the next have not begun. */
const SCRAPE = 0.8;
const QUIET = 0.9;

export interface LargeFigures {
  readonly endpoints: number;
  readonly periodSec: number;
  /** From the start of the process until every endpoint has been polled. */
  readonly startSec: number;
  /** With a scrape in each period. */
  readonly cpuPercentOfACore: number;
  readonly rssMb: number;
  readonly peakMb: number;
  /** How long after the scheduled second the first request of a round came: the longest time. */
  readonly firstRequestMs: number;
  /** The same for the last request of a round: the median. */
  readonly lastRequestMs: number;
  /** Medians. */
  readonly scrapeMs: number;
  readonly scrapeMb: number;
}

/**
 * Measures a real `synclag run` that polls this number of endpoints, ten for each chain, all in the same second every 15 s: the
 * worst case. It starts with the history of a full day. The indexer, in a process of its own, replies at once.
 */
export async function measureLarge(endpoints: number, minutes: number): Promise<LargeFigures> {
  const folder = await mkdtemp(join(tmpdir(), "synclag-fleet-"));
  await using upstream = await startUpstream();
  const file = join(folder, "chains.yaml");
  const text = syntheticFleet({
    endpoints,
    chains: endpoints / ENDPOINTS_A_CHAIN,
    origin: upstream.url,
    schedule: `*/${PERIOD_SEC} * * * * *`,
    concurrency: CONCURRENCY,
  });
  await writeFile(file, text);
  await writeFullHistory(text, join(folder, "synclag.state.json"));
  const startedMs = performance.now();
  await using synclag = await startSynclag({ file, env: {} });
  await synclag.untilReady();
  const startSec = (performance.now() - startedMs) / 1_000;

  await untilPhase(QUIET);
  await upstream.rounds(PERIOD_MS);
  const before = { cpuMs: await synclag.process.cpuMs(), atMs: performance.now() };
  const scrapes: { readonly tookMs: number; readonly bytes: number }[] = [];
  while (scrapes.length * PERIOD_SEC < minutes * 60) {
    await untilPhase(SCRAPE);
    scrapes.push(await scrape(synclag.url));
    await untilPhase(QUIET);
  }
  const after = { cpuMs: await synclag.process.cpuMs(), atMs: performance.now() };
  const rounds = await upstream.rounds(PERIOD_MS);
  const resident = await synclag.process.residentMb();
  await rm(folder, { recursive: true });
  const median = (values: readonly number[]): number => percentile(values, 0.5);
  return {
    endpoints,
    periodSec: PERIOD_SEC,
    startSec,
    cpuPercentOfACore: (100 * (after.cpuMs - before.cpuMs)) / (after.atMs - before.atMs),
    ...resident,
    firstRequestMs: Math.max(...rounds.map(({ firstMs }) => firstMs)),
    lastRequestMs: median(rounds.map(({ lastMs }) => lastMs)),
    scrapeMs: median(scrapes.map(({ tookMs }) => tookMs)),
    scrapeMb: median(scrapes.map(({ bytes }) => bytes)) / 1e6,
  };
}

/** Waits until this share of a period has passed. Like schedules, periods begin at multiples of their length. */
async function untilPhase(share: number): Promise<void> {
  await sleep(PERIOD_MS - ((Date.now() - share * PERIOD_MS) % PERIOD_MS));
}
