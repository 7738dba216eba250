import type { Config } from "../config/config.ts";
import { parseConfig } from "../config/parse.ts";
import { ConfigError } from "../config/yaml/config-error.ts";
import type { CommandWorld } from "./command-world.ts";

/**
 * Reads and checks a configuration file.
 *
 * @throws {ConfigError} If the file cannot be read, or has a mistake.
 */
export function loadConfig(
  file: string,
  world: Pick<CommandWorld, "env" | "readFile" | "keepSecret">,
): Config {
  const text = readConfigFile(file, world, "--config");
  const config = parseConfig(text, { file, env: world.env, readFile: world.readFile });
  world.keepSecret(config.secrets);
  return config;
}

/**
 * The text of a file that `flag` names.
 *
 * @throws {ConfigError} If it cannot be read.
 */
export function readConfigFile(
  file: string,
  world: Pick<CommandWorld, "readFile">,
  flag: "--config" | "--web-config",
): string {
  try {
    return world.readFile(file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const why = code === "ENOENT" ? "there is no such file" : code;
    const message = `Cannot read ${file}: ${why}; name another with ${flag}`;
    throw new ConfigError(file, { problems: [{ line: 1, column: 1, path: [], message }], cause: error });
  }
}
