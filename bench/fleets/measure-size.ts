import { join } from "node:path";
import { z } from "zod";
import { askModule } from "../programs/ask-module.ts";
import { untilPhase } from "../programs/bursts.ts";
import { type Round, startUpstream } from "../programs/upstream.ts";
import { type FleetDaemon, startFleetDaemon } from "./fleet-daemon.ts";

export interface Size {
  readonly endpoints: number;
  /** Between two polls of each: a divisor of a minute. */
  readonly periodSec: number;
  /** How long it is measured: a multiple of the period, and of 15 s or less than that. */
  readonly durationSec: number;
}

/** What a daemon of this size used. */
export interface Measured extends Size {
  readonly startMs: number;
  /** The most while it was measured, and since its start. */
  readonly rssMb: number;
  readonly peakMb: number;
  /** Milliseconds of CPU in a second, with the scrapes. */
  readonly cpuMs: number;
  readonly scrapes: readonly Scrape[];
  readonly rounds: readonly Round[];
  readonly delay: z.infer<typeof delaySchema>;
}

interface Scrape {
  readonly tookMs: number;
  readonly bytes: number;
  readonly cpuMs: number;
}

export const CONCURRENCY = 64;
const ENDPOINTS_A_CHAIN = 10;
/** Between two scrapes, unless the whole is shorter. */
const SCRAPE_SEC = 15;
/** When in that time a scrape comes. */
const SCRAPE = 0.8;
/** Measured from here to here: the round is over then, and the next has not begun. */
const QUIET = 0.9;
const RSS_MS = 1_000;

/** How late the event loop turned since this was asked before, in milliseconds. */
const delaySchema = z.object({ p99: z.number(), longest: z.number() });

/** Measures a daemon with a day's history and an upstream of its own. */
export async function measureSize(size: Size): Promise<Measured> {
  const { endpoints, periodSec, durationSec } = size;
  const periodMs = periodSec * 1_000;
  const scrapeMs = Math.min(SCRAPE_SEC, durationSec) * 1_000;
  await using upstream = await startUpstream();
  await using daemon = await startFleetDaemon(
    {
      endpoints,
      chains: endpoints / ENDPOINTS_A_CHAIN,
      origin: upstream.http,
      schedule: periodSec === 60 ? "0 * * * * *" : `*/${periodSec} * * * * *`,
      concurrency: CONCURRENCY,
    },
    join(import.meta.dirname, "loop-delay.mjs"),
  );
  await untilPhase(scrapeMs, QUIET);
  const rss = watchRss(daemon);
  await Promise.all([upstream.rounds(periodMs), askModule(daemon.process)]);
  const beganMs = performance.now();
  const before = await daemon.process.cpuMs();
  const scrapes: Scrape[] = [];
  while (scrapes.length * scrapeMs < durationSec * 1_000) {
    await untilPhase(scrapeMs, SCRAPE);
    scrapes.push(await scrape(daemon));
    await untilPhase(scrapeMs, QUIET);
  }
  const tookSec = (performance.now() - beganMs) / 1_000;
  const cpuMs = ((await daemon.process.cpuMs()) - before) / tookSec;
  const [rounds, told] = await Promise.all([upstream.rounds(periodMs), askModule(daemon.process)]);
  const delay = delaySchema.parse(told);
  const { peakMb } = await daemon.process.residentMb();
  return { ...size, startMs: daemon.startMs, rssMb: rss.highest(), peakMb, cpuMs, scrapes, rounds, delay };
}

async function scrape(daemon: FleetDaemon): Promise<Scrape> {
  const before = await daemon.process.cpuMs();
  const done = await daemon.scrape();
  return { ...done, cpuMs: (await daemon.process.cpuMs()) - before };
}

function watchRss({ process }: FleetDaemon): { readonly highest: () => number } {
  let highest = 0;
  const timer = setInterval(() => {
    void process.residentMb().then(({ rssMb }) => {
      highest = Math.max(highest, rssMb);
    });
  }, RSS_MS);
  return {
    highest() {
      clearInterval(timer);
      return highest;
    },
  };
}
