import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { percentile } from "../../test/worlds/figures.ts";
import { startFleetDaemon } from "../fleets/fleet-daemon.ts";
import type { Extent, Figure } from "../performance/subject.ts";
import { startUpstream } from "../programs/upstream.ts";

const FLEET = { endpoints: 2_000, chains: 200, schedule: "*/5 * * * * *", concurrency: 64 };
const EVERY_MS = 40;
/** The rounds' first ones compile what is hot. */
const WARM_UPS = 125;
const SCRAPES: Readonly<Record<Extent, number>> = { whole: 500, quick: 50 };
/** The p99 as a multiple of the median. */
const AT_MOST = 3;

/** Of a program that keeps up. Scrapes that wait for one another all take equally long: then the ratio says nothing. */
const KEEPS_UP_MS = 1_000;

const timesSchema = z.array(z.number());

/** The real program, scraped plainly 25 times a second while it polls. */
export async function measureScrapesWhilePolling(extent: Extent): Promise<readonly Figure[]> {
  await using upstream = await startUpstream();
  const module = join(import.meta.dirname, "../fleets/loop-delay.mjs");
  await using daemon = await startFleetDaemon({ ...FLEET, origin: upstream.http }, module);
  const warmUps = extent === "whole" ? WARM_UPS : 0;
  const tookMs = (await scrapeSteadily(daemon.metricsUrl, warmUps + SCRAPES[extent])).slice(warmUps);
  const median = percentile(tookMs, 0.5);
  const p99 = percentile(tookMs, 0.99);
  const place = {
    table: "Plain scrapes 25 times a second while 2,000 endpoints are polled every 5 s",
    row: "Synclag",
  };
  const isGoal = extent === "whole";
  const keepsUp = median <= KEEPS_UP_MS;
  return [
    { ...place, column: "median, ms", value: median, ...(isGoal ? { atMost: KEEPS_UP_MS } : {}) },
    { ...place, column: "p99, ms", value: p99 },
    { ...place, column: "longest, ms", value: Math.max(...tookMs) },
    {
      ...place,
      column: "p99 ÷ median",
      value: p99 / median,
      ...(isGoal && keepsUp ? { atMost: AT_MOST } : {}),
    },
  ];
}

async function scrapeSteadily(url: string, count: number): Promise<readonly number[]> {
  const script = join(import.meta.dirname, "steady-scraper-process.ts");
  const args = ["--import", "tsx", script, url, String(EVERY_MS), String(count)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return timesSchema.parse(JSON.parse(stdout));
}
