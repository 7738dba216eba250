import { join } from "node:path";
import { z } from "zod";
import { percentile } from "../accuracy/figures.ts";
import type { Figure, Subject } from "../performance/subject.ts";
import { askModule } from "../programs/ask-module.ts";
import { untilPhase } from "../programs/bursts.ts";
import { type Round, startUpstream, type Upstream } from "../programs/upstream.ts";
import { type FleetDaemon, startFleetDaemon } from "./fleet-daemon.ts";

interface Size {
  readonly endpoints: number;
  /** Between two polls of each. */
  readonly periodSec: number;
  /** So many periods are measured, after the first round. */
  readonly periods: number;
}

/** The first one is what the goals are about. */
const WHOLE: readonly Size[] = [
  { endpoints: 10_000, periodSec: 15, periods: 8 },
  { endpoints: 100, periodSec: 15, periods: 1 },
  { endpoints: 1_000, periodSec: 15, periods: 1 },
  { endpoints: 50_000, periodSec: 30, periods: 1 },
];
const QUICK: readonly Size[] = [{ endpoints: 1_000, periodSec: 2, periods: 1 }];

const ENDPOINTS_A_CHAIN = 10;
const CONCURRENCY = 64;
/** A period is measured from here to here: its round is over then, and the next has not begun. */
const QUIET = 0.9;
/** When in it a scrape comes. */
const SCRAPE = 0.8;
const US_IN_MS = 1_000;
const GOALS = { cpuShare: 6, rssMb: 150, latenessMs: 100, delayMs: 10 };
/** Beyond this exponent, something grows faster than the fleet. */
const LINEAR = 1.1;

const delaySchema = z.object({ p99: z.number(), longest: z.number() });

type LoopDelay = z.infer<typeof delaySchema>;

export const subject: Subject = {
  title: "Large fleets",
  about: `
A real \`synclag run\` with everything on (state file, history, log), ten endpoints per chain, each with one target, polls an indexer on loopback that replies immediately, in rounds of all
endpoints, ${CONCURRENCY} at a time. This is the worst case: endpoints with schedules of their own spread over the period. Measured over whole periods; each includes a scrape.

- *CPU*: user and system time of all threads, without and with the scrapes, which accept gzip, as Prometheus does.
- *RSS*: maximum, sampled each second. It includes the history behind the plots, 13 kB a target.
- *First request* and *last request*: time at which they reach the indexer, after the second that the schedule names; worst round and median.
- *Loop delay*: how late a 10 ms timer is, 99th percentile and maximum (\`monitorEventLoopDelay\`, in the process itself).
- *Start*: from process start until it is ready: configuration read, every endpoint polled.

*Growth* is the exponent between neighbouring sizes: 1 is linear, above ${LINEAR} is worse than linear. 50,000 endpoints are polled every 30 s; their CPU is that of one poll times the size.`,

  async measure(extent) {
    const sizes = extent === "quick" ? QUICK : WHOLE;
    const all: Measured[] = [];
    for (const size of sizes) {
      await using upstream = await startUpstream();
      all.push(await measureSize(size, upstream));
    }
    const [first] = all;
    const bySize = all.toSorted((a, b) => a.endpoints - b.endpoints);
    const figures = [...(first === undefined ? [] : goalFigures(first)), ...growthFigures(bySize)];
    // The goals are those of the large fleet, over two minutes.
    return extent === "quick" ? figures.map(({ atMost: _, ...figure }) => figure) : figures;
  },
};

interface Measured extends Size {
  readonly startMs: number;
  readonly rssMb: number;
  /** Milliseconds of CPU in a second. */
  readonly cpuMs: number;
  readonly scrapes: readonly Scrape[];
  readonly rounds: readonly Round[];
  readonly delay: LoopDelay;
}

interface Scrape {
  readonly tookMs: number;
  readonly bytes: number;
  readonly cpuMs: number;
}

