import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { groupBy } from "../../src/core/model/group-by.ts";
import { faultsOf, type PlantedFault } from "./faults.ts";
import type { PlayerMessage, PlayerRequest, TestsOfFaults } from "./player.ts";

/*
 * Plants small mistakes in the code, one at a time, and counts those that the unit tests notice:
 *
 *   npm run test:mutation -- [--count 300] [--seed 1] [--tests PART] [FILE|FOLDER of src ...]
 *
 * `--count`: so many, drawn evenly from all; `--seed`: which ones; `--tests`: only test files whose path contains PART.
 */

/** A run of all tests takes far less on a quiet machine. */
const LONGEST_PROBING_MS = 1_200_000;
/** A fault that takes longer never ends. */
const LONGEST_PLAY_MS = 300_000;
/** Its multiples are spread evenly between whole numbers. */
const GOLDEN_RATIO = 0.618_034;
const FOLDERS = ["src/core", "src/budgets", "src/dialects", "src/daemon"];
const PLAYERS = 2;

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
  },
});
const all = (positionals.length > 0 ? positionals : FOLDERS).flatMap(filesIn).flatMap(faultsOf);
const faults = draw(all, Number(values.count), Number(values.seed));
print(`${faults.length} of ${all.length} faults are planted`);
const tests = await probeAll();
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
function draw(from: readonly PlantedFault[], count: number, seed: number): readonly PlantedFault[] {
  const step = Math.max(1, from.length / count);
  const offset = (seed * GOLDEN_RATIO) % 1;
  const places = Array.from({ length: Math.min(count, from.length) }, (_, n) =>
    Math.floor((n + offset) * step),
  );
  return places.flatMap((place) => from[place] ?? []);
}

/** Which tests each fault can change. */
async function probeAll(): Promise<TestsOfFaults> {
  const player = startPlayer();
  const files = [...new Set(faults.map(({ file }) => file))];
  const answer = await ask(player, { kind: "probe", files }, LONGEST_PROBING_MS);
  end(player);
  if (answer?.kind !== "probed" || answer.failed.length > 0) {
    const failed = answer?.kind === "probed" ? answer.failed.join(", ") : "the run ended";
    throw new Error(`Cannot plant faults: without one, tests fail: ${failed}`);
  }
  return answer.tests;
}

/** Plays faults of the queue until it is empty. A player that does not answer is replaced: its fault is noticed, for tests hang. */
async function playAll(): Promise<void> {
  let player: ChildProcess | null = null;
  for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
    const noticedBy = await play(fault);
    outcomes.push({ fault, noticedBy });
    if (noticedBy === null) {
      print(`${outcomes.length}/${faults.length}  NOT NOTICED  ${fault.title}`);
    }
  }
  end(player);

  async function play(fault: PlantedFault): Promise<string | null> {
    const own = tests[fault.id] ?? [];
    if (own.length === 0) {
      return null;
    }
    player ??= startPlayer();
    const answer = await ask(player, { kind: "play", fault, tests: own }, LONGEST_PLAY_MS);
    if (answer?.kind === "played") {
      return answer.noticedBy;
    }
    end(player);
    player = null;
    return "no end";
  }
}

/** Ends a player with its workers: one that runs a fault without an end does not notice that its parent is gone. */
function end(player: ChildProcess | null): void {
  if (player?.pid !== undefined) {
    process.kill(-player.pid, "SIGKILL");
  }
}

function startPlayer(): ChildProcess {
  return fork(new URL("player.ts", import.meta.url), values.tests, {
    execArgv: ["--import", "tsx"],
    detached: true,
  });
}

/** The player's answer; null if it ends without one, or not in time. */
async function ask(
  player: ChildProcess,
  request: PlayerRequest,
  longestMs: number,
): Promise<PlayerMessage | null> {
  player.send(request);
  const first = new AbortController();
  const signal = AbortSignal.any([first.signal, AbortSignal.timeout(longestMs)]);
  try {
    return await Promise.race([
      once(player, "message", { signal }).then(([message]) => message as PlayerMessage),
      once(player, "exit", { signal }).then(() => null),
    ]).catch(() => null);
  } finally {
    first.abort();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function summarize(): void {
  const folders = groupBy(outcomes, ({ fault }) => dirname(fault.file));
  const noticedIn = (of: readonly Outcome[]) => of.filter(({ noticedBy }) => noticedBy !== null).length;
  for (const [folder, own] of [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    print(`${folder.padEnd(30)} ${noticedIn(own)} of ${own.length}`);
  }
  const share = ((100 * noticedIn(outcomes)) / outcomes.length).toFixed(1);
  print(`\n${noticedIn(outcomes)} of ${outcomes.length} planted faults are noticed: ${share} %`);
}
