import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Blackbox, startBlackbox } from "./blackbox.ts";
import { burst, untilPhase } from "./bursts.ts";
import { type MeasuredProcess, startMeasured } from "./measured-process.ts";
import type { Figure, Subject } from "./subject.ts";
import { syntheticFleet } from "./synthetic-fleet.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

interface Load {
  readonly endpoints: number;
  /** Between two rounds; a divisor of a minute. */
  readonly periodSec: number;
  /** How much is polled before anything is counted: Node compiles what is hot. */
  readonly warmUpPolls: number;
  readonly rounds: number;
}

type Scheme = "http" | "https";

interface Upstreams {
  readonly synclag: Upstream;
  readonly floor: Upstream;
}

const WHOLE: readonly Load[] = [
  { endpoints: 100, periodSec: 1, warmUpPolls: 700, rounds: 5 },
  { endpoints: 1_000, periodSec: 2, warmUpPolls: 3_000, rounds: 2 },
  { endpoints: 10_000, periodSec: 10, warmUpPolls: 10_000, rounds: 1 },
];
const QUICK: readonly Load[] = [{ endpoints: 400, periodSec: 1, warmUpPolls: 800, rounds: 2 }];

const CONCURRENCY = 16;
const CHAINS = 100;
/** Rounds of Synclag begin with the period, those of the floor at its half; both are over by this share of it. */
const QUIET = 0.9;
const MOST_PROBES = 500;
const WARM_UP_PROBES = 100;
const LOOK_MS = 50;
const US_IN_MS = 1_000;
const FLOOR_GOAL = 1.5;
const BLACKBOX_GOALS = { http: 1 / 8, https: 1 / 15 } as const;

export const subject: Subject = {
  title: "CPU per poll",
  about: `
What one poll costs in CPU time, all threads, user and system, everything included that the daemon does meanwhile: schedule, budget,
request, parsing, judging, metrics, the report of each second, and the state file. A real \`synclag run\` polls an indexer on loopback that answers
at once; 100 endpoints each second, 1,000 every two seconds, 10,000 every ten seconds, 16 at a time. Beside it:

- *Floor*: a Node process that sends the same requests with undici, parses the JSON, and does nothing else, in bursts of the same size at the same rate,
  while Synclag waits for its next round.
- *blackbox_exporter*: Debian's package, with a module that posts the same question and looks for a height with a regular expression, asked for
  up to ${MOST_PROBES} probes, 16 at a time, over connections that are kept. It remembers nothing, so that their number does not matter. It opens a connection for each
  probe, and shakes hands anew where that is TLS; that is most of its cost. It keeps no height, judges nothing, and what Prometheus spends on its answers is not counted.

Endpoints share one host here, and so ${CONCURRENCY} connections; where each has a host of its own, both keep or open one for each. A scrape is not counted on either side:
it has a section of its own.`,

  async measure(extent) {
    await using synclag = await startUpstream();
    await using floor = await startUpstream();
    const figures: Figure[] = [];
    for (const scheme of extent === "quick" ? (["http"] as const) : (["http", "https"] as const)) {
      await using blackbox = await startBlackbox(floor.caFile);
      for (const load of extent === "quick" ? QUICK : WHOLE) {
        const row = { ...load, scheme };
        const pollers = await measurePollers(row, { synclag, floor });
        const perProbe = await measureBlackbox(blackbox, row, floor[scheme]);
        figures.push(...figuresOf(row, { ...pollers, blackbox: perProbe }));
      }
    }
    return figures;
  },
};

/** One size over one scheme. */
interface Row extends Load {
  readonly scheme: Scheme;
}

/** A process that polls an upstream which nobody else asks. */
interface Poller {
  readonly process: MeasuredProcess;
  readonly upstream: Upstream;
}

