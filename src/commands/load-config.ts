import { dirname, join } from "node:path";
import type { Logger } from "pino";
import type { Config, ListenAddress, StoreSettings, WebSettingsSource } from "../config/config.ts";
import { readStoreFlags } from "../config/options.ts";
import { parseConfig } from "../config/parse.ts";
import { ConfigError } from "../config/problems.ts";
import { DURATION, LIMIT, parseDuration, parseLimit, parseListenAddress } from "../config/quantities.ts";
import { parseWebConfig } from "../config/web.ts";
import type { Limit } from "../core/model/limit.ts";
import { whyFailed } from "../core/model/why-failed.ts";
import { liveWebSettings } from "../io/http-server/settings.ts";
import { type CommandWorld, cannotUse, type Flags } from "./command-world.ts";

/**
 * Reads and parses chains.yaml. From then on, its secrets are kept out of logs and crash reports.
 *
 * @throws {ConfigError} If the file cannot be read or is invalid; `runCli` prints it.
 */
export function loadConfig(
  file: string,
  world: Pick<CommandWorld, "env" | "readFile" | "listFiles" | "keepSecret">,
): Config {
  const text = readConfigFile(
    file,
    world,
    "check the path (in a container, also the mount), write a file with `synclag init`, or try `synclag demo`",
  );
  const { env, readFile, listFiles } = world;
  const config = parseConfig(text, { file, env, readFile, listFiles });
  world.keepSecret(config.secrets);
  return config;
}

/**
 * Opens a web configuration, which is read again when it changes.
 *
 * @throws {ConfigError} If a file cannot be read or is invalid.
 */
export function openWebConfig(
  file: string,
  world: Pick<CommandWorld, "readFile" | "monotonicMs">,
  logger: Logger,
): WebSettingsSource {
  const { monotonicMs, readFile } = world;
  const load = () =>
    parseWebConfig(readConfigFile(file, world, "choose another with --web-config"), { file, readFile });
  return liveWebSettings(load, monotonicMs, logger);
}

/** The address of `--listen`; null without `--listen`. @throws {CommandError} If the address is invalid. */
export function readListen(flag: string | undefined): ListenAddress | null {
  const listen = flag === undefined ? null : parseListenAddress(flag);
  if (listen === null && flag !== undefined) {
    throw cannotUse("--listen", flag, "HOST:PORT such as 127.0.0.1:9855 or [::1]:9855");
  }
  return listen;
}

/** A duration of the command line in milliseconds. @throws {CommandError} If the duration is invalid. */
export function readDuration(flag: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === null) {
    throw cannotUse(flag, text, DURATION);
  }
  return ms;
}

/** A duration or a number of blocks of the command line. @throws {CommandError} If it is neither. */
export function readLimit(flag: string, text: string): Limit {
  const limit = parseLimit(text);
  if (limit === null) {
    throw cannotUse(flag, text, LIMIT);
  }
  return limit;
}

/** The store of `run` and `check`, or null. From then on, its secrets are kept out of the log. @throws {ConfigError} If it is invalid. */
export function readStore(flags: Flags, world: CommandWorld): StoreSettings | null {
  const store = readStoreFlags(flags, world);
  world.keepSecret(store?.secrets ?? []);
  return store;
}

/** The default of `--state`. */
export function defaultStateFile(configFile: string): string {
  return join(dirname(configFile), "synclag.state.json");
}

function readConfigFile(file: string, world: Pick<CommandWorld, "readFile">, advice: string): string {
  try {
    return world.readFile(file);
  } catch (error) {
    throw new ConfigError(`${file}: ${whyFailed(error)}; ${advice}`, { cause: error });
  }
}
