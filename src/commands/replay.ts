import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Config } from "../config/config.ts";
import { parseDuration } from "../config/quantities.ts";
import type { Observation } from "../core/model/observation.ts";
import { chainReports, type Incident, incidentKey, type Report, type Status } from "../core/model/report.ts";
import { Monitor } from "../daemon/monitor.ts";
import { type Recorded, readRecordedLine, recordedNames } from "../daemon/recording.ts";
import { openMaintenance } from "../schedule/maintenance.ts";
import { type CommandWorld, EXIT } from "./command-world.ts";
import { loadConfig } from "./load-config.ts";

export interface ReplayFlags {
  readonly config: string;
  /** How much recorded time lies between two looks at the report. */
  readonly every: string;
  /** Only these chains are printed. Default: all. */
  readonly chain: readonly string[];
  readonly format: "table" | "json";
}

/** The daemon works out together what polls bring within so long. */
const BATCH_MS = 50;
/** Reports are cached for a second. */
const LEAST_STEP_MS = 1_000;
/** Characters of an invalid line that an error quotes. */
const MOST_QUOTED = 100;

/**
 * `synclag replay`: feeds recorded observations to the code of the daemon, by their own times and without a network, and prints what
 * Synclag would have said.
 *
 * @throws {ConfigError} If the configuration is invalid.
 */
export async function replay(
  files: readonly string[],
  flags: ReplayFlags,
  world: CommandWorld,
): Promise<number> {
  const config = loadConfig(flags.config, world);
  const slugs = config.fleet.chains.map(({ slug }) => slug);
  const unknown = flags.chain.find((slug) => !slugs.includes(slug));
  if (unknown !== undefined) {
    world.err(`Cannot use --chain ${JSON.stringify(unknown)}: ${flags.config} has ${slugs.join(", ")}`);
    return EXIT.usage;
  }
  const everyMs = parseDuration(flags.every) ?? 0;
  if (everyMs < LEAST_STEP_MS) {
    world.err(
      `Cannot use --every ${JSON.stringify(flags.every)}: expected a duration of at least 1s, such as 30s`,
    );
    return EXIT.usage;
  }
  const chains = new Set(flags.chain.length === 0 ? slugs : flags.chain);
  const print = flags.format === "json" ? printJson(world) : printChanges(world);
  const player = new Player(config, { everyMs, onReport: (report) => print(onlyChains(report, chains)) });
  try {
    await playFiles(files, player, world);
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof RecordingError)) {
      throw error;
    }
    world.err(error.message);
    return EXIT.usage;
  }
}

/** @throws {RecordingError} If a file cannot be read, or a line cannot be used. */
async function playFiles(
  files: readonly string[],
  player: Player,
  world: Pick<CommandWorld, "err">,
): Promise<void> {
  for (const file of files) {
    for await (const recorded of linesOf(file, player.keys, world)) {
      player.play(recorded);
    }
  }
  player.end();
}

/** A line that cannot be used: `FILE:LINE: what was found`. */
class RecordingError extends Error {
  override readonly name = "RecordingError";
}

/** Reads a recording line by line. A last line that is not complete is dropped: the daemon was writing it. */
async function* linesOf(
  file: string,
  keys: ReadonlyMap<string, string>,
  world: Pick<CommandWorld, "err">,
): AsyncIterable<Recorded> {
  const isComplete = endsWithNewline(file);
  let number = 0;
  let broken: RecordingError | null = null;
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (broken !== null) {
      throw broken;
    }
    number += 1;
    const recorded = readRecordedLine(line);
    if (recorded.kind === "invalid") {
      broken = new RecordingError(
        `${file}:${number}: ${recorded.found}: ${JSON.stringify(line.slice(0, MOST_QUOTED))}`,
      );
    } else {
      yield recorded.kind === "restart" ? recorded : withKey(recorded, keys, `${file}:${number}`);
    }
  }
  if (broken !== null && isComplete) {
    throw broken;
  }
  if (broken !== null) {
    world.err(`${file}:${number}: warning: the last line is truncated and was left out`);
  }
}

