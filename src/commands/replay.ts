import type { Event } from "../core/events/event.ts";
import { EventLog } from "../core/events/event-log.ts";
import { chainReports, incidentOfKey, type Report } from "../core/model/report.ts";
import { whyFailed } from "../core/model/why-failed.ts";
import { Monitor } from "../daemon/monitor.ts";
import { type Recorded, readRecordedLine, recordedNames } from "../daemon/recording.ts";
import { openMaintenance } from "../schedule/maintenance.ts";
import { CommandError, type CommandWorld, cannotUse, EXIT, type Flags } from "./command-world.ts";
import { loadConfig, readDuration } from "./load-config.ts";

/** Reports show whole seconds, so a shorter step would print the same report twice. */
const LEAST_STEP_MS = 1_000;
/** How many characters of an invalid line an error quotes. */
const MOST_QUOTED = 100;

/**
 * `synclag replay`: feeds recorded observations to the code of the daemon, at their recorded times and without a network, and
 * prints what Synclag would have said.
 *
 * @throws {ConfigError} If the configuration is invalid.
 * @throws {CommandError} If a line cannot be used: `FILE:LINE: what was found`.
 */
export function replay(flags: Flags, world: CommandWorld, files: readonly string[]): number {
  const { fleet, maintenance } = loadConfig(flags.config, world);
  const slugs = fleet.chains.map(({ slug }) => slug);
  const unknown = flags.chain.find((slug) => !slugs.includes(slug));
  if (unknown !== undefined) {
    throw new CommandError(
      `Cannot use --chain ${JSON.stringify(unknown)}: ${flags.config} has ${slugs.join(", ")}`,
    );
  }
  const everyMs = readDuration("--every", flags.every);
  if (everyMs < LEAST_STEP_MS) {
    throw cannotUse("--every", flags.every, "at least 1s");
  }
  const chains = new Set(flags.chain.length === 0 ? slugs : flags.chain);
  const linesOf = flags.format === "json" ? jsonLines : createChangeLines();
  const keys = new Map([...recordedNames(fleet)].map(([key, name]) => [name, key]));
  let nowMs = 0;
  let nextMs = 0;
  const startMonitor = () =>
    new Monitor(fleet, {
      nowMs: () => nowMs,
      budgets: () => [],
      maintenance: (atMs) => openMaintenance(maintenance, atMs),
    });
  let monitor = startMonitor();
  const printAt = (atMs: number): void => {
    nowMs = Math.max(nowMs, atMs);
    monitor.tick();
    linesOf(monitor.decideIncidents(), chains).forEach(world.out);
  };
  const play = (recorded: Recorded): void => {
    const atMs = recorded.kind === "restart" ? recorded.atMs : recorded.receivedAtMs;
    nextMs ||= atMs + everyMs;
    for (; atMs >= nextMs; nextMs += everyMs) {
      printAt(nextMs);
    }
    nowMs = Math.max(nowMs, atMs);
    if (recorded.kind !== "restart") {
      monitor.observe([recorded]);
      return;
    }
    monitor.tick();
    const saved = monitor.save();
    monitor = startMonitor();
    if (recorded.state === "kept") {
      monitor.restore(saved);
    }
  };
  for (const file of files) {
    for (const recorded of recordedIn(file, keys, world)) {
      play(recorded);
    }
  }
  if (nextMs > 0) {
    printAt(nowMs);
  }
  return EXIT.ok;
}

/**
 * The observations and restarts in a file. A recording names sources without their URLs; here the names are replaced by the
 * `keys`.
 */
function* recordedIn(
  file: string,
  keys: ReadonlyMap<string, string>,
  world: CommandWorld,
): Iterable<Recorded> {
  for (const [index, text] of textOf(file, world).split("\n").entries()) {
    const at = `${file}:${index + 1}`;
    const recorded = readRecordedLine(text);
    if (recorded === null) {
      if (text !== "") {
        world.err(`${at}: warning: left out a line that is not valid JSON`);
      }
    } else if (recorded.kind === "restart") {
      yield recorded;
    } else if (recorded.kind !== "invalid") {
      const source = keys.get(recorded.source);
      if (source === undefined) {
        throw new CommandError(
          `${at}: unknown source ${JSON.stringify(recorded.source)}: the configuration has no such target or RPC node; name the configuration of the recording with --config`,
        );
      }
      yield { ...recorded, source };
    } else {
      throw new CommandError(`${at}: ${recorded.found}: ${JSON.stringify(text.slice(0, MOST_QUOTED))}`);
    }
  }
}

function textOf(file: string, world: CommandWorld): string {
  try {
    return world.readFile(file);
  } catch (error) {
    throw new CommandError(`Cannot read the recording ${file}: ${whyFailed(error)}`, { cause: error });
  }
}

type LinesOf = (report: Report, chains: ReadonlySet<string>) => readonly string[];

/** One line of JSON for each chain. */
const jsonLines: LinesOf = (report, chains) =>
  chainReports(report)
    .filter(({ slug }) => chains.has(slug))
    .map(({ slug: chain, reference, targets, gaps }) => {
      const { block_number: block, time, sources } = reference ?? {};
      return JSON.stringify({
        at: report.generated_at,
        chain,
        reference: reference && { block, time, sources },
        targets: targets.map(({ key, status, lag_blocks, lag_seconds, block_number, detail }) => {
          return { target: key, status, lag_blocks, lag_seconds, block_number, detail };
        }),
        gaps,
        incidents: report.incidents,
      });
    });

/** A line for each change of a status and each start and end of an incident. A change from `unknown` to `ok` gets none. */
function createChangeLines(): LinesOf {
  const log = new EventLog();
  return (report, chains) =>
    log
      .note(report, true)
      .flatMap((event) => changeLine(event, chains))
      .map((line) => `${report.generated_at}  ${line}`);
}

function changeLine({ kind, subject, from, to, detail }: Event, chains: ReadonlySet<string>) {
  if (kind === "incident") {
    const line = `incident ${to}  ${subject}${to === "began" ? `: ${detail}` : ""}`;
    // The incident of one target repeats the change of its status, so it gets no line.
    return incidentOfKey(subject).kind === "target" ? [] : line;
  }
  const isOfChain = kind === "status" && chains.has(subject.split("/").at(-1) ?? "");
  const isNews = from !== "unknown" || to !== "ok";
  return isOfChain && isNews ? `${subject}  ${from} → ${to}  ${detail}` : [];
}
