import { createReadStream } from "node:fs";
import type { Config } from "../config/config.ts";
import type { Observation } from "../core/model/observation.ts";
import { chainReports, type Incident, incidentKey, type Report, type Status } from "../core/model/report.ts";
import { whyUnreadable } from "../core/model/why-unreadable.ts";
import { Monitor } from "../daemon/monitor.ts";
import { type Recorded, readRecordedLine, recordedNames } from "../daemon/recording.ts";
import { openMaintenance } from "../schedule/maintenance.ts";
import { CommandError, type CommandWorld, EXIT } from "./command-world.ts";
import { loadConfig, readDuration } from "./load-config.ts";

export interface ReplayFlags {
  readonly config: string;
  /** The recorded time between two reports. */
  readonly every: string;
  /** Only these chains are printed. Default: all. */
  readonly chain: readonly string[];
  readonly format: "table" | "json";
}

/** The daemon decides polls within this time together. */
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
 * @throws {CommandError} If a file cannot be read, or a line cannot be used: `FILE:LINE: what was found`.
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
    throw new CommandError(
      `Cannot use --chain ${JSON.stringify(unknown)}: ${flags.config} has ${slugs.join(", ")}`,
    );
  }
  const everyMs = readDuration("--every", flags.every);
  if (everyMs < LEAST_STEP_MS) {
    throw new CommandError(`Cannot use --every ${JSON.stringify(flags.every)}: expected at least 1s`);
  }
  const chains = new Set(flags.chain.length === 0 ? slugs : flags.chain);
  const print = flags.format === "json" ? printJson(world) : printChanges(world);
  const player = new Player(config, everyMs, (report) => print(onlyChains(report, chains)));
  const keys = new Map([...recordedNames(config.fleet)].map(([key, name]) => [name, key]));
  for (const file of files) {
    let number = 0;
    for await (const { text, isWhole } of linesOf(file)) {
      number += 1;
      const recorded = readRecordedLine(text);
      if (recorded.kind !== "invalid") {
        player.play(withKey(recorded, keys, `${file}:${number}`));
      } else if (isWhole) {
        const quoted = JSON.stringify(text.slice(0, MOST_QUOTED));
        throw new CommandError(`${file}:${number}: ${recorded.found}: ${quoted}`);
      } else {
        world.err(`${file}:${number}: warning: the last line is truncated and was left out`);
      }
    }
  }
  player.end();
  return EXIT.ok;
}

/** The lines of a file. A last one is not whole where the daemon was writing it. */
async function* linesOf(file: string): AsyncIterable<{ readonly text: string; readonly isWhole: boolean }> {
  let rest = "";
  try {
    for await (const chunk of createReadStream(file, "utf8")) {
      const lines = `${rest}${String(chunk)}`.split("\n");
      rest = lines.pop() ?? "";
      yield* lines.map((text) => ({ text, isWhole: true }));
    }
  } catch (error) {
    throw new CommandError(`Cannot read ${file}: ${whyUnreadable(error)}`, { cause: error });
  }
  if (rest !== "") {
    yield { text: rest, isWhole: false };
  }
}

/** Adds the key of the source, which a recording lacks because keys contain URLs. */
function withKey(recorded: Recorded, keys: ReadonlyMap<string, string>, at: string): Recorded {
  if (recorded.kind === "restart") {
    return recorded;
  }
  const source = keys.get(recorded.source);
  if (source === undefined) {
    throw new CommandError(
      `${at}: unknown source ${JSON.stringify(recorded.source)}: the configuration has no such target or RPC node; use --config to name the configuration of the recording`,
    );
  }
  return { ...recorded, source };
}

/** A monitor that is fed with recorded lines. */
class Player {
  readonly #config: Config;
  readonly #everyMs: number;
  readonly #onReport: (report: Report) => void;
  #monitor: Monitor;
  #nowMs = 0;
  #nextMs = 0;
  #batch: Observation[] = [];

  constructor(config: Config, everyMs: number, onReport: (report: Report) => void) {
    this.#config = config;
    this.#everyMs = everyMs;
    this.#onReport = onReport;
    this.#monitor = this.#start();
  }

  play(recorded: Recorded): void {
    const atMs = recorded.kind === "restart" ? recorded.atMs : recorded.receivedAtMs;
    if (this.#nextMs === 0) {
      this.#nextMs = atMs + this.#everyMs;
    }
    while (atMs >= this.#nextMs) {
      this.#report(this.#nextMs);
      this.#nextMs += this.#everyMs;
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
    this.#onReport(this.#monitor.report());
  }

  #observe(): void {
    if (this.#batch.length > 0) {
      this.#monitor.observe(this.#batch);
      this.#batch = [];
    }
  }

  #restart(state: "kept" | "lost"): void {
    this.#observe();
    const saved = this.#monitor.save();
    this.#monitor = this.#start();
    if (state === "kept") {
      this.#monitor.restore(saved);
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
function printJson({ out }: CommandWorld): (report: Report) => void {
  return (report) => {
    const { generated_at: at, incidents } = report;
    for (const { slug: chain, reference, targets, gaps } of chainReports(report)) {
      const { block_number: block, time, sources } = reference ?? {};
      const line = {
        at,
        chain,
        reference: reference && { block, time, sources },
        targets: targets.map(({ key, status, lag_blocks, lag_seconds, block_number, detail }) => {
          return { target: key, status, lag_blocks, lag_seconds, block_number, detail };
        }),
        gaps,
        incidents,
      };
      out(JSON.stringify(line));
    }
  };
}

/** A line for each change of a status and each start and end of an incident. A target that is `ok` from the start gets no line. */
function printChanges({ out }: CommandWorld): (report: Report) => void {
  const statuses = new Map<string, Status>();
  let before: readonly Incident[] = [];
  return (report) => {
    const { generated_at: at, incidents } = report;
    for (const line of [...incidentChanges(before, incidents), ...statusChanges(statuses, report)]) {
      out(`${at}  ${line}`);
    }
    before = incidents;
  };
}

function incidentChanges(before: readonly Incident[], after: readonly Incident[]): readonly string[] {
  const had = new Set(before.map(incidentKey));
  const has = new Set(after.map(incidentKey));
  return [
    ...after
      .filter((one) => !had.has(incidentKey(one)))
      .map((one) => `incident began  ${incidentKey(one)}: ${one.detail}`),
    ...[...had].filter((key) => !has.has(key)).map((key) => `incident ended  ${key}`),
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
