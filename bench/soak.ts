/**
 * Whether anything grows that should not: `npx tsx bench/soak.ts [MINUTES]`, 3 by default. The whole daemon on the
 * packaged fleet, played on loopback with faults, each endpoint polled once a second: a minute is worth a quarter of
 * an hour at the usual 15 s, 96 minutes a day. Meanwhile it is scraped, looked at, and reloaded every five seconds
 * with other targets. Ends with 1 if anything grew. The report goes to stdout; one run's is in bench/soak.md.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pino } from "pino";
import { startApp } from "../src/app.ts";
import type { Config } from "../src/config/config.ts";
import { parseConfig } from "../src/config/parse.ts";
import { accelerate, paceAtSpeed } from "../src/sim/fleet/accelerate.ts";
import { SIMULATED_API_KEY } from "../src/sim/fleet/endpoint-spec.ts";
import { mirrorFleet } from "../src/sim/fleet/mirror-fleet.ts";
import { playScenario } from "../src/sim/scenarios/play-scenario.ts";
import { findScenario } from "../src/sim/scenarios/registry.ts";
import { markdownTable } from "./accuracy/figures.ts";

const SPEED = 60;
const RELOAD_MS = 5_000;
const SAMPLES = 30;
/** What is allowed to grow: caches warm up, and the bounded history fills during the first day. */
const HEAP_ALLOWANCE_MIB = 24;
const COUNT_ALLOWANCE = 1.15;

interface Sample {
  readonly second: number;
  readonly heapMiB: number;
  readonly rssMiB: number;
  readonly timers: number;
  readonly sockets: number;
  readonly otherHandles: number;
  readonly series: number;
  readonly polls: number;
}

setFlagsFromString("--expose-gc");
// The flag adds `gc` to every context that is made from now on.
const collectGarbage = runInNewContext("gc") as () => void;

const minutes = Number(process.argv[2] ?? 3);
const real = parseConfig(readFileSync("chains.yaml", "utf8"), {
  file: "chains.yaml",
  env: { THEGRAPH_API_KEY: SIMULATED_API_KEY },
  readFile: (path) => readFileSync(path, "utf8"),
});
const played = await mirrorFleet(
  accelerate({ ...real, listen: { host: "127.0.0.1", port: 0 } }, paceAtSpeed(SPEED)),
  Date.now,
);
await using _fleet = played.fleet;
let generation = 0;
const folder = mkdtempSync(join(tmpdir(), "synclag-soak-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
await using app = await startApp(played.config, {
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  random: Math.random,
  logger: pino({ level: "silent" }),
  loadConfig: () => churned(played.config, generation),
  onBug: (error) => {
    throw error;
  },
  build: { version: "soak", revision: "soak", nodeVersion: process.version },
  isLifecycleEnabled: false,
  stateFile: join(folder, "synclag.state.json"),
});
const tour = findScenario("tour");
if (tour === null) {
  throw new Error("Cannot find scenario tour: it is what demo plays");
}
await using _scenario = playScenario(played.fleet, tour, {
  speed: 10,
  onStep: () => undefined,
  onBug: (error) => {
    throw error;
  },
});

const samples = await soak();
process.stdout.write(report(samples));
process.exitCode = growths(samples).length === 0 ? 0 : 1;

async function soak(): Promise<readonly Sample[]> {
  const startedMs = performance.now();
  const stepMs = (minutes * 60_000) / SAMPLES;
  const taken: Sample[] = [];
  while (taken.length < SAMPLES) {
    const untilMs = startedMs + (taken.length + 1) * stepMs;
    while (performance.now() < untilMs) {
      await Promise.all(["/metrics", "/", "/chains/base", "/api/v1/status"].map(visit));
      generation += 1;
      await app.reload();
      await sleep(Math.max(0, Math.min(RELOAD_MS, untilMs - performance.now())));
    }
    taken.push(await sample((performance.now() - startedMs) / 1_000));
  }
  return taken;
}

/** All is there in every second generation, so that series can be compared; else every third indexer is gone. */
function churned(config: Config, number: number): Config {
  const indexers = config.fleet.indexers.filter((_, index) => number % 2 === 0 || (index + number) % 3 !== 0);
  return { ...config, fleet: { ...config.fleet, indexers } };
}

async function sample(second: number): Promise<Sample> {
  generation += generation % 2;
  await app.reload();
  await sleep(1_500);
  const lines = (await visit("/metrics")).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const polls = lines.filter((line) => line.startsWith("synclag_polls_total"));
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo();
  const count = (kind: RegExp): number => handles.filter((handle) => kind.test(handle)).length;
  return {
    second: Math.round(second),
    heapMiB: Math.round((heapUsed / 2 ** 20) * 10) / 10,
    rssMiB: Math.round(rss / 2 ** 20),
    timers: count(/^Timeout|^Immediate/),
    sockets: count(/^TCPSocketWrap/),
    otherHandles: count(/^(?!Timeout|Immediate|TCPSocketWrap)/),
    series: lines.filter((line) => !line.startsWith("synclag_poll_duration_seconds")).length,
    polls: polls.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0),
  };
}

async function visit(path: string): Promise<string> {
  return await (await fetch(app.url + path)).text();
}

/** What of the last third lies beyond what it may have of the first. */
function growths(all: readonly Sample[]): readonly string[] {
  const third = Math.floor(all.length / 3);
  const medianOf = (part: readonly Sample[], key: keyof Sample): number =>
    part.map((one) => one[key]).toSorted((a, b) => a - b)[Math.floor(part.length / 2)] ?? Number.NaN;
  const grew = (key: keyof Sample, allowed: (first: number) => number): readonly string[] => {
    const first = medianOf(all.slice(0, third), key);
    const last = medianOf(all.slice(-third), key);
    return last <= allowed(first) ? [] : [`${key}: ${first} → ${last}`];
  };
  return [
    ...grew("heapMiB", (first) => first + HEAP_ALLOWANCE_MIB),
    ...(["timers", "sockets", "otherHandles", "series"] as const).flatMap((key) =>
      grew(key, (first) => first * COUNT_ALLOWANCE + 10),
    ),
  ];
}

function report(all: readonly Sample[]): string {
  const found = growths(all);
  const verdict = found.length === 0 ? "Nothing grew." : `Grew: ${found.join("; ")}`;
  const rows = all.filter((_, index) => index % 3 === 0 || index === all.length - 1);
  return `# Soak: ${minutes} minutes at one poll a second, ${generation} reloads\n\n${markdownTable(rows.map((row) => ({ ...row })))}\n\n${verdict}\n`;
}
