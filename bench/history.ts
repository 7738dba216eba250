/**
 * What the past behind the plots takes of memory once it is full, after a day: `npx tsx bench/history.ts [TARGETS]`, 1,000
 * by default, ten a chain, in simulated time. Heights grow as those of a chain of 2 s do, seen each 15 s; lags and gaps wobble.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseConfig } from "../src/config/parse.ts";
import type { ChainReport } from "../src/core/model/report.ts";
import { Monitor } from "../src/daemon/monitor.ts";
import { Recorder } from "../src/daemon/recorder.ts";
import { createRandom } from "../src/sim/model/random.ts";
import { syntheticFleet } from "./performance/synthetic-fleet.ts";

const STEP_MS = 15_000;
/** A full page more than a day, which is what is kept. */
const STEPS = 25 * 240;
const BLOCKS_A_STEP = 7.5;

setFlagsFromString("--expose-gc");
// The flag adds `gc` to every context that is made from now on.
const collectGarbage = runInNewContext("gc") as () => void;

const targets = Number(process.argv[2] ?? 1_000);
const spec = { endpoints: targets, chains: targets / 10, origin: "http://127.0.0.1", concurrency: 1 };
const { fleet } = parseConfig(syntheticFleet({ ...spec, schedule: "*/15 * * * * *" }), {
  file: "chains.yaml",
  env: {},
  readFile: () => "",
});
let nowMs = Date.UTC(2026, 10, 20);
const report = new Monitor(fleet, { nowMs: () => nowMs, budgets: () => [] }).report();
const random = createRandom("history");
const recorder = new Recorder();
const before = heapUsed();
for (let step = 1; step <= STEPS; step += 1) {
  nowMs += STEP_MS;
  for (const chain of report.chains) {
    recorder.record(atStep(chain, step), nowMs);
  }
}
const bytes = heapUsed() - before;
const saved = [...recorder.save()].reduce((sum, history) => sum + JSON.stringify(history).length, 0);
console.log(
  `${targets} targets: ${megabytes(bytes)} in memory, ${megabytes(saved)} on disk; a target ${kilobytes(bytes)} and ${kilobytes(saved)}`,
);

function atStep(chain: ChainReport, step: number): ChainReport {
  const head = 20_000_000 + Math.floor(step * BLOCKS_A_STEP);
  const told = chain.targets.map((target) => {
    const behind = wobble(5);
    return { ...target, block: head - behind, lagMs: behind * 2_000 };
  });
  const gaps = told.slice(1).map(({ target }) => {
    return { target, against: "", blocks: wobble(5), seconds: 0, uncertaintyBlocks: 0.75 };
  });
  return { ...chain, reference: { block: head, sources: 10, timeMs: nowMs }, targets: told, gaps };
}

function wobble(most: number): number {
  return Math.floor(random() * most);
}

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function megabytes(count: number): string {
  return `${(count / 1e6).toFixed(1)} MB`;
}

function kilobytes(count: number): string {
  return `${(count / 1e3 / targets).toFixed(1)} kB`;
}
