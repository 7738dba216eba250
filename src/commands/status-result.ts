import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import { readProxySettings } from "../config/options/proxy-settings.ts";
import { readStoreFlags, type StoreFlags } from "../config/options/read-store-flags.ts";
import type { StoreSettings } from "../config/options/store-settings.ts";
import { createRedact } from "../core/model/redact.ts";
import { checkRound } from "../daemon/check-round.ts";
import { Monitor } from "../daemon/monitor.ts";
import { openSharedBudgets } from "../daemon/state/open-shared-budgets.ts";
import { createHttpClient } from "../io/http-client/client.ts";
import { fetchStatus } from "../io/http-client/fetch-status.ts";
import { createLogger } from "../io/logger.ts";
import { StateFileError } from "../io/state/file.ts";
import { StateLockedError } from "../io/state/lock.ts";
import { findLockOwner, type LockOwner } from "../io/state/lock-owner.ts";
import { resolveStatePath, StatePathError } from "../io/state/path.ts";
import type { RedisStore, StoreWorld } from "../io/store/redis-store.ts";
import { hasCode, isSystemError } from "../io/system-error.ts";
import type { StatusJson } from "../views/api/api-schema.ts";
import { statusJson } from "../views/api/status.ts";
import { selectForCheck } from "../views/terminal/check-selection.ts";
import { buildOf, type CommandWorld } from "./command-world.ts";
import { readDaemonAddress } from "./daemon-address.ts";
import { defaultStateFile, loadConfig, STATE_FILE_NOT_USED } from "./load-config.ts";
import { colorsFor, createProgressLine } from "./terminal.ts";

/** The status, and where its words are explained; or why there is none. */
export type StatusResult =
  | { readonly kind: "status"; readonly json: StatusJson; readonly statusesUrl: string }
  | { readonly kind: "errors"; readonly errors: readonly string[] };

const DAEMON_TIMEOUT_MS = 10_000;
/** Another check does not take longer. */
const MAX_WAIT_MS = 120_000;
const RETRY_MS = 250;

/** Asks a running daemon, which spends no budget. `written`: its address as given by `--url`. */
export async function askDaemon(written: string, world: CommandWorld): Promise<StatusResult> {
  const address = readDaemonAddress(written, world);
  if (address.kind === "unusable") {
    return failed(`--url: ${address.message}`);
  }
  const answer = await fetchStatus(address, DAEMON_TIMEOUT_MS, readProxySettings(world.env));
  const { origin } = new URL(address.url);
  if (answer.kind === "status") {
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
 * Polls once, drawing on the budgets of the state file. Where a daemon holds that file, it is asked instead; where
 * another check does, its end is awaited. An unknown filter is reported before the first poll.
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
  const selected = selectForCheck(statusJson(unpolled), filters);
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
    return await pollOrAsk(withSecrets, { chains, stateFile, store: known.settings }, world);
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
    const report = await checkRound(config, chains, {
      world: { ...world, logger },
      stateFile: redis === null ? stateFile : null,
      openShared:
        redis === null
          ? null
          : (fleet) =>
              openSharedBudgets(fleet, {
                store: redis,
                name: "check",
                isDaemon: false,
                right: () => ({ kind: "free" }),
                formerStateFile: stateFile,
                world,
              }),
      post: client.post,
      onProgress: (done, total) => progress.show(`Polling: ${done} of ${total} endpoints`),
    });
    return { kind: "status", json: statusJson(report), statusesUrl: "docs/statuses.md" };
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

function failed(text: string): StatusResult {
  return { kind: "errors", errors: [text] };
}
