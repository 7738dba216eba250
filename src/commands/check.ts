import { setTimeout as sleep } from "node:timers/promises";
import type { BudgetRecord } from "../budgets/gate.ts";
import { readProxySettings, readStoreFlags, type StoreFlags } from "../config/options.ts";
import { createRedact } from "../core/model/redact.ts";
import type { Report } from "../core/model/report.ts";
import { ReportSchema } from "../core/model/report-schema.ts";
import { checkRound } from "../daemon/check-round.ts";
import { Monitor } from "../daemon/monitor.ts";
import { createLogger } from "../io/logger.ts";
import { spentInFile } from "../io/state/file.ts";
import { StateLockedError } from "../io/state/lock.ts";
import { expositionText } from "../metrics/exposition.ts";
import { STATUS_METRICS } from "../metrics/families.ts";
import {
  applyMaxLag,
  type CheckExitCode,
  checkExitCode,
  renderCheckTable,
  renderNagiosLine,
  selectForCheck,
} from "../views/terminal/check.ts";
import { askDaemon } from "./ask-daemon.ts";
import { buildOf, CommandError, type CommandWorld, colorsFor } from "./command-world.ts";
import { defaultStateFile, loadConfig, readDuration } from "./load-config.ts";

export interface CheckFlags extends StoreFlags {
  readonly config: string;
  readonly state?: string;
  /** A running daemon to ask instead of polling. */
  readonly url?: string;
  readonly maxLag?: string;
  readonly format: "table" | "json" | "prometheus" | "nagios";
}

/**
 * `synclag check`: prints the status and returns the exit code of a monitoring plugin.
 *
 * @throws {ConfigError | CommandError} If no status can be had, or the usage or configuration is wrong.
 */
export async function check(
  filters: readonly string[],
  flags: CheckFlags,
  world: CommandWorld,
): Promise<CheckExitCode> {
  const maxLagMs = flags.maxLag === undefined ? null : readDuration("--max-lag", flags.maxLag);
  const status = await (flags.url === undefined
    ? findStatus(filters, flags, world)
    : statusOf(flags.url, world));
  const unfiltered = maxLagMs === null ? status.json : applyMaxLag(status.json, maxLagMs);
  const { json, selections } = select(unfiltered, filters);
  const exitCode = checkExitCode(json, selections);
  switch (flags.format) {
    case "nagios":
      world.out(renderNagiosLine(json, exitCode));
      break;
    case "json":
      world.out(JSON.stringify(json, null, 2));
      break;
    case "prometheus":
      world.out(expositionText(STATUS_METRICS, { report: json }).trimEnd());
      break;
    case "table":
      world.out(
        renderCheckTable(json, {
          unfiltered,
          color: colorsFor("out", world),
          widthColumns: world.outColumns ?? null,
          statusesUrl: status.statusesUrl,
        }),
      );
  }
  return exitCode;
}

/** A report, and the address of the page about statuses. */
interface StatusResult {
  readonly json: Report;
  readonly statusesUrl: string;
}

/** What the filters select. @throws {CommandError} If one selects nothing. */
function select(report: Report, filters: readonly string[]) {
  const selected = selectForCheck(report, filters);
  if (selected.errors.length > 0) {
    throw new CommandError(selected.errors.join("\n"));
  }
  return selected;
}

/** On this machine. */
const LISTENER_TIMEOUT_MS = 2_000;
/** The longest wait for another check. */
const MAX_WAIT_MS = 120_000;
const RETRY_MS = 250;

/**
 * Asks the daemon on the configuration's `listen` address, if it serves this configuration and neither `--state` nor `--store`
 * names budgets; else the leader of the store, or the daemon that holds the state file; else polls once. An unknown filter is
 * reported before the first poll.
 */
