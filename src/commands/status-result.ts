import { setTimeout as sleep } from "node:timers/promises";
import type { Config, StoreSettings } from "../config/config.ts";
import { readProxySettings, readStoreFlags, type StoreFlags } from "../config/options.ts";
import { createRedact } from "../core/model/redact.ts";
import { type Report, STATUSES } from "../core/model/report.ts";
import { checkRound } from "../daemon/check-round.ts";
import type { SharedRecord } from "../daemon/daemon.ts";
import { Monitor } from "../daemon/monitor.ts";
import { spentInFile } from "../daemon/state/carry-over.ts";
import { createHttpClient } from "../io/http-client/client.ts";
import { fetchStatus, fetchVersion } from "../io/http-client/fetch-status.ts";
import { createLogger } from "../io/logger.ts";
import { findLockOwner, type LockOwner, StateLockedError } from "../io/state/lock.ts";
import { resolveStatePath, StateFileError, StatePathError } from "../io/state/path.ts";
import type { RedisStore, StoreWorld } from "../io/store/redis-store.ts";
import { hasCode, isSystemError } from "../io/system-error.ts";
import type { StoreCheck, StoreCheckOptions } from "../replica/check-store.ts";
import { selectForCheck } from "../views/terminal/check.ts";
import { buildOf, type CommandWorld } from "./command-world.ts";
import { readDaemonAddress } from "./daemon-address.ts";
import { defaultStateFile, loadConfig, STATE_FILE_NOT_USED } from "./load-config.ts";
import { colorsFor, createProgressLine } from "./terminal.ts";

/** The status, and where its words are explained; or why there is none. */
export type StatusResult =
  | { readonly kind: "status"; readonly json: Report; readonly statusesUrl: string }
  | { readonly kind: "errors"; readonly errors: readonly string[] };

const DAEMON_TIMEOUT_MS = 10_000;
/** On this machine. */
const LISTENER_TIMEOUT_MS = 2_000;
/** Another check does not take longer. */
const MAX_WAIT_MS = 120_000;
const RETRY_MS = 250;

/** Asks a running daemon, which spends no budget. `written`: its address as given by `--url`. */
export async function askDaemon(written: string, world: CommandWorld): Promise<StatusResult> {
  const address = readDaemonAddress(written, world);
  if (address.kind === "unusable") {
    return failed(`--url: ${address.message}`);
  }
  const proxy = readProxySettings(world.env);
  const answer = await fetchStatus(address, DAEMON_TIMEOUT_MS, proxy);
  const { origin } = new URL(address.url);
  if (answer.kind === "status") {
    const known = new Set<string>(STATUSES);
    const unknown = new Set(
      answer.json.targets.map(({ status }) => status).filter((word) => !known.has(word)),
    );
    if (unknown.size > 0) {
      const version = await fetchVersion(address, DAEMON_TIMEOUT_MS, proxy);
      world.err(
        `Warning: the daemon at ${origin} (version ${version ?? "unknown"}) reports statuses that this version (${buildOf(world).version}) does not know, which count as not ok: ${[...unknown].join(", ")}`,
      );
    }
    return { ...answer, statusesUrl: `${origin}/docs/statuses` };
  }
  const advice = answer.guard === null ? "" : `; ${ADVICE[answer.guard]}`;
  return failed(`Cannot ask ${origin}: ${answer.detail}${advice}`);
}

/** How to get past a web configuration. */
const ADVICE = {
  password: `name a user as in --url 'https://USER:\${PASSWORD}@HOST:PORT'`,
  tls: "use a name of its certificate as in --url https://HOST:PORT, and trust your own certificate authority with NODE_EXTRA_CA_CERTS=FILE",
} as const;

/**
 * Polls once, drawing on the budgets of the state file. Where a daemon holds that file, it is asked instead, or, without `--state`
 * and `--store`, the daemon that answers on the configuration's `listen` address and serves all of its targets. Where another
 * check holds the file, its end is awaited. An unknown filter is reported before the first poll.
 *
 * @throws {ConfigError} If the configuration is invalid.
 */
export async function pollLocally(
  filters: readonly string[],
  flags: StoreFlags & { readonly config: string; readonly state?: string },
  world: CommandWorld,
): Promise<StatusResult> {
  const config = loadConfig(flags.config, world);
  const unpolled = new Monitor(config.fleet, { nowMs: world.nowMs, budgets: () => [] }).report();
  const configured = unpolled;
  const selected = selectForCheck(configured, filters);
  if (selected.kind === "errors") {
    return selected;
  }
  const chains = new Set(selected.json.targets.map(({ chain }) => chain));
  const stateFile = flags.state ?? defaultStateFile(flags.config);
  const store = readStoreFlags(flags, world);
  if (store.kind === "unusable") {
    return failed(store.message);
  }
  const known = store.kind === "store" ? store : { settings: null, secrets: [] };
  world.keepSecret(known.secrets);
  const withSecrets = { ...config, secrets: [...config.secrets, ...known.secrets] };
  try {
    if (known.settings === null) {
      await warnOfSecondLedger(flags, world);
    } else if (flags.state !== undefined) {
      world.err(`Warning: ${STATE_FILE_NOT_USED}`);
    }
    const mayAskListener = flags.state === undefined && flags.store === undefined;
    const listener = mayAskListener ? await findListener(config, configured, world) : null;
    return listener === null
      ? await pollOrAsk(withSecrets, { chains, stateFile, store: known.settings }, world)
      : await askDaemon(listener, world);
  } catch (error) {
    return failed(messageForUser(error));
  }
}