/** @throws {RecordingError} If the file cannot be read. */
function endsWithNewline(file: string): boolean {
  try {
    const fd = openSync(file, "r");
    try {
      const last = Buffer.alloc(1);
      return readSync(fd, last, 0, 1, Math.max(0, fstatSync(fd).size - 1)) === 1 && last.toString() === "\n";
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new RecordingError(`Cannot read ${file}: ${code === "ENOENT" ? "no such file" : code}`, {
      cause: error,
    });
  }
}

function withKey(observation: Observation, keys: ReadonlyMap<string, string>, at: string): Observation {
  const source = keys.get(observation.source);
  if (source === undefined) {
    throw new RecordingError(
      `${at}: unknown source ${JSON.stringify(observation.source)}: the configuration has no such target or RPC node; use --config to name the configuration of the recording`,
    );
  }
  return { ...observation, source };
}

interface PlayerOptions {
  readonly everyMs: number;
  readonly onReport: (report: Report) => void;
}

/** The state of a daemon, moved on by recorded lines. */
class Player {
  /** The keys of the sources, by their recorded names. */
  readonly keys: ReadonlyMap<string, string>;
  readonly #config: Config;
  readonly #options: PlayerOptions;
  #monitor: Monitor;
  #nowMs = 0;
  #nextMs = 0;
  #batch: Observation[] = [];

  constructor(config: Config, options: PlayerOptions) {
    this.#config = config;
    this.#options = options;
    this.keys = new Map([...recordedNames(config.fleet)].map(([key, name]) => [name, key]));
    this.#monitor = this.#start();
  }

  play(recorded: Recorded): void {
    const atMs = recorded.kind === "restart" ? recorded.atMs : recorded.receivedAtMs;
    if (this.#nextMs === 0) {
      this.#nextMs = atMs + this.#options.everyMs;
    }
    while (atMs >= this.#nextMs) {
      this.#report(this.#nextMs);
      this.#nextMs += this.#options.everyMs;
    }
    if (recorded.kind === "restart") {
      this.#restart(recorded.state);
    } else {
      const [first] = this.#batch;
      if (first !== undefined && atMs - first.receivedAtMs > BATCH_MS) {
        this.#observe();
      }
      this.#batch.push(recorded);
    }
    this.#nowMs = Math.max(this.#nowMs, atMs);
  }

  /** Reports the state after the last line. */
  end(): void {
    if (this.#nextMs > 0) {
      this.#report(this.#nowMs);
    }
  }

  #report(atMs: number): void {
    this.#observe();
    this.#nowMs = Math.max(this.#nowMs, atMs);
    this.#options.onReport(this.#monitor.report());
  }

  #observe(): void {
    if (this.#batch.length > 0) {
      this.#monitor.observe(this.#batch);
      this.#batch = [];
    }
  }

  #restart(state: "kept" | "lost"): void {
    this.#observe();
    const { chains, incidents } = this.#monitor.save();
    this.#monitor = this.#start();
    if (state === "kept") {
      this.#monitor.restore(new Map(Object.entries(chains)), incidents);
    }
  }

  #start(): Monitor {
    return new Monitor(this.#config.fleet, {
      nowMs: () => this.#nowMs,
      budgets: () => [],
      maintenance: (nowMs) => openMaintenance(this.#config.maintenance, nowMs),
    });
  }
}

function onlyChains(report: Report, slugs: ReadonlySet<string>): Report {
  return {
    ...report,
    chains: report.chains.filter(({ slug }) => slugs.has(slug)),
    targets: report.targets.filter(({ chain }) => slugs.has(chain)),
    gaps: report.gaps.filter(({ chain }) => slugs.has(chain)),
  };
}

/** One line for each chain. */
function printJson({ out }: Pick<CommandWorld, "out">): (report: Report) => void {
  return (report) => {
    const { generated_at: at, incidents } = report;
    for (const { slug, reference, targets, gaps } of chainReports(report)) {
      out(
        JSON.stringify({
          at,
          chain: slug,
          reference: reference && {
            block: reference.block_number,
            time: reference.time,
            sources: reference.sources,
          },
          targets: targets.map(({ key, status, lag_blocks, lag_seconds, block_number, detail }) => ({
            target: key,
            status,
            lag_blocks,
            lag_seconds,
            block_number,
            detail,
          })),
          gaps,
          incidents,
        }),
      );
    }
  };
}

/** A line for each change of a status, and for each begin and end of an incident; a target that is `ok` from the start has none. */
function printChanges({ out }: Pick<CommandWorld, "out">): (report: Report) => void {
  const statuses = new Map<string, Status>();
  let before: readonly Incident[] = [];
  return (report) => {
    const at = report.generated_at;
    const lines = [...incidentChanges(before, report.incidents), ...statusChanges(statuses, report)];
    before = report.incidents;
    for (const line of lines) {
      out(`${at}  ${line}`);
    }
  };
}

function incidentChanges(before: readonly Incident[], after: readonly Incident[]): readonly string[] {
  const [had, has] = [before, after].map((incidents) => new Set(incidents.map(incidentKey)));
  return [
    ...after
      .filter((one) => had?.has(incidentKey(one)) === false)
      .map((one) => `incident began  ${incidentKey(one)}: ${one.detail}`),
    ...before
      .filter((one) => has?.has(incidentKey(one)) === false)
      .map((one) => `incident ended  ${incidentKey(one)}`),
  ];
}

/** Lists the changes since `statuses`, and updates it. */
function statusChanges(statuses: Map<string, Status>, report: Report): readonly string[] {
  return report.targets.flatMap(({ key, status, detail }) => {
    const from = statuses.get(key) ?? "unknown";
    statuses.set(key, status);
    const isNews = from !== status && !(from === "unknown" && status === "ok");
    return isNews ? [`${key}  ${from} → ${status}  ${detail}`] : [];
  });
}
