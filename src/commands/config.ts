import type { Config } from "../config/config.ts";
import { readProxySettings } from "../config/options.ts";
import { configJsonSchema } from "../config/schema.ts";
import { endpointsOf } from "../core/model/fleet.ts";
import { formatCount } from "../core/model/text.ts";
import { type CommandWorld, EXIT, type Flags } from "./command-world.ts";
import { loadConfig } from "./load-config.ts";

/**
 * `synclag config check`: a one-line summary of a valid configuration file, if the variables for proxies are valid too.
 *
 * @throws {ConfigError} With the problems of an invalid file, or of the variables.
 */
export function configCheck(
  _flags: Flags,
  world: CommandWorld,
  [file = "chains.yaml"]: readonly string[],
): number {
  const config = loadConfig(file, world);
  readProxySettings(world.env);
  printWarnings(config, world);
  world.out(summarize(config));
  return EXIT.ok;
}

/** `synclag config schema`: the JSON Schema of chains.yaml, with which editors check and complete it. */
export function configSchema(_flags: Flags, { out }: CommandWorld): number {
  out(JSON.stringify(configJsonSchema(), null, 2));
  return EXIT.ok;
}

/** Prints what deserves attention in a valid configuration. */
export function printWarnings({ file, warnings }: Config, { err }: Pick<CommandWorld, "err">): void {
  for (const warning of warnings) {
    err(`${file}: warning: ${warning}`);
  }
}

function summarize({ file, fleet, warnings }: Config): string {
  const { chains, indexers, skipped } = fleet;
  const endpoints = endpointsOf(fleet);
  const protocols = new Set([...indexers, ...skipped].map(({ protocol }) => protocol));
  const parts = [
    formatCount(chains.length, "chain"),
    formatCount(protocols.size, "protocol"),
    formatCount(indexers.length, "indexer"),
    formatCount(endpoints.length, "endpoint"),
    formatCount(endpoints.flatMap(({ targets }) => targets).length, "target"),
    `${skipped.length} skipped`,
    formatCount(warnings.length, "warning"),
  ];
  return `${file} is valid: ${parts.join(", ")}`;
}