/** @throws The error itself where it is a bug. */
function messageForUser(error: unknown): string {
  if (error instanceof StatePathError || error instanceof StateFileError) {
    return error.message;
  }
  if (!(isSystemError(error) && error instanceof Error)) {
    throw error;
  }
  return `Cannot check: ${error.message}`;
}

interface Round {
  readonly chains: ReadonlySet<string>;
  readonly stateFile: string;
  /** The store that counts the budgets, in place of the state file. */
  readonly store: StoreSettings | null;
}

async function pollOrAsk(config: Config, round: Round, world: CommandWorld): Promise<StatusResult> {
  const { stateFile } = round;
  const untilMs = world.monotonicMs() + MAX_WAIT_MS;
  while (world.monotonicMs() < untilMs) {
    const owner = round.store === null ? await findOwner(stateFile) : null;
    if (owner !== null && owner.url !== "") {
      return await askOwner(owner, stateFile, world);
    }
    const result = owner === null ? await pollOnce(config, round, world) : null;
    if (result !== null) {
      return result;
    }
    await sleep(RETRY_MS);
  }
  return failed(`Cannot use the state file ${stateFile}: another synclag has held it for two minutes`);
}

/** Two state files count one budget twice: together a daemon and this check may send more than it allows. */
async function warnOfSecondLedger(
  { config, state }: { readonly config: string; readonly state?: string },
  world: CommandWorld,
): Promise<void> {
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

async function askOwner(
  { pid, url }: LockOwner,
  stateFile: string,
  world: CommandWorld,
): Promise<StatusResult> {
  const local = toLoopback(url);
  world.err(`Asking the running daemon at ${local} (pid ${pid}), which holds ${stateFile}; polling nothing`);
  return await askDaemon(local, world);
}

/** A server that listens on every address is reached on this machine's loopback. */
function toLoopback(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** Null where another process was faster to lock the state file. */
async function pollOnce(
  config: Config,
  { chains, stateFile, store }: Round,
  world: CommandWorld,
): Promise<StatusResult | null> {
  const progress = createProgressLine(world);
  const logger = await createLogger({
    level: "warn",
    format: "pretty",
    colour: colorsFor("err", world),
    redact: () => createRedact(config.secrets),
    write: world.err,
  });
  await using client = createHttpClient({
    timeoutMs: config.poll.timeoutMs,
    maxResponseBytes: config.poll.maxResponseBytes,
    connectionsPerHost: config.poll.perHost,
    userAgent: `synclag/${buildOf(world).version}`,
    nowMs: world.nowMs,
    proxy: readProxySettings(world.env),
  });
  try {
    await using redis = store === null ? null : await openRedis(store, { ...world, logger });
    const poll = (shared: SharedRecord | null): Promise<Report> =>
      checkRound(config, chains, {
        world: { ...world, logger },
        stateFile: shared === null ? stateFile : null,
        shared,
        post: client.post,
        onProgress: (done, total) => progress.show(`Polling: ${done} of ${total} endpoints`),
      });
    if (redis === null) {
      return statusOf(await poll(null));
    }
    const result = await checkStore(config, {
      store: redis,
      former: await spentInFile(stateFile),
      world: { ...world, logger, onBug: world.crash },
      poll,
      onLeader: (name) =>
        world.err(`Reading the report of ${name}, which leads, from the store; polling nothing`),
    });
    return result.kind === "failed" ? failed(result.message) : statusOf(result.report);
  } catch (error) {
    if (!(error instanceof StateLockedError)) {
      throw error;
    }
    return null;
  } finally {
    progress.clear();
  }
}

/** The client is loaded only where there is a store. */
async function openRedis(settings: StoreSettings, world: StoreWorld): Promise<RedisStore> {
  const { RedisStore: Store } = await import("../io/store/redis-store.ts");
  return await Store.open(settings, world);
}

async function checkStore(config: Config, options: StoreCheckOptions): Promise<StoreCheck> {
  const { checkInStore } = await import("../replica/check-store.ts");
  return await checkInStore(config, options);
}

function statusOf(report: Report): StatusResult {
  return { kind: "status", json: report, statusesUrl: "docs/statuses.md" };
}

function failed(text: string): StatusResult {
  return { kind: "errors", errors: [text] };
}
