import { setTimeout as sleep } from "node:timers/promises";
import type { BudgetRecord } from "../budgets/gate.ts";
import type { Config } from "../config/config.ts";
import { indexerKey } from "../core/model/fleet.ts";
import type { Report } from "../core/model/report.ts";
import { ReportSchema } from "../core/model/report-schema.ts";
import { hostAndPort } from "../core/model/text.ts";
import { checkRound } from "../daemon/check-round.ts";
import { Monitor } from "../daemon/monitor.ts";
import { spentInFile } from "../io/state/file.ts";
import { StateLockedError } from "../io/state/lock.ts";
import { openStore } from "../io/store/open-store.ts";
import { expositionText } from "../metrics/exposition.ts";
import { STATUS_METRICS } from "../metrics/families.ts";
import { checkInStore } from "../replica/check-store.ts";
import { keepTargets } from "../views/api/selection.ts";
import {
  applyMaxLag,
  type CheckExitCode,
  checkExitCode,
  renderCheckTable,
  renderNagiosLine,
  selectForCheck,
} from "../views/terminal/check.ts";
import { type Answered, askDaemon } from "./ask-daemon.ts";
import { CommandError, type CommandWorld, colorsFor, EXIT, type Flags } from "./command-world.ts";
import { daemonWorld } from "./daemon-world.ts";
import { defaultStateFile, loadConfig, readLimit, readStore } from "./load-config.ts";

/**
 * `synclag check`: prints the status and returns the exit code of a monitoring plugin.
 *
 * @throws {ConfigError | CommandError} If no status is known, or the usage or configuration is wrong.
 */
export async function check(
  flags: Flags,
  world: CommandWorld,
  filters: readonly string[],
): Promise<CheckExitCode> {
  const maxLag = flags.maxLag === undefined ? null : readLimit("--max-lag", flags.maxLag);
  const found = await (flags.url === undefined
    ? findReport(flags, world, filters)
    : askForReport(flags.url, world));
  const unfiltered = maxLag === null ? found.answer : applyMaxLag(found.answer, maxLag);
  const { json, selections } = select(unfiltered, filters);
  const exitCode = checkExitCode(json, selections);
  const { origin } = found;
  const formats: Readonly<Record<Flags["format"], () => string>> = {
    nagios: () => renderNagiosLine(json, { unfiltered, selections }),
    json: () => JSON.stringify(json, null, 2),
    prometheus: () => expositionText(STATUS_METRICS, { report: json }).trimEnd(),
    table: () =>
      renderCheckTable(json, {
        unfiltered,
        selections,
        color: colorsFor("out", world),
        // Some terminals, such as those of scripts, report a width of 0, which means unknown.
        widthColumns: world.outColumns || null,
        statusesUrl: origin === null ? `${world.packageRoot}docs/statuses.md` : `${origin}/docs/statuses`,
      }),
  };
  world.out(formats[flags.format]());
  return exitCode;
}

/** The part of a report that the filters select. @throws {CommandError} If one selects nothing. */
function select(report: Report, filters: readonly string[]) {
  const selected = selectForCheck(report, filters);
  if (selected.errors.length > 0) {
    throw new CommandError(selected.errors.join("\n"));
  }
  return selected;
}

/** A report. Its origin is a daemon, or null if this command polled or read the store. */
type Found = Answered<Report>;

/** A report is a few seconds old, but the clocks of two machines may differ by minutes. */
const MAX_AGE_MS = 300_000;
/** The longest wait until another check releases the state file. */
const MAX_WAIT_MS = 120_000;
const RETRY_MS = 250;

/**
 * Gets a report from a running daemon, else polls once. Asks the daemon on the `listen` address first, unless `--state` or
 * `--store` is given. Then reads the store or, without a store, asks the daemon that holds the state file. An unknown filter is
 * reported before the first poll.
 */
async function findReport(flags: Flags, world: CommandWorld, filters: readonly string[]): Promise<Found> {
  const config = loadConfig(flags.config, world);
  const configured = new Monitor(config.fleet, { nowMs: world.nowMs, budgets: () => [] }).report();
  const chains = new Set(select(configured, filters).json.targets.map(({ chain }) => chain));
  const store = readStore(flags, world);
  if (flags.state === undefined && flags.store === undefined) {
    const served = await askListener(config, world);
    if (served !== null) {
      return served;
    }
  }
  if (world.errIsTerminal) {
    world.err("Polling each endpoint once");
  }
  const own = await daemonWorld(world, "warn");
  const stateFile = flags.state ?? defaultStateFile(flags.config);
  const poll = (shared: BudgetRecord | null): Promise<Report> =>
    checkRound(config, chains, { world: own, stateFile: shared === null ? stateFile : null, shared });
  if (store === null) {
    const found = await pollOrAsk(stateFile, () => poll(null), world);
    return { ...found, answer: targetsOfFile(found.answer, config, configured, world) };
  }
  await using shared = await openStore(store, own);
  const result = await checkInStore(config, {
    store: shared,
    former: await spentInFile(stateFile),
    world: own,
    poll,
    onLeader: (name) =>
      world.err(`Reading the report of ${name}, which leads, from the store; polling nothing`),
  });
  if (typeof result === "string") {
    throw new CommandError(result);
  }
  return { answer: result, origin: null };
}

