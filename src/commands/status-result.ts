import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import { createRedact } from "../core/model/redact.ts";
import { checkRound } from "../daemon/check-round.ts";
import { Monitor } from "../daemon/monitor.ts";
import { createHttpClient } from "../io/http-client/client.ts";
import { fetchStatus } from "../io/http-client/fetch-status.ts";
import { createLogger } from "../io/logger.ts";
import { StateHeldError } from "../io/state/lock.ts";
import { findLockOwner, type LockOwner } from "../io/state/lock-owner.ts";
import type { StatusJson } from "../views/api/api-schema.ts";
import { statusJson } from "../views/api/status.ts";
import { selectForCheck } from "../views/terminal/check-selection.ts";
import { buildOf, type CommandWorld } from "./command-world.ts";
import { readDaemonAddress } from "./daemon-address.ts";
import { defaultStateFile, loadConfig } from "./load-config.ts";
import { colorsFor, createProgressLine } from "./terminal.ts";

/** The status, and where its words are explained; or why there is none. */
export type StatusResult =
  | { readonly kind: "status"; readonly json: StatusJson; readonly statusesAt: string }
  | { readonly kind: "mistakes"; readonly mistakes: readonly string[] };

const DAEMON_TIMEOUT_MS = 10_000;
/** Another check takes no longer. */
const LONGEST_WAIT_MS = 120_000;
const LOOK_MS = 250;

/** Asks a running daemon, which costs no budget. `written`: its address as `--url` has it. */
export async function askDaemon(written: string, world: CommandWorld): Promise<StatusResult> {
  const address = readDaemonAddress(written, world);
  if (address.kind === "unusable") {
    return mistake(`--url: ${address.message}`);
  }
  const answer = await fetchStatus(address, DAEMON_TIMEOUT_MS);
  const { origin } = new URL(address.url);
  if (answer.kind === "status") {
    return { ...answer, statusesAt: `${origin}/docs/statuses` };
  }
  const advice = answer.guard === null ? "" : `; ${ADVICE[answer.guard]}`;
  return mistake(`Cannot ask ${origin}: ${answer.detail}${advice}`);
}

/** What a web configuration takes: the same for who was told the address and for who found it in the state file. */
const ADVICE = {
  password: `name a user as in --url 'https://USER:\${PASSWORD}@HOST:PORT'`,
  tls: "ask for a name of its certificate as in --url https://HOST:PORT, and trust an authority of your own with NODE_EXTRA_CA_CERTS=FILE",
} as const;

/**
 * Polls once, drawing on the budgets of the state file. Where a daemon holds that file, it is asked instead; where
 * another check does, that one's end is awaited. A filter that means nothing is told before the first poll.
 *
 * @throws {ConfigError} If the configuration is invalid.
 */
export async function pollLocally(
  filters: readonly string[],
  flags: { readonly config: string; readonly state?: string },
  world: CommandWorld,
): Promise<StatusResult> {
  const config = loadConfig(flags.config, world);
  const unpolled = new Monitor(config.fleet, { nowMs: world.nowMs, budgets: () => [] }).report();
  const selected = selectForCheck(statusJson(unpolled), filters);
  if (selected.kind === "mistakes") {
    return selected;
  }
  const chains = new Set(selected.json.targets.map(({ chain }) => chain));
  const stateFile = flags.state ?? defaultStateFile(flags.config);
  const learned = await pollOrAsk(config, { chains, stateFile }, world);
  return (
    learned ?? mistake(`Cannot use the state file ${stateFile}: another synclag has held it for two minutes`)
  );
}

interface Round {
  readonly chains: ReadonlySet<string>;
  readonly stateFile: string;
}

/** Null where others hold the state file all the time, and serve nothing. */
async function pollOrAsk(config: Config, round: Round, world: CommandWorld): Promise<StatusResult | null> {
  const untilMs = world.monotonicMs() + LONGEST_WAIT_MS;
  while (world.monotonicMs() < untilMs) {
    const holder = await findLockOwner(round.stateFile);
    if (holder !== null && holder.url !== "") {
      return await askHolder(holder, round.stateFile, world);
    }
    const learned = holder === null ? await pollOnce(config, round, world) : null;
    if (learned !== null) {
      return learned;
    }
    await sleep(LOOK_MS);
  }
  return null;
}

async function askHolder(
  { pid, url }: LockOwner,
  stateFile: string,
  world: CommandWorld,
): Promise<StatusResult> {
  const here = reachable(url);
  world.err(`Asking the running daemon at ${here} (pid ${pid}), which holds ${stateFile}: nothing is polled`);
  return await askDaemon(here, world);
}

/** A server that listens on every address is asked on this machine's own. */
function reachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** Null where another process was faster to take the state file. */
async function pollOnce(
  config: Config,
  { chains, stateFile }: Round,
  world: CommandWorld,
): Promise<StatusResult | null> {
  const progress = createProgressLine(world);
  const logger = await createLogger({
    level: "warn",
    format: "pretty",
    colour: colorsFor("err", world),
    redact: () => createRedact(config.secrets),
    write: (line) => world.err(line.trimEnd()),
  });
  await using client = createHttpClient({
    timeoutMs: config.poll.timeoutMs,
    maxResponseBytes: config.poll.maxResponseBytes,
    connectionsPerHost: config.poll.perHost,
    userAgent: `synclag/${buildOf(world).version}`,
    nowMs: world.nowMs,
  });
  try {
    const report = await checkRound(config, chains, {
      world: { ...world, logger },
      stateFile,
      post: client.post,
      onProgress: (done, total) => progress.show(`Polling: ${done} of ${total} endpoints`),
    });
    return { kind: "status", json: statusJson(report), statusesAt: "docs/statuses.md" };
  } catch (error) {
    if (!(error instanceof StateHeldError)) {
      throw error;
    }
    return null;
  } finally {
    progress.clear();
  }
}

function mistake(text: string): StatusResult {
  return { kind: "mistakes", mistakes: [text] };
}
