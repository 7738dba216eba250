import { checkRound } from "../check-round.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { parseDuration } from "../config/duration.ts";
import { fetchStatus } from "../io/fetch-status.ts";
import { createHttpClient } from "../io/http-client.ts";
import { Monitor } from "../monitor.ts";
import { applyMaxLag, selectForCheck } from "../views/check-selection.ts";
import { renderCheckTable } from "../views/check-table.ts";
import { type CheckExitCode, checkVerdict } from "../views/check-verdict.ts";
import { prometheusText } from "../views/prometheus-text.ts";
import { type StatusJson, statusJson } from "../views/status-json.ts";
import { buildOf } from "./build-info.ts";
import type { CommandWorld } from "./command-world.ts";
import { loadConfig } from "./load-config.ts";
import { createProgressLine } from "./progress-line.ts";

export interface CheckFlags {
  readonly config: string;
  /** A running daemon to ask instead of polling. */
  readonly url?: string;
  readonly maxLag?: string;
  readonly format: "table" | "json" | "prometheus";
}

/** Nothing could be learned, and mistakes of usage and configuration: `UNKNOWN` of monitoring plugins. */
const EXIT_UNKNOWN: CheckExitCode = 3;

const DAEMON_TIMEOUT_MS = 10_000;

/** `synclag check`: one look at the fleet, by itself or at a daemon's, as text for people or programs and an exit code. */
export async function check(
  filters: readonly string[],
  flags: CheckFlags,
  world: CommandWorld,
): Promise<CheckExitCode> {
  const maxLagMs = flags.maxLag === undefined ? Number.POSITIVE_INFINITY : parseDuration(flags.maxLag);
  if (maxLagMs === null) {
    return refuse(world, [
      `Cannot use --max-lag ${JSON.stringify(flags.maxLag)}: expected a duration such as 30s, 10m or 1h`,
    ]);
  }
  const learned = await (flags.url === undefined
    ? pollByItself(filters, flags.config, world)
    : askDaemon(flags.url));
  if (learned.kind === "mistakes") {
    return refuse(world, learned.mistakes);
  }
  const selected = selectForCheck(learned.json, filters);
  if (selected.kind === "mistakes") {
    return refuse(world, selected.mistakes);
  }
  const json = applyMaxLag(selected.json, maxLagMs);
  world.out(render(json, flags.format, world));
  return checkVerdict(json, selected.selections);
}

type Learned =
  | { readonly kind: "status"; readonly json: StatusJson }
  | { readonly kind: "mistakes"; readonly mistakes: readonly string[] };

async function askDaemon(url: string): Promise<Learned> {
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) {
    const found = JSON.stringify(url);
    return {
      kind: "mistakes",
      mistakes: [`Cannot ask ${found}: expected an address such as http://127.0.0.1:9855`],
    };
  }
  const answer = await fetchStatus(url, DAEMON_TIMEOUT_MS);
  return answer.kind === "status"
    ? answer
    : { kind: "mistakes", mistakes: [`Cannot ask ${new URL(url).origin}: ${answer.detail}`] };
}

/** A filter that means nothing is told before the first poll, so that it spends nothing. */
async function pollByItself(filters: readonly string[], file: string, world: CommandWorld): Promise<Learned> {
  const config = readConfig(file, world);
  if (typeof config === "string") {
    return { kind: "mistakes", mistakes: [config] };
  }
  const unpolled = new Monitor(config.fleet, { nowMs: world.nowMs, budgets: () => [] }).report();
  const selected = selectForCheck(statusJson(unpolled), filters);
  if (selected.kind === "mistakes") {
    return selected;
  }
  const chains = new Set(selected.json.targets.map(({ chain }) => chain));
  const progress = createProgressLine(world);
  await using client = createHttpClient({
    timeoutMs: config.poll.timeoutMs,
    maxResponseBytes: config.poll.maxResponseBytes,
    connectionsPerHost: config.poll.perHost,
    userAgent: `synclag/${buildOf(world).version}`,
    nowMs: world.nowMs,
  });
  const report = await checkRound(config, chains, {
    ...world,
    post: client.post,
    onProgress: (done, total) => progress.show(`Polling: ${done} of ${total} endpoints`),
  });
  progress.clear();
  return { kind: "status", json: statusJson(report) };
}

/** The configuration, or what is wrong with it. */
function readConfig(file: string, world: CommandWorld): Config | string {
  try {
    return loadConfig(file, world);
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    return error.message;
  }
}

function render(json: StatusJson, format: CheckFlags["format"], world: CommandWorld): string {
  switch (format) {
    case "json":
      return JSON.stringify(json, null, 2);
    case "prometheus":
      return prometheusText(json).trimEnd();
    case "table":
      return renderCheckTable(json, {
        color: world.outIsTerminal && world.env["NO_COLOR"] === undefined ? "ansi" : "none",
        widthColumns: world.outColumns ?? null,
      });
  }
}

function refuse(world: CommandWorld, mistakes: readonly string[]): CheckExitCode {
  for (const mistake of mistakes) {
    world.err(mistake);
  }
  return EXIT_UNKNOWN;
}