/** CPU of Synclag and of the floor in the same seconds, microseconds a poll. */
async function measurePollers(
  row: Row,
  upstreams: Upstreams,
): Promise<{ readonly synclag: number; readonly floor: number }> {
  const folder = await mkdtemp(join(tmpdir(), "synclag-poll-"));
  try {
    const config = join(folder, "chains.yaml");
    await writeFile(config, configuration(row, upstreams.synclag));
    await using synclag = startDaemon(config, upstreams.synclag);
    await using floor = startFloor(row, upstreams.floor);
    const pollers = [
      { process: synclag, upstream: upstreams.synclag },
      { process: floor, upstream: upstreams.floor },
    ];
    const [ours = Number.NaN, least = Number.NaN] = await measureRounds(row, pollers);
    return { synclag: ours, floor: least };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function configuration({ endpoints, periodSec, scheme }: Row, upstream: Upstream): string {
  return syntheticFleet({
    endpoints,
    chains: CHAINS,
    origin: upstream[scheme],
    schedule: `*/${periodSec} * * * * *`,
    concurrency: CONCURRENCY,
  });
}

function startDaemon(config: string, { caFile }: Upstream): MeasuredProcess {
  return startMeasured({
    command: process.execPath,
    args: [resolve("dist/main.js"), "run", "--config", config],
    env: { NODE_EXTRA_CA_CERTS: caFile },
  });
}

function startFloor({ endpoints, periodSec, scheme }: Row, upstream: Upstream): MeasuredProcess {
  const script = join(import.meta.dirname, "floor-process.ts");
  const numbers = [endpoints, CONCURRENCY, periodSec * 1_000].map(String);
  return startMeasured({
    command: process.execPath,
    args: ["--import", "tsx", script, upstream[scheme], ...numbers],
    env: { NODE_EXTRA_CA_CERTS: upstream.caFile },
  });
}

async function measureRounds(row: Row, pollers: readonly Poller[]): Promise<readonly number[]> {
  const already = await Promise.all(pollers.map(({ upstream }) => upstream.answered()));
  for (const [index, { process, upstream }] of pollers.entries()) {
    const enough = (already[index] ?? 0) + row.warmUpPolls;
    while ((await upstream.answered()) < enough) {
      if (process.hasEnded()) {
        throw new Error(`Cannot measure what has ended: ${process.stderr()}`);
      }
      await sleep(LOOK_MS);
    }
  }
  const periodMs = row.periodSec * 1_000;
  await untilPhase(periodMs, QUIET);
  const before = await Promise.all(pollers.map(countersOf));
  await sleep(periodMs * row.rounds);
  const after = await Promise.all(pollers.map(countersOf));
  return after.map(({ cpuMs, polls }, index) => {
    const since = before[index];
    return since === undefined ? Number.NaN : ((cpuMs - since.cpuMs) * US_IN_MS) / (polls - since.polls);
  });
}

async function countersOf({ process, upstream }: Poller): Promise<{ cpuMs: number; polls: number }> {
  return { cpuMs: await process.cpuMs(), polls: await upstream.answered() };
}

/** Microseconds of CPU a probe. */
async function measureBlackbox(blackbox: Blackbox, { endpoints }: Row, origin: string): Promise<number> {
  const probe = (index: number) => blackbox.probe(`${origin}/${index}`);
  await burst(WARM_UP_PROBES, CONCURRENCY, probe);
  const before = await blackbox.cpuMs();
  const probes = Math.min(endpoints, MOST_PROBES);
  await burst(probes, CONCURRENCY, probe);
  return (((await blackbox.cpuMs()) - before) * US_IN_MS) / probes;
}

function figuresOf(
  { endpoints, scheme }: Row,
  {
    synclag,
    floor,
    blackbox,
  }: { readonly synclag: number; readonly floor: number; readonly blackbox: number },
): readonly Figure[] {
  const name = { http: "HTTP", https: "TLS" }[scheme];
  const place = { table: "CPU", row: `${endpoints.toLocaleString("en-US")} endpoints, ${name}` };
  return [
    { ...place, column: "Synclag, µs", value: synclag },
    { ...place, column: "floor, µs", value: floor },
    { ...place, column: "blackbox_exporter, µs", value: blackbox },
    { ...place, column: "Synclag ÷ floor", value: synclag / floor, atMost: FLOOR_GOAL },
    {
      ...place,
      column: "Synclag ÷ blackbox_exporter",
      value: synclag / blackbox,
      atMost: BLACKBOX_GOALS[scheme],
    },
  ];
}