async function measureSize(size: Size, upstream: Upstream): Promise<Measured> {
  const { endpoints, periodSec, periods } = size;
  const periodMs = periodSec * 1_000;
  await using daemon = await startFleetDaemon(
    {
      endpoints,
      chains: endpoints / ENDPOINTS_A_CHAIN,
      origin: upstream.http,
      schedule: `*/${periodSec} * * * * *`,
      concurrency: CONCURRENCY,
    },
    join(import.meta.dirname, "loop-delay.mjs"),
  );
  await untilPhase(periodMs, QUIET);
  const rss = watchRss(daemon);
  await Promise.all([upstream.rounds(periodMs), askLoopDelay(daemon)]);
  const beganMs = performance.now();
  const before = await daemon.process.cpuMs();
  const scrapes: Scrape[] = [];
  for (let period = 0; period < periods; period += 1) {
    await untilPhase(periodMs, SCRAPE);
    scrapes.push(await scrape(daemon));
    await untilPhase(periodMs, QUIET);
  }
  const tookSec = (performance.now() - beganMs) / 1_000;
  const cpuMs = ((await daemon.process.cpuMs()) - before) / tookSec;
  const [rounds, delay] = await Promise.all([upstream.rounds(periodMs), askLoopDelay(daemon)]);
  return { ...size, startMs: daemon.startMs, rssMb: rss.highest(), cpuMs, scrapes, rounds, delay };
}

/** Since it was asked before, in milliseconds. */
async function askLoopDelay({ process }: FleetDaemon): Promise<LoopDelay> {
  return delaySchema.parse(await askModule(process));
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
  }, 1_000);
  return {
    highest() {
      clearInterval(timer);
      return highest;
    },
  };
}

function goalFigures(measured: Measured): readonly Figure[] {
  const { endpoints, periodSec, periods, rssMb, rounds, delay } = measured;
  const place = {
    table: `Every ${periodSec} s, for ${periods * periodSec} s`,
    row: sizeName(endpoints),
  };
  const { cpuShare, latenessMs, delayMs } = GOALS;
  return [
    { ...place, column: "CPU, % of a core", value: pollingMs(measured) / 10, atMost: cpuShare },
    { ...place, column: "with scrapes, %", value: measured.cpuMs / 10 },
    { ...place, column: "RSS, MB", value: rssMb, atMost: GOALS.rssMb },
    {
      ...place,
      column: "first request, ms",
      value: Math.max(...rounds.map(({ firstMs }) => firstMs)),
      atMost: latenessMs,
    },
    {
      ...place,
      column: "last request, ms",
      value: percentile(
        rounds.map(({ lastMs }) => lastMs),
        0.5,
      ),
    },
    { ...place, column: "loop delay p99, ms", value: delay.p99, atMost: delayMs },
    { ...place, column: "longest, ms", value: delay.longest },
  ];
}

function growthFigures(bySize: readonly Measured[]): readonly Figure[] {
  const figures = bySize.flatMap((measured) => {
    const place = { table: "By size", row: sizeName(measured.endpoints) };
    return [
      { ...place, column: "CPU of a poll, µs", value: perPollUs(measured) },
      { ...place, column: "RSS, MB", value: measured.rssMb },
      { ...place, column: "scrape, ms", value: scrapeMs(measured) },
      { ...place, column: "scrape, MB", value: (measured.scrapes[0]?.bytes ?? 0) / 1e6 },
      { ...place, column: "start, s", value: measured.startMs / 1_000 },
    ];
  });
  return [...figures, ...bySize.slice(1).flatMap((large, index) => exponents(bySize[index], large))];
}

function exponents(small: Measured | undefined, large: Measured): readonly Figure[] {
  if (small === undefined) {
    return [];
  }
  const place = { table: "Growth", row: `${sizeName(small.endpoints)} → ${sizeName(large.endpoints)}` };
  const exponent = (column: string, amount: (measured: Measured) => number): Figure => ({
    ...place,
    column,
    value: Math.log(amount(large) / amount(small)) / Math.log(large.endpoints / small.endpoints),
    atMost: LINEAR,
  });
  return [
    exponent("CPU", (measured) => perPollUs(measured) * measured.endpoints),
    exponent("RSS", ({ rssMb }) => rssMb),
    exponent("scrape", scrapeMs),
    exponent("start", ({ startMs }) => startMs),
  ];
}

/** CPU beside the scrapes, milliseconds a second. */
function pollingMs({ cpuMs, scrapes, periods, periodSec }: Measured): number {
  const scraping = scrapes.reduce((sum, one) => sum + one.cpuMs, 0);
  return cpuMs - scraping / (periods * periodSec);
}

function perPollUs(measured: Measured): number {
  return (pollingMs(measured) * US_IN_MS * measured.periodSec) / measured.endpoints;
}

function scrapeMs({ scrapes }: Measured): number {
  return percentile(
    scrapes.map(({ tookMs }) => tookMs),
    0.5,
  );
}

function sizeName(endpoints: number): string {
  return `${endpoints.toLocaleString("en-US")} endpoints`;
}
