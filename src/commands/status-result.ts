import { setTimeout as sleep } from "node:timers/promises";
import type { BudgetRecord } from "../budgets/gate.ts";
import { basicAuthorization, readWebUrl } from "../config/address.ts";
import type { Config, StoreSettings } from "../config/config.ts";
import { readProxySettings, readStoreFlags, readUrlOption, type StoreFlags } from "../config/options.ts";
import { Secrets } from "../config/secrets.ts";
import { createRedact } from "../core/model/redact.ts";
import { type Report, STATUSES } from "../core/model/report.ts";
import { checkRound } from "../daemon/check-round.ts";
import { Monitor } from "../daemon/monitor.ts";
import {
  type FailedAnswer,
  fetchJson,
  fetchStatus,
  fetchVersion,
  type StatusQuestion,
} from "../io/http-client/fetch-status.ts";
import { createLogger } from "../io/logger.ts";
import { spentInFile } from "../io/state/file.ts";
import { findLockOwner, type LockOwner, StateLockedError } from "../io/state/lock.ts";
import { resolveStatePath, StateFileError, StatePathError } from "../io/state/path.ts";
import { hasCode, isSystemError } from "../io/system-error.ts";
import { selectForCheck } from "../views/terminal/check.ts";
import { buildOf, CommandError, type CommandWorld } from "./command-world.ts";
import { defaultStateFile, loadConfig, STATE_FILE_NOT_USED } from "./load-config.ts";
import { colorsFor, createProgressLine } from "./terminal.ts";

/** A report, and the address of the page about statuses. */
export interface StatusResult {
  readonly json: Report;
  readonly statusesUrl: string;
}

/** The flags of `check` that say where its status comes from, if it asks no daemon. */
export interface LocalFlags extends StoreFlags {
  readonly config: string;
  readonly state?: string;
}

const DAEMON_TIMEOUT_MS = 10_000;
/** On this machine. */
const LISTENER_TIMEOUT_MS = 2_000;
/** The longest wait for another check. */
const MAX_WAIT_MS = 120_000;
const RETRY_MS = 250;

/**
 * Asks a running daemon, which spends no budget. `written`: its address as given by `--url`.
 *
 * @throws {CommandError} If it cannot be asked.
 */
export async function askDaemon(written: string, world: CommandWorld): Promise<StatusResult> {
  const address = readDaemonAddress(written, world);
  const proxy = readProxySettings(world.env);
  const answer = await fetchStatus(address, DAEMON_TIMEOUT_MS, proxy);
  const { origin } = new URL(address.url);
  if (answer.kind === "failed") {
    throw failedAsking(address, answer);
  }
  const { json } = answer;
  const known = new Set<string>(STATUSES);
  const unknown = new Set(json.targets.map(({ status }) => status).filter((word) => !known.has(word)));
  if (unknown.size > 0) {
    const version = await fetchVersion(address, DAEMON_TIMEOUT_MS, proxy);
    world.err(
      `Warning: the daemon at ${origin} (version ${version ?? "unknown"}) reports statuses that this version (${buildOf(world).version}) does not know, which count as not ok: ${[...unknown].join(", ")}`,
    );
  }
  return { json, statusesUrl: `${origin}/docs/statuses` };
}

/**
 * What a running daemon answers at a path. `written`: its address as given by `--url`.
 *
 * @throws {CommandError} If it cannot be asked.
 */
export async function askDaemonFor(path: string, written: string, world: CommandWorld): Promise<unknown> {
  const address = readDaemonAddress(written, world);
  const answer = await fetchJson(path, address, DAEMON_TIMEOUT_MS, readProxySettings(world.env));
  if (answer.kind === "failed") {
    throw failedAsking(address, answer);
  }
  return answer.json;
}

function failedAsking({ url }: StatusQuestion, { detail, guard }: FailedAnswer): CommandError {
  const advice = guard === null ? "" : `; ${ADVICE[guard]}`;
  return new CommandError(`Cannot ask ${new URL(url).origin}: ${detail}${advice}`);
}

/** How to get past a web configuration. */
const ADVICE = {
  password: `name a user as in --url 'https://USER:\${PASSWORD}@HOST:PORT'`,
  tls: "use a name of its certificate as in --url https://HOST:PORT, and trust your own certificate authority with NODE_EXTRA_CA_CERTS=FILE",
} as const;

/**
 * Parses `--url`: http or https, with user and password if the daemon requires them. A password written as `${VAR}` or
 * `${file:/path}` needs no encoding, and is not visible in the list of processes.
 */
function readDaemonAddress(written: string, world: CommandWorld): StatusQuestion {
  const secrets = new Secrets(world);
  const url = readUrlOption("--url", written, secrets, readWebUrl);
  world.keepSecret(secrets.all);
  const { origin, pathname } = url;
  return { url: `${origin}${pathname}`.replace(/\/+$/, ""), authorization: basicAuthorization(url) };
}

/**
 * Polls once, drawing on the budgets of the state file. Where a daemon holds that file, it is asked instead, or, without `--state`
 * and `--store`, the daemon that answers on the configuration's `listen` address and serves all of its targets. Where another
 * check holds the file, its end is awaited. An unknown filter is reported before the first poll.
 *
 * @throws {ConfigError} If the configuration is invalid.
 * @throws {CommandError} If a filter selects nothing, or no status can be had.
 */
