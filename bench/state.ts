/** How big the state file gets, and what writing and reading it takes: `npx tsx bench/state.ts`. */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import { Budgets } from "../src/budgets/budgets.ts";
import { createSteadyClock } from "../src/budgets/steady-clock.ts";
import type { Chain, Endpoint, Fleet } from "../src/core/model/fleet.ts";
import type { Observation } from "../src/core/model/observation.ts";
import { Monitor } from "../src/daemon/monitor.ts";
import { DialectCache } from "../src/daemon/polling/dialect-cache.ts";
import { parseState } from "../src/daemon/state/restored-state.ts";
import { takeSnapshot } from "../src/daemon/state/snapshot.ts";
import { readStateFile, writeStateFile } from "../src/io/state/file.ts";
import { readBudgetJournal, writeBudgetJournal } from "../src/io/state/journal.ts";

const T0 = Date.UTC(2026, 10, 20);
const HOUR_MS = 3_600_000;
const STEP_MS = 15_000;
/** Fills the chain clock of each chain, which holds 240 points. */
const CLOCK_ROUNDS = 300;
/** Fills what is kept of each target. */
const TARGET_ROUNDS = 20;
const TIMES = 7;
/** So many endpoints draw at once. */
const WAVE = 16;

const SIZES = [
  { targets: 60, chains: 30 },
  { targets: 1_000, chains: 100 },
  { targets: 10_000, chains: 300 },
];

const folder = await mkdtemp(join(tmpdir(), "synclag-bench-"));
try {
  console.log("Medians of seven; each target has an endpoint and a budget of its own, 24 hours old.\n");
  for (const size of SIZES) {
    await measure(size, join(folder, `${size.targets}.json`));
  }
} finally {
  await rm(folder, { recursive: true });
}

async function measure(
  size: { readonly targets: number; readonly chains: number },
  path: string,
): Promise<void> {
  const fleet = fleetOf(size);
  const daemon = liveADay(fleet);
  const keepsake = takeSnapshot(daemon);
  const blocked = createHistogram();
  const write = await median(async () => {
    const stop = watchLoop(blocked);
    const { state, onWritten } = keepsake.all();
    await writeStateFile(path, state);
    onWritten();
    stop();
  });
  const endpoints = fleet.indexers.flatMap((indexer) => indexer.endpoints);
  const draw = await median(async () => {
    for (const endpoint of endpoints.slice(0, WAVE)) {
      daemon.budgets.tryTake(endpoint, "poll", daemon.clock.nowMs());
    }
    await writeBudgetJournal(path, keepsake.drawn());
  });
  const read = await median(async () => {
    const found = await readStateFile(path, T0);
    await readBudgetJournal(path);
    return found.kind === "state" ? parseState(found.state, found.state.savedAtMs) : null;
  });
  const [state, journal] = [(await stat(path)).size, (await stat(`${path}.budgets`)).size];
  console.log(
    `${size.targets} targets on ${size.chains} chains: state ${kilobytes(state)}, written in ${ms(write)} that block ${ms(blocked.max / 1e6)} at most, read in ${ms(read)}; ` +
      `a wave of ${WAVE} draws: ${kilobytes(journal)}, recorded in ${ms(draw)}`,
  );
}

/** A daemon's memory after a day in which every budget was drawn on. */
function liveADay(fleet: Fleet) {
  let nowMs = T0;
  const monitor = new Monitor(fleet, { nowMs: () => nowMs, budgets: () => [] });
  const budgets = new Budgets(fleet);
  const memory = new DialectCache();
  const endpoints = fleet.indexers.flatMap((indexer) => indexer.endpoints);
  const first = endpoints.slice(0, 2 * fleet.chains.length);
  for (let round = 0; round < CLOCK_ROUNDS; round += 1) {
    nowMs += STEP_MS;
    const polled = round < CLOCK_ROUNDS - TARGET_ROUNDS ? first : endpoints;
    for (const endpoint of polled) {
      monitor.observe(observe(endpoint, nowMs));
    }
  }
  for (const endpoint of endpoints) {
    memory.note(endpoint, 1);
    for (let hour = 0; hour < 24; hour += 1) {
      budgets.tryTake(endpoint, "poll", nowMs - hour * HOUR_MS);
    }
  }
  const clock = createSteadyClock({ nowMs: () => nowMs, monotonicMs: () => nowMs });
  return { monitor, endpoints: memory, budgets, clock, nowMs: () => nowMs };
}

function observe({ targets }: Endpoint, nowMs: number): readonly Observation[] {
  return targets.map(({ key }, index) => ({
    kind: "head",
    source: key,
    sentAtMs: nowMs - 180 - index,
    receivedAtMs: nowMs,
    head: {
      block: 20_000_000 + Math.floor((nowMs - T0) / 2_000 + 3 * Math.sin(nowMs)),
      timestampSec: Math.floor(nowMs / 1_000) - 2,
      hash: `0x${"ab".repeat(32)}`,
      deployment: "QmZfMYd7SgCLQqrA6hVfvJLbrmVQPVN8bUBJ9WEJbzWzEa",
      indexingErrors: false,
    },
  }));
}

function fleetOf(size: { readonly targets: number; readonly chains: number }): Fleet {
  const chains = Array.from({ length: size.chains }, (_, index) => chainOf(index));
  const endpoints = Array.from({ length: size.targets }, (_, index) => {
    const chain = chains[index % chains.length];
    return endpointOf(chain?.slug ?? "", `variant-${Math.floor(index / chains.length)}`);
  });
  return {
    chains,
    indexers: endpoints.map((endpoint) => ({ ...endpoint, endpoints: [endpoint] })),
    rpcEndpoints: [],
    budgets: [{ name: "studio", limit: 3_000, per: "day", scope: "endpoint" }],
    skipped: [],
  };
}

function chainOf(index: number): Chain {
  const thresholds = { laggingMs: 600_000, criticalMs: 1_800_000, stalledMs: 600_000, staleMs: 300_000 };
  return {
    slug: `chain-${index}`,
    id: index + 1,
    name: `Chain ${index}`,
    blockTimeMs: 2_000,
    testnet: false,
    thresholds,
  };
}

function endpointOf(chain: string, variant: string): Endpoint {
  const parts = { protocol: "airdrops", variant, tier: "production" };
  const key = `airdrops/${variant}/production/${chain}`;
  return {
    ...parts,
    key,
    kind: "indexer",
    name: chain,
    url: `https://api.example.com/${key}`,
    host: "api.example.com",
    headers: {},
    dialect: "graph",
    schedule: "0 * * * * *",
    pollIntervalMs: 60_000,
    budget: "studio",
    targets: [{ ...parts, key, chain, chainId: 1, explorer: null, playground: null, pollIntervalMs: 60_000 }],
    chain,
  };
}

async function median(run: () => unknown): Promise<number> {
  const took: number[] = [];
  for (let time = 0; time < TIMES; time += 1) {
    const startMs = performance.now();
    await run();
    took.push(performance.now() - startMs);
  }
  return took.sort((a, b) => a - b)[Math.floor(TIMES / 2)] ?? 0;
}

/** Notes how long the event loop does not turn. */
function watchLoop(histogram: RecordableHistogram): () => void {
  let isRunning = true;
  let lastMs = performance.now();
  const turn = (): void => {
    const nowMs = performance.now();
    histogram.record(Math.max(1, Math.round((nowMs - lastMs) * 1e6)));
    lastMs = nowMs;
    if (isRunning) {
      setImmediate(turn);
    }
  };
  setImmediate(turn);
  return () => {
    isRunning = false;
  };
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1_000).toLocaleString("en-US")} kB`;
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}