async function findStatus(
  filters: readonly string[],
  flags: CheckFlags,
  world: CommandWorld,
): Promise<StatusResult> {
  const config = loadConfig(flags.config, world);
  const configured = new Monitor(config.fleet, { nowMs: world.nowMs, budgets: () => [] }).report();
  const chains = new Set(select(configured, filters).json.targets.map(({ chain }) => chain));
  const store = readStoreFlags(flags, world);
  world.keepSecret(store?.secrets ?? []);
  const { host, port } = config.listen;
  if (flags.state === undefined && flags.store === undefined) {
    const listener = toLoopback(`http://${host.includes(":") ? `[${host}]` : host}:${port}`);
    const served = await statusOf(listener, world, LISTENER_TIMEOUT_MS).catch(noAnswer);
    // It may serve more, with a key that is not set here.
    const keys = new Set(served?.json.targets.map(({ key }) => key));
    if (served !== null && configured.targets.every(({ key }) => keys.has(key))) {
      world.err(`Asking the running daemon at ${listener}, which serves this configuration; polling nothing`);
      return served;
    }
  }
  if (world.errIsTerminal) {
    world.err("Polling each endpoint once");
  }
  const secrets = [...config.secrets, ...(store?.secrets ?? [])];
  const stateFile = flags.state ?? defaultStateFile(flags.config);
  const roundWorld = await worldOf(world, secrets);
  const poll = (shared: BudgetRecord | null): Promise<Report> =>
    checkRound(config, chains, {
      world: roundWorld,
      stateFile: shared === null ? stateFile : null,
      shared,
    });
  if (store === null) {
    return await pollOrAsk(stateFile, () => poll(null), world);
  }
  // The client of the store is loaded only where there is one.
  const { checkInStore, RedisStore } = await loadStore();
  await using redis = await RedisStore.open(store, roundWorld);
  const result = await checkInStore(config, {
    store: redis,
    former: await spentInFile(stateFile),
    world: roundWorld,
    poll,
    onLeader: (name) =>
      world.err(`Reading the report of ${name}, which leads, from the store; polling nothing`),
  });
  if (typeof result === "string") {
    throw new CommandError(result);
  }
  return polled(result, world);
}

/** Outside of the function that uses it: with `await using`, the compiler does not rewrite the paths of an import. */
async function loadStore() {
  const { RedisStore } = await import("../io/store/redis-store.ts");
  const { checkInStore } = await import("../replica/check-store.ts");
  return { RedisStore, checkInStore };
}

/** What a round of polls needs. */
async function worldOf(world: CommandWorld, secrets: readonly string[]) {
  const logger = await createLogger({
    level: "warn",
    format: "pretty",
    colour: colorsFor("err", world),
    redact: () => createRedact(secrets),
    write: world.err,
  });
  const proxy = readProxySettings(world.env);
  return { ...world, logger, build: buildOf(world), proxy, onBug: world.crash };
}

/** Polls once the state file is free; if a daemon holds it, asks that. */
async function pollOrAsk(
  stateFile: string,
  poll: () => Promise<Report>,
  world: CommandWorld,
): Promise<StatusResult> {
  const untilMs = world.monotonicMs() + MAX_WAIT_MS;
  while (world.monotonicMs() < untilMs) {
    try {
      return polled(await poll(), world);
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
        return await statusOf(daemon, world);
      }
    }
    await sleep(RETRY_MS);
  }
  throw new CommandError(
    `Cannot use the state file ${stateFile}: another synclag has held it for two minutes`,
  );
}

function polled(json: Report, { packageRoot }: CommandWorld): StatusResult {
  return { json, statusesUrl: `${packageRoot}docs/statuses.md` };
}

/** The status of a running daemon; `written`: its address. @throws {CommandError} If the request fails. */
async function statusOf(written: string, world: CommandWorld, timeoutMs?: number): Promise<StatusResult> {
  const { answer, origin } = await askDaemon("/api/v1/status", ReportSchema, written, world, timeoutMs);
  return { json: answer, statusesUrl: `${origin}/docs/statuses` };
}

/** Null: nothing listens there, or another program does. */
function noAnswer(error: unknown): null {
  if (error instanceof CommandError) {
    return null;
  }
  throw error;
}

/** A server that listens on every address is reached on this machine's loopback. */
function toLoopback(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
