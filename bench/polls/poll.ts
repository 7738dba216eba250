import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Figure, Subject } from "../performance/subject.ts";
import { graphModule, measureProbes, startBlackbox } from "../programs/blackbox.ts";
import { untilPhase } from "../programs/bursts.ts";
import { type MeasuredProcess, startMeasured } from "../programs/measured-process.ts";
import { synclagArgs } from "../programs/synclag-args.ts";
import { syntheticFleet } from "../programs/synthetic-fleet.ts";
import { startUpstream, type Upstream } from "../programs/upstream.ts";

interface Load {
  readonly endpoints: number;
  /** Between two rounds; a divisor of a minute. */
  readonly periodSec: number;
  /** Not measured: a reload leaves a fleet behind, which is collected meanwhile. */
  readonly roundsBefore: number;
  readonly rounds: number;
}

type Scheme = "http" | "https";

/** One size over one scheme. */
interface Row extends Load {
  readonly scheme: Scheme;
}

/** A process that polls an upstream which nobody else asks. */
interface Poller {
  readonly process: MeasuredProcess;
  readonly upstream: Upstream;
}

/**
 * Node compiles what is hot, and anew where something is no longer as it was: after a reload, and once the pace of the
 * chains is known, in the second minute. A daemon runs for weeks, so all that is before anything is counted.
 */
const WARM_UP: readonly [Row, ...Row[]] = [
  { endpoints: 1_000, periodSec: 1, roundsBefore: 25, rounds: 0, scheme: "http" },
  { endpoints: 500, periodSec: 1, roundsBefore: 10, rounds: 0, scheme: "https" },
];
const THOUSAND: Load = { endpoints: 1_000, periodSec: 2, roundsBefore: 3, rounds: 4 };
const WHOLE: readonly Row[] = [
  { ...THOUSAND, scheme: "http" },
  { endpoints: 10_000, periodSec: 10, roundsBefore: 1, rounds: 2, scheme: "http" },
  { ...THOUSAND, scheme: "https" },
];
const QUICK_WARM_UP: readonly [Row] = [
  { endpoints: 1_000, periodSec: 1, roundsBefore: 2, rounds: 0, scheme: "http" },
];
const QUICK: readonly Row[] = [
  { endpoints: 1_000, periodSec: 1, roundsBefore: 2, rounds: 2, scheme: "http" },
];

const CONCURRENCY = 16;
const CHAINS = 100;
/** Rounds of Synclag begin with the period, those of the floor at its half; both are over by this share of it. */
const QUIET = 0.9;
const LOOK_MS = 50;
const US_IN_MS = 1_000;
const FLOOR_GOAL = 1.5;
const BLACKBOX_GOALS = { http: 1 / 8, https: 1 / 15 } as const;

export const subject: Subject = {
  title: "CPU per poll",
  about: `
CPU time of one poll, all threads, user and system, including everything the daemon does meanwhile: scheduling, request, parsing,
evaluation, counters, one report a second, and the state file. A real \`synclag run\` polls an indexer on loopback that replies immediately: 1,000
endpoints every two seconds and 10,000 every ten, ${CONCURRENCY} at a time, over ${CHAINS} chains. It is warmed up for more than half a
minute, reloaded for each row, and measured for at least 8 s. It is compared with:

- *Floor*: a Node process that sends the same requests with undici, parses the JSON, and does nothing else, in bursts of the same size and rate.
- *blackbox_exporter*: Debian's package, with a module that posts the same query and matches a height with a regular expression, asked for
  the same number of probes at the same rate. It opens a connection for each probe, which is most of its cost. It keeps no state, and the cost of Prometheus
  storing its results is not included.

Limits of these figures: with fewer polls a second, each one's share of the fixed work per second is larger ([the packaged fleet](#the-packaged-fleet-for-an-hour)). After a reload
Node compiles changed code again. All endpoints share one host. None has a budget: writing budget use to disk
is not included. No scrapes are included.`,

  async measure(extent) {
    await using synclag = await startUpstream();
    await using floor = await startUpstream();
    await using blackbox = await startBlackbox(graphModule(floor.caFile));
    const [first, ...others] = extent === "quick" ? QUICK_WARM_UP : WARM_UP;
    await using daemon = await startDaemon(first, synclag);
    for (const row of others) {
      await daemon.reload(row);
    }
    const figures: Figure[] = [];
    for (const row of extent === "quick" ? QUICK : WHOLE) {
      const pollers = await measurePollers(row, daemon, { synclag, floor });
      const probes = { ...row, rounds: row.rounds / 2, concurrency: CONCURRENCY };
      const perProbe = await measureProbes(blackbox, floor[row.scheme], probes);
      figures.push(...figuresOf(row, { ...pollers, blackbox: perProbe }));
    }
    return figures;
  },
};

