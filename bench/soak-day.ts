/**
 * Whether memory grows over days: `npx tsx bench/soak-day.ts [HOURS]`, 36 by default. The packaged fleet is polled in
 * simulated time, each target four times a minute, with faults, wobbles and a re-index now and then; scraped and
 * recorded each minute, reloaded with other targets each quarter of an hour. No network: `bench/soak.ts` has that.
 * The past behind the plots reaches back a day, so what matters is the growth after it. Ends with 1 if there was any.
 */
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseConfig } from "../src/config/parse.ts";
import { endpointsOf, type Fleet, type Target } from "../src/core/model/fleet.ts";
import type { Observation } from "../src/core/model/observation.ts";
import { Monitor } from "../src/daemon/monitor.ts";
import { PollCounters } from "../src/daemon/polling/counters.ts";
import { Recorder } from "../src/daemon/recorder.ts";
import { METRIC_FAMILIES } from "../src/metrics/families/all.ts";
import { createPrometheus } from "../src/metrics/registry.ts";
import { SIMULATED_API_KEY } from "../src/sim/fleet/endpoint-spec.ts";
import { createRandom } from "../src/sim/model/random.ts";
import { markdownTable } from "./accuracy/figures.ts";

const ROUND_MS = 15_000;
const HOUR_ROUNDS = 240;
const HEAP_ALLOWANCE_MIB = 3;

setFlagsFromString("--expose-gc");
// The flag adds `gc` to every context that is made from now on.
const collectGarbage = runInNewContext("gc") as () => void;
const hours = Number(process.argv[2] ?? 36);
const random = createRandom("a day");
const startMs = Date.UTC(2026, 0, 1);
let nowMs = startMs;

const { fleet } = parseConfig(readFileSync("chains.yaml", "utf8"), {
  file: "chains.yaml",
  env: { THEGRAPH_API_KEY: SIMULATED_API_KEY },
  readFile: (path) => readFileSync(path, "utf8"),
});
const monitor = new Monitor(fleet, { nowMs: () => nowMs, budgets: () => [] });
const recorder = new Recorder();
const tally = new PollCounters();
tally.watch(fleet);
const prometheus = createPrometheus({
  families: METRIC_FAMILIES,
  build: { version: "soak", revision: "soak", nodeVersion: process.version },
});

const rows: { readonly hour: number; readonly heapMiB: number; readonly series: number }[] = [];
for (let round = 1; round <= hours * HOUR_ROUNDS; round += 1) {
  nowMs += ROUND_MS;
  const watched = churned(round);
  monitor.observe(targetsOf(watched).flatMap((target, index) => observationsOf(target, index, round)));
  if (round % 4 === 0) {
    record();
    await scrape();
  }
  if (round % 60 === 0) {
    reload(churned(round + 1));
  }
  if (round % (2 * HOUR_ROUNDS) === 0) {
    rows.push(await sample(round / HOUR_ROUNDS));
  }
}

const heapAt = (hour: number): number => rows.find((row) => row.hour === hour)?.heapMiB ?? Number.NaN;
const growth = heapAt(hours) - heapAt(Math.min(24, hours - 2));
const verdict =
  growth <= HEAP_ALLOWANCE_MIB ? "Nothing grew after the first day" : "Grew after the first day";
process.stdout.write(
  `# ${hours} simulated hours of ${targetsOf(fleet).length} targets\n\n${markdownTable(rows)}\n\n${verdict}: ${growth.toFixed(1)} MiB.\n`,
);
process.exitCode = growth <= HEAP_ALLOWANCE_MIB ? 0 : 1;

/** Every other quarter of an hour a third of the indexers is gone. */
function churned(round: number): Fleet {
  const number = Math.floor((round - 1) / 60);
  return {
    ...fleet,
    indexers: fleet.indexers.filter((_, index) => number % 2 === 0 || (index + number) % 3 !== 0),
  };
}

function reload(next: Fleet): void {
  monitor.watch(next);
  tally.watch(next);
  prometheus.retain(next.indexers);
}

async function scrape(): Promise<string> {
  const source = {
    report: monitor.report(),
    endpoints: tally.endpoints(),
    indexers: tally.indexers(),
    loop: { lastTickMs: nowMs, inFlight: 0, queued: 0 },
    reload: { successful: true, lastSuccessMs: startMs },
  };
  return await text(prometheus.render(source));
}

async function sample(hour: number) {
  reload(fleet);
  const lines = (await scrape()).split("\n");
  collectGarbage();
  return {
    hour,
    heapMiB: Math.round((process.memoryUsage().heapUsed / 2 ** 20) * 10) / 10,
    series: lines.filter((line) => line.startsWith("synclag_")).length,
  };
}

function record(): void {
  const report = monitor.report();
  recorder.retain(report);
  for (const chain of report.chains) {
    recorder.record(chain, nowMs);
  }
}

function targetsOf(watched: Fleet): readonly Target[] {
  return endpointsOf(watched).flatMap((endpoint) => endpoint.targets);
}

/** A head that goes on, a small wobble, now and then a failure, a new deployment, or a step far back. */
function observationsOf({ key, chainId }: Target, index: number, round: number): readonly Observation[] {
  const times = { source: key, sentAtMs: nowMs - 200, receivedAtMs: nowMs - 100 };
  const luck = random();
  if (luck < 0.02) {
    return [{ ...times, kind: "failed", reason: "timeout", detail: `no answer ${round}` }];
  }
  const isBackFilling = (round + index * 97) % 4_000 < 20;
  const block = 10_000_000 + chainId + round * 7 - Math.floor(random() * 3) - (isBackFilling ? 1_000_000 : 0);
  const deployment = `Qm${"a".repeat(40)}${String(Math.floor(round / 1_000)).padStart(4, "b")}`;
  const timestampSec = Math.floor(nowMs / 1_000) - (isBackFilling ? 2_000_000 : 2);
  const head = { block, timestampSec, hash: `0x${round}`, deployment, indexingErrors: false };
  return [{ ...times, kind: "head", head }];
}
