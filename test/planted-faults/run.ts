import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { groupBy } from "../../src/core/model/group-by.ts";
import { faultsOf, type PlantedFault } from "./faults.ts";

/*
 * Plants small mistakes in the code, one at a time, and counts those that the unit tests notice:
 *
 *   npm run test:mutation -- [--count 300] [--seed 1] [--tests PART] [FILE|FOLDER of src ...]
 *
 * `--count`: how many, drawn evenly from all; `--seed`: which ones; `--tests`: only test files whose path contains PART.
 */

/** Tests that take longer count as never ending. */
const LONGEST_PLAY_MS = 600_000;
/** The golden ratio: the fractions of its multiples are spread evenly from 0 to 1. */
const GOLDEN_RATIO = 0.618_034;
const FOLDERS = ["src/core", "src/budgets", "src/dialects", "src/daemon"];
const PLAYERS = 2;

interface Outcome {
  readonly fault: PlantedFault;
  readonly noticed: boolean;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    tests: { type: "string", multiple: true, default: [] },
  },
});
const all = (positionals.length > 0 ? positionals : FOLDERS).flatMap(filesIn).flatMap(faultsOf);
const faults = draw(Number(values.count), Number(values.seed));
print(`${faults.length} of ${all.length} faults are planted`);
const [first] = faults;
if (first === undefined || (await isNoticed({ ...first, end: first.start, replacement: "" }))) {
  throw new Error("Cannot plant faults: there are none, or a test fails without one");
}
const queue = [...faults];
const outcomes: Outcome[] = [];
await Promise.all(Array.from({ length: PLAYERS }, playAll));
summarize();

function filesIn(path: string): readonly string[] {
  return path.endsWith(".ts")
    ? [path]
    : readdirSync(path, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .toSorted()
        .map((name) => join(path, name));
}

/** Every nth fault, so that each file has its share. The seed chooses the first. */
function draw(count: number, seed: number): readonly PlantedFault[] {
  const step = Math.max(1, all.length / count);
  const offset = (seed * GOLDEN_RATIO) % 1;
  return Array.from({ length: Math.min(count, all.length) }, (_, n) =>
    Math.floor((n + offset) * step),
  ).flatMap((place) => all[place] ?? []);
}

/** Plays faults of the queue until it is empty. */
async function playAll(): Promise<void> {
  for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
    const noticed = await isNoticed(fault);
    outcomes.push({ fault, noticed });
    if (!noticed) {
      print(`${outcomes.length}/${faults.length}  NOT NOTICED  ${fault.title}`);
    }
  }
}

/** Whether a test fails, or never ends. Then its worker does not notice that its parent is gone. */
async function isNoticed(fault: PlantedFault): Promise<boolean> {
  const player = fork(new URL("player.ts", import.meta.url), [JSON.stringify(fault), ...values.tests], {
    execArgv: ["--import", "tsx"],
    detached: true,
    stdio: "ignore",
  });
  const signal = AbortSignal.timeout(LONGEST_PLAY_MS);
  const [code] = await once(player, "exit", { signal }).catch(() => [null]);
  if (code === null && player.pid !== undefined) {
    process.kill(-player.pid, "SIGKILL");
  }
  return code !== 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function summarize(): void {
  const folders = groupBy(outcomes, ({ fault }) => dirname(fault.file));
  const noticedIn = (of: readonly Outcome[]) => of.filter(({ noticed }) => noticed).length;
  for (const [folder, own] of [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    print(`${folder.padEnd(30)} ${noticedIn(own)} of ${own.length}`);
  }
  const share = ((100 * noticedIn(outcomes)) / outcomes.length).toFixed(1);
  print(`\n${noticedIn(outcomes)} of ${outcomes.length} planted faults are noticed: ${share} %`);
}