export async function pollLocally(
  filters: readonly string[],
  flags: LocalFlags,
  world: CommandWorld,
): Promise<StatusResult> {
  const config = loadConfig(flags.config, world);
  const configured = new Monitor(config.fleet, { nowMs: world.nowMs, budgets: () => [] }).report();
  const { targets } = select(configured, filters).json;
  const store = readStoreFlags(flags, world);
  const secrets = store?.secrets ?? [];
  world.keepSecret(secrets);
  const round: Round = {
    config: { ...config, secrets: [...config.secrets, ...secrets] },
    chains: new Set(targets.map(({ chain }) => chain)),
    stateFile: flags.state ?? defaultStateFile(flags.config),
    store,
  };
  try {
    if (store === null) {
      await warnOfSecondLedger(flags, world);
    } else if (flags.state !== undefined) {
      world.err(`Warning: ${STATE_FILE_NOT_USED}`);
    }
    const mayAskListener = flags.state === undefined && flags.store === undefined;
    const listener = mayAskListener ? await findListener(config, configured, world) : null;
    return await (listener === null ? pollOrAsk(round, world) : askDaemon(listener, world));
  } catch (error) {
    if (error instanceof StatePathError || error instanceof StateFileError) {
      throw new CommandError(error.message, { cause: error });
    }
    if (isSystemError(error) && error instanceof Error) {
      throw new CommandError(`Cannot check: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** What the filters of `check` select. @throws {CommandError} If one selects nothing. */
export function select(report: Report, filters: readonly string[]) {
  const selected = selectForCheck(report, filters);
  if (selected.kind === "errors") {
    throw new CommandError(selected.errors.join("\n"));
  }
  return selected;
}

interface Round {
  readonly config: Config;
  readonly chains: ReadonlySet<string>;
  readonly stateFile: string;
  /** The store with the budgets; replaces the state file. */
  readonly store: StoreSettings | null;
}

async function pollOrAsk(round: Round, world: CommandWorld): Promise<StatusResult> {
  const { stateFile, store } = round;
  const untilMs = world.monotonicMs() + MAX_WAIT_MS;
  while (world.monotonicMs() < untilMs) {
    const owner = store === null ? await findOwner(stateFile) : null;
    if (owner !== null && owner.url !== "") {
      const url = toLoopback(owner.url);
      world.err(
        `Asking the running daemon at ${url} (pid ${owner.pid}), which holds ${stateFile}; polling nothing`,
      );
      return await askDaemon(url, world);
    }
    const json = owner === null ? await pollOnce(round, world) : null;
    if (json !== null) {
      return { json, statusesUrl: `${world.packageRoot}docs/statuses.md` };
    }
    await sleep(RETRY_MS);
  }
  throw new CommandError(
    `Cannot use the state file ${stateFile}: another synclag has held it for two minutes`,
  );
}

/** Two state files count one budget twice: together a daemon and this check may send more than it allows. */
async function warnOfSecondLedger({ config, state }: LocalFlags, world: CommandWorld): Promise<void> {
  const usual = defaultStateFile(config);
  const owner = state === undefined || state === usual ? null : await findOwner(usual);
  if (owner !== null && owner.url !== "") {
    world.err(
      `Warning: the daemon at ${toLoopback(owner.url)} (pid ${owner.pid}) counts its budgets in ${usual}, this check in ${state}: together they may exceed a limit. Without --state this check asks that daemon`,
    );
  }
}

/** The daemon at the configuration's own address, if it serves all of its targets; it may serve more, with a key that is not set here. */
async function findListener(
  { listen: { host, port } }: Config,
  { targets }: Report,
  world: CommandWorld,
): Promise<string | null> {
  const url = toLoopback(`http://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const answer = await fetchStatus({ url, authorization: null }, LISTENER_TIMEOUT_MS, null);
  if (answer.kind === "failed") {
    if (answer.guard !== null) {
      world.err(
        `Warning: the server at ${url} requires a password; if it is the daemon of this configuration, ask it with --url`,
      );
    }
    return null;
  }
  const served = new Set(answer.json.targets.map(({ key }) => key));
  if (!targets.every(({ key }) => served.has(key))) {
    return null;
  }
  world.err(`Asking the running daemon at ${url}, which serves this configuration; polling nothing`);
  return url;
}

/** Null also where there is no folder for a state file: then the round runs without one, and says so. */
async function findOwner(stateFile: string): Promise<LockOwner | null> {
  try {
    return await findLockOwner(await resolveStatePath(stateFile));
  } catch (error) {
    if (error instanceof StateFileError && hasCode(error.cause, "ENOENT")) {
      return null;
    }
    throw error;
  }
}

/** A server that listens on every address is reached on this machine's loopback. */
function toLoopback(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** Null if another process has locked the state file meanwhile. */
async function pollOnce(
  { config, chains, stateFile, store }: Round,
  world: CommandWorld,
): Promise<Report | null> {
  const progress = createProgressLine(world);
  const logger = await createLogger({
    level: "warn",
    format: "pretty",
    colour: colorsFor("err", world),
    redact: () => createRedact(config.secrets),
    write: world.err,
  });
  const proxy = readProxySettings(world.env);
  const roundWorld = { ...world, logger, build: buildOf(world), proxy, onBug: world.crash };
  const poll = (shared: BudgetRecord | null): Promise<Report> =>
    checkRound(config, chains, {
      world: roundWorld,
      stateFile: shared === null ? stateFile : null,
      shared,
      onProgress: (done, total) => progress.show(`Polling: ${done} of ${total} endpoints`),
    });
  try {
    if (store === null) {
      return await poll(null);
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
    return result;
  } catch (error) {
    if (error instanceof StateLockedError) {
      return null;
    }
    throw error;
  } finally {
    progress.clear();
  }
}

/** Outside of the function that uses it: with `await using`, the compiler does not rewrite the paths of an import. */
async function loadStore() {
  const { RedisStore } = await import("../io/store/redis-store.ts");
  const { checkInStore } = await import("../replica/check-store.ts");
  return { RedisStore, checkInStore };
}