interface Daemon extends AsyncDisposable {
  readonly process: MeasuredProcess;
  /** Has it poll another fleet from now on, and waits for what is not measured of that. */
  readonly reload: (row: Row) => Promise<void>;
}

async function startDaemon(warmUp: Row, upstream: Upstream): Promise<Daemon> {
  const folder = await mkdtemp(join(tmpdir(), "synclag-poll-"));
  const config = join(folder, "chains.yaml");
  const write = (row: Row) => writeFile(config, configuration(row, upstream));
  await write(warmUp);
  const daemon = startMeasured({
    command: process.execPath,
    args: synclagArgs(["run", "--config", config]),
    env: { NODE_EXTRA_CA_CERTS: upstream.caFile },
  });
  const untilReady = (row: Row) =>
    untilPolled({ process: daemon, upstream }, row.roundsBefore * row.endpoints);
  await untilReady(warmUp);
  return {
    process: daemon,
    async reload(row) {
      await write(row);
      process.kill(daemon.pid, "SIGHUP");
      await untilReady(row);
    },
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
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

function startFloor({ endpoints, periodSec, scheme }: Row, upstream: Upstream): MeasuredProcess {
  const script = join(import.meta.dirname, "floor-process.ts");
  const numbers = [endpoints, CONCURRENCY, periodSec * 1_000].map(String);
  return startMeasured({
    command: process.execPath,
    args: ["--import", "tsx", script, upstream[scheme], ...numbers],
    env: { NODE_EXTRA_CA_CERTS: upstream.caFile },
  });
}

/** CPU of Synclag and of the floor in the same seconds, microseconds a poll. */
async function measurePollers(
  row: Row,
  daemon: Daemon,
  upstreams: { readonly synclag: Upstream; readonly floor: Upstream },
): Promise<{ readonly synclag: number; readonly floor: number }> {
  await using bare = startFloor(row, upstreams.floor);
  const pollers = [
    { process: daemon.process, upstream: upstreams.synclag },
    { process: bare, upstream: upstreams.floor },
  ];
  const polls = row.roundsBefore * row.endpoints;
  await Promise.all([daemon.reload(row), untilPolled({ process: bare, upstream: upstreams.floor }, polls)]);
  const periodMs = row.periodSec * 1_000;
  await untilPhase(periodMs, QUIET);
  const before = await Promise.all(pollers.map(countersOf));
  await sleep(periodMs * row.rounds);
  const after = await Promise.all(pollers.map(countersOf));
  const [synclag = Number.NaN, floor = Number.NaN] = after.map(({ cpuMs, polls }, index) => {
    const since = before[index] ?? { cpuMs: Number.NaN, polls: 0 };
    return ((cpuMs - since.cpuMs) * US_IN_MS) / (polls - since.polls);
  });
  return { synclag, floor };
}

async function untilPolled({ process, upstream }: Poller, polls: number): Promise<void> {
  const enough = (await upstream.answered()) + polls;
  while ((await upstream.answered()) < enough) {
    if (process.hasEnded()) {
      throw new Error(`Cannot measure what has ended: ${process.stderr()}`);
    }
    await sleep(LOOK_MS);
  }
}

async function countersOf({ process, upstream }: Poller): Promise<{ cpuMs: number; polls: number }> {
  return { cpuMs: await process.cpuMs(), polls: await upstream.answered() };
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