/** Short, because the listener is on this machine. */
const LISTENER_TIMEOUT_MS = 2_000;

/**
 * The report of the daemon on the `listen` address, if it polls the same configuration; else null. A demo never counts, even if
 * it has the same targets.
 */
async function askListener({ file, listen, fleet }: Config, world: CommandWorld): Promise<Found | null> {
  const listener = toLoopback(`http://${hostAndPort(listen)}`);
  try {
    const served = await askForReport(listener, world, LISTENER_TIMEOUT_MS);
    const digest = served.answer.config_digest;
    if (digest !== fleet.digest) {
      const why =
        digest === null ? "is a demo or of an older version" : `polls another configuration than ${file}`;
      world.err(`Not using the Synclag at ${listener}, which ${why}`);
      return null;
    }
    world.err(`Asking the running daemon at ${listener}, which polls ${file}; polling nothing`);
    return served;
  } catch (error) {
    if (error instanceof CommandError) {
      return null;
    }
    throw error;
  }
}

/**
 * Narrows the report of the daemon that holds the state file to the targets of the configuration file, skipped ones included. A
 * target that the daemon does not poll is unknown.
 *
 * @throws {CommandError} If the daemon polls none of these targets.
 */
function targetsOfFile(
  report: Report,
  { file, fleet }: Config,
  configured: Report,
  world: CommandWorld,
): Report {
  if (report.config_digest === fleet.digest) {
    return report;
  }
  const keys = new Set(configured.targets.map(({ key }) => key));
  const skipped = new Set(fleet.skipped.map(indexerKey));
  const own = report.targets.filter((target) => keys.has(target.key) || skipped.has(indexerKey(target)));
  if (own.length === 0) {
    throw new CommandError(`Cannot use the report of that daemon: it polls none of the targets in ${file}`);
  }
  if (report.config_digest !== null) {
    world.err(`That daemon polls another configuration than ${file}: reload or restart it`);
  }
  const polled = new Set(own.map(({ key }) => key));
  const absent = configured.targets
    .filter(({ key }) => !polled.has(key))
    .map((target) => ({ ...target, detail: "the running daemon does not poll it" }));
  const known = new Set(report.chains.map(({ slug }) => slug));
  const chains = [...report.chains, ...configured.chains.filter(({ slug }) => !known.has(slug))];
  return keepTargets({ ...report, chains }, [...own, ...absent]);
}

/** Waits until the state file is free, then polls one time. If a daemon holds the file, asks that daemon instead. */
async function pollOrAsk(
  stateFile: string,
  poll: () => Promise<Report>,
  world: CommandWorld,
): Promise<Found> {
  const untilMs = world.monotonicMs() + MAX_WAIT_MS;
  while (world.monotonicMs() < untilMs) {
    try {
      return { answer: await poll(), origin: null };
    } catch (error) {
      if (!(error instanceof StateLockedError)) {
        throw error;
      }
      const { pid, url } = error.owner;
      if (url !== "") {
        const daemon = toLoopback(url);
        world.err(
          `Asking the running daemon at ${daemon} (pid ${pid}), which holds ${stateFile}; polling nothing`,
        );
        return await askForReport(daemon, world);
      }
    }
    await sleep(RETRY_MS);
  }
  throw new CommandError(
    `Cannot use the state file ${stateFile}: another synclag has held it for two minutes`,
  );
}

/** @throws {CommandError} Also if the report is old: a stuck daemon, or a reply that a proxy kept, would say OK forever. */
async function askForReport(url: string, world: CommandWorld, timeoutMs?: number): Promise<Found> {
  const found = await askDaemon("/api/v1/status", ReportSchema, url, world, timeoutMs);
  const { generated_at: time } = found.answer;
  if (Math.abs(Date.parse(time) - world.nowMs()) > MAX_AGE_MS) {
    throw new CommandError(
      `Cannot use the report of ${found.origin}, which is dated ${time}: check the daemon and the clocks of both machines`,
      { exitCode: EXIT.failure },
    );
  }
  return found;
}

/** The URL at which this machine reaches a server that listens on every address. */
function toLoopback(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
