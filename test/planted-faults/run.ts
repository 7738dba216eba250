import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { faultsOf, type PlantedFault } from "./faults.ts";
import type { PlayedTests, PlayerMessage } from "./player.ts";

/*
 * Plants small mistakes in the code, one at a time, and counts those that the unit tests notice: `npm run test:mutation -- --help`.
 */

const HELP = `Usage: npm run test:mutation -- [options] [FILE|FOLDER of src ...]

Plants faults in the code, one at a time, runs the unit tests that load it, and lists the faults that no test notices.
Without a file or folder: src/core src/budgets src/dialects src/daemon.

  --count N      how many faults, drawn evenly from all of them (default 300)
  --seed N       which ones (default 1)
  --tests PART   only test files whose path contains PART (repeatable)
  --without PART no test files whose path contains PART (repeatable)
  --workers N    processes side by side (default 2)
`;

/** A run of all tests takes far less on a quiet machine; two players begin with one. */
const LONGEST_START_MS = 1_200_000;
/** A fault that takes longer never ends. */
const LONGEST_PLAY_MS = 300_000;
/** Its multiples are spread evenly between whole numbers. */
const GOLDEN_RATIO = 0.618_034;
const FOLDERS = ["src/core", "src/budgets", "src/dialects", "src/daemon"];

interface Outcome {
  readonly fault: PlantedFault;
  /** Test file, or what else noticed the fault; null if nothing did. */
  readonly noticedBy: string | null;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    tests: { type: "string", multiple: true, default: [] },
    without: { type: "string", multiple: true, default: [] },
    workers: { type: "string", default: "2" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  process.stdout.write(HELP);
} else {
  await run();
}

async function run(): Promise<void> {
  const all = (positionals.length > 0 ? positionals : FOLDERS).flatMap(filesIn).flatMap(faultsOf);
  const faults = draw(all, Number(values.count), Number(values.seed));
  process.stdout.write(`${faults.length} of ${all.length} faults are planted\n`);
  const queue = mixed(faults);
  const outcomes: Outcome[] = [];
  process.once("SIGINT", () => {
    summarize(outcomes);
    process.exit(1);
  });
  const tests = { filters: values.tests, without: values.without };
  await Promise.all(
    Array.from({ length: Number(values.workers) }, () =>
      playAll(tests, queue, (outcome) => {
        outcomes.push(outcome);
        process.stdout.write(
          outcome.noticedBy === null
            ? `${outcomes.length}/${faults.length}  NOT NOTICED  ${outcome.fault.title}\n`
            : "",
        );
      }),
    ),
  );
  summarize(outcomes);
}

function filesIn(path: string): readonly string[] {
  const inFolder = (): readonly string[] =>
    readdirSync(path, { recursive: true, encoding: "utf8" }).toSorted();
  return path.endsWith(".ts")
    ? [path]
    : inFolder()
        .filter((name) => name.endsWith(".ts"))
        .map((name) => join(path, name));
}

/** Every nth fault, so that each file has its share. The seed chooses the first. */
function draw(all: readonly PlantedFault[], count: number, seed: number): readonly PlantedFault[] {
  const step = Math.max(1, all.length / count);
  const offset = (seed * GOLDEN_RATIO) % 1;
  return Array.from(
    { length: Math.min(count, all.length) },
    (_, n) => all[Math.floor((n + offset) * step)],
  ).filter((fault) => fault !== undefined);
}

/** In an order in which a run that is interrupted has seen something of everything. */
function mixed(faults: readonly PlantedFault[]): PlantedFault[] {
  const place = (index: number): number => (index * GOLDEN_RATIO) % 1;
  return faults
    .map((fault, index) => ({ fault, place: place(index) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ fault }) => fault);
}

/** Plays faults of the queue until it is empty. A player that does not answer is replaced: its fault is noticed, for tests hang. */
async function playAll(
  tests: PlayedTests,
  queue: PlantedFault[],
  done: (outcome: Outcome) => void,
): Promise<void> {
  let player: ChildProcess | null = null;
  for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
    player ??= await startPlayer(tests);
    player.send(fault);
    const answer = await messageOf(player, LONGEST_PLAY_MS);
    if (answer === null) {
      end(player);
      player = null;
      done({ fault, noticedBy: "no end" });
    } else if (answer.kind === "played") {
      done({ fault, noticedBy: answer.noticedBy });
    }
  }
  end(player);
}

/** Ends a player with its workers: one that runs a fault without an end does not notice that its parent is gone. */
function end(player: ChildProcess | null): void {
  if (player?.pid !== undefined) {
    process.kill(-player.pid, "SIGKILL");
  }
}

async function startPlayer(tests: PlayedTests): Promise<ChildProcess> {
  const player = fork(new URL("player.ts", import.meta.url), [JSON.stringify(tests)], {
    execArgv: ["--import", "tsx"],
    detached: true,
  });
  const ready = await messageOf(player, LONGEST_START_MS);
  if (ready?.kind !== "ready" || ready.files === 0 || ready.failed.length > 0) {
    throw new Error(
      `Cannot plant faults: without one, tests fail or there are none: ${JSON.stringify(ready)}`,
    );
  }
  return player;
}

/** The player's next message; null if it ends without one, or not in time. */
async function messageOf(player: ChildProcess, longestMs: number): Promise<PlayerMessage | null> {
  const first = new AbortController();
  const timer = setTimeout(() => first.abort(), longestMs);
  const { signal } = first;
  try {
    return await Promise.race([
      once(player, "message", { signal }).then(([message]) => message as PlayerMessage),
      once(player, "exit", { signal }).then(() => null),
    ]).catch(() => null);
  } finally {
    clearTimeout(timer);
    first.abort();
  }
}

function summarize(outcomes: readonly Outcome[]): void {
  const folders = new Map<string, { planted: number; noticed: number }>();
  for (const { fault, noticedBy } of outcomes) {
    const folder = dirname(fault.file);
    const counts = folders.get(folder) ?? { planted: 0, noticed: 0 };
    counts.planted += 1;
    counts.noticed += noticedBy === null ? 0 : 1;
    folders.set(folder, counts);
  }
  for (const [folder, { planted, noticed }] of [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    process.stdout.write(`${folder.padEnd(30)} ${noticed} of ${planted}\n`);
  }
  const noticed = outcomes.filter(({ noticedBy }) => noticedBy !== null).length;
  const share = ((100 * noticed) / outcomes.length).toFixed(1);
  process.stdout.write(`\n${noticed} of ${outcomes.length} planted faults are noticed: ${share} %\n`);
}
