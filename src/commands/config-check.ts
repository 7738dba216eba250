import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/yaml/config-error.ts";
import { type CommandWorld, EXIT } from "./command-world.ts";
import { loadConfig } from "./load-config.ts";

/** Tells every problem of a configuration file at once; of a valid file, in one line, what it watches. */
export function configCheck({ file, ...world }: CommandWorld & { readonly file: string }): number {
  let config: Config;
  try {
    config = loadConfig(file, world);
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    world.err(error.message);
    return EXIT.usage;
  }
  for (const warning of config.warnings) {
    world.err(`${file}: warning: ${warning}`);
  }
  world.out(summarize(config));
  return EXIT.ok;
}

function summarize({ file, fleet, warnings }: Config): string {
  const { chains, indexers, rpcEndpoints, skipped } = fleet;
  const endpoints = [...indexers.flatMap((indexer) => indexer.endpoints), ...rpcEndpoints];
  const protocols = new Set([...indexers, ...skipped].map(({ protocol }) => protocol));
  const parts = [
    counted(chains.length, "chain"),
    counted(protocols.size, "protocol"),
    counted(indexers.length, "indexer"),
    counted(endpoints.length, "endpoint"),
    counted(
      endpoints.reduce((total, { targets }) => total + targets.length, 0),
      "target",
    ),
    `${skipped.length} skipped`,
    counted(warnings.length, "warning"),
  ];
  return `${file} is valid: ${parts.join(", ")}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
