import { readProxySettings } from "../config/options.ts";
import type { LogFormat, LogLevel } from "../io/log-options.ts";
import { createLogger } from "../io/logger.ts";
import type { World } from "../io/world.ts";
import { buildOf, type CommandWorld, colorsFor } from "./command-world.ts";

/** The world of a daemon that logs to stderr and keeps no state. @throws {ConfigError} If a variable for proxies is invalid. */
export async function daemonWorld(
  world: CommandWorld,
  level: LogLevel,
  format: LogFormat = "pretty",
): Promise<Omit<World, "loadConfig">> {
  const proxy = readProxySettings(world.env);
  const logger = await createLogger({
    level,
    format,
    colour: colorsFor("err", world),
    redact: world.redact,
    write: world.err,
  });
  return {
    ...world,
    logger,
    onBug: world.crash,
    build: buildOf(world),
    isLifecycleEnabled: false,
    stateFile: null,
    proxy,
  };
}
