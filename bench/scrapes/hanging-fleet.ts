import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../test/e2e/support/free-port.ts";
import { percentile } from "../../test/worlds/figures.ts";
import type { Extent, Figure } from "../performance/subject.ts";
import { startMeasured } from "../programs/measured-process.ts";
import { synclagArgs } from "../programs/synclag-args.ts";
import { syntheticFleet } from "../programs/synthetic-fleet.ts";
import { startUpstream } from "../programs/upstream.ts";
import type { Scraper } from "./scraper.ts";

const SCRAPERS = 10;
const MOST_MS = 100;
/** Later than the report is old, so that each time all ten ask of a new one. */
const EVERY_MS = 1_200;
const READY_MS = 60_000;

interface Size {
  readonly endpoints: number;
  readonly chains: number;
  readonly intervalSec: number;
  readonly times: number;
  readonly atMost?: number;
}

/** The real program, scraped by ten at once while every poll hangs. */
export async function measureHangingFleet(scraper: Scraper, extent: Extent): Promise<readonly Figure[]> {
  const usual = { endpoints: 140, chains: 30, intervalSec: 1, atMost: MOST_MS };
  if (extent === "quick") {
    return await measureSize(scraper, { ...usual, times: 2 });
  }
  return [
    ...(await measureSize(scraper, { ...usual, times: 6 })),
    ...(await measureSize(scraper, { endpoints: 10_000, chains: 300, intervalSec: 10, times: 3 })),
  ];
}

async function measureSize(
  scraper: Scraper,
  { endpoints, chains, intervalSec, times, atMost }: Size,
): Promise<readonly Figure[]> {
  await using upstream = await startUpstream();
  const folder = await mkdtemp(join(tmpdir(), "synclag-hanging-"));
  const file = join(folder, "chains.yaml");
  const schedule = intervalSec === 1 ? "* * * * * *" : `*/${intervalSec} * * * * *`;
  await writeFile(
    file,
    syntheticFleet({ endpoints, chains, origin: upstream.http, schedule, concurrency: 100 }),
  );
  const listen = `127.0.0.1:${await freePort()}`;
  await using daemon = startMeasured({
    command: process.execPath,
    args: synclagArgs(["run", "--config", file, "--listen", listen]),
  });
  await untilReady(`http://${listen}`);
  upstream.hang();
  await sleep(1_000 * intervalSec);
  const cpuBeforeMs = await daemon.cpuMs();
  const tookMs: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const scrapes = await scraper.scrape({
      url: `http://${listen}/metrics`,
      coding: "gzip",
      scrapers: SCRAPERS,
    });
    tookMs.push(...scrapes.map((scrape) => scrape.tookMs));
    await sleep(EVERY_MS);
  }
  const cpuMs = (await daemon.cpuMs()) - cpuBeforeMs;
  await rm(folder, { recursive: true });
  const row = {
    table: "Ten scrapers at once while every poll hangs",
    row: `${endpoints.toLocaleString("en-US")} targets`,
  };
  return [
    { ...row, column: "median, ms", value: percentile(tookMs, 0.5) },
    {
      ...row,
      column: "p99, ms",
      value: percentile(tookMs, 0.99),
      ...(atMost === undefined ? {} : { atMost }),
    },
    { ...row, column: "CPU of all that the program did, ms, for each ten", value: cpuMs / times },
  ];
}

async function untilReady(url: string): Promise<void> {
  const untilMs = performance.now() + READY_MS;
  while (performance.now() < untilMs) {
    const isReady = await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) {
      return;
    }
    await sleep(100);
  }
  throw new Error(`Cannot measure ${url}: it was not ready in ${READY_MS} ms`);
}
