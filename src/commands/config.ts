import type { Config } from "../config/config.ts";
import { proxyProblems } from "../config/options.ts";
import { configJsonSchema } from "../config/schema.ts";
import { type CommandWorld, EXIT } from "./command-world.ts";
import { loadConfig } from "./load-config.ts";

/**
 * `synclag config check`: a one-line summary of a valid configuration file, if the variables for proxies are valid too.
 *
 * @throws {ConfigError} With the problems of an invalid file.
 */
export function configCheck(file: string, world: CommandWorld): number {
  const outsideOfFile = proxyProblems(world.env);
  for (const problem of outsideOfFile) {
    world.err(problem);
  }
  const config = loadConfig(file, world);
  if (outsideOfFile.length > 0) {
    return EXIT.usage;
  }
  printWarnings(config, world);
  world.out(summarize(config));
  return EXIT.ok;
}

/** `synclag config schema`: the JSON Schema of chains.yaml, with which editors check and complete it. */
export function configSchema({ out }: Pick<CommandWorld, "out">): number {
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
  const { chains, indexers, rpcEndpoints, skipped } = fleet;
  const endpoints = [...indexers.flatMap((indexer) => indexer.endpoints), ...rpcEndpoints];
  const protocols = new Set([...indexers, ...skipped].map(({ protocol }) => protocol));
  const targets = endpoints.reduce((total, endpoint) => total + endpoint.targets.length, 0);
  const parts = [
    counted(chains.length, "chain"),
    counted(protocols.size, "protocol"),
    counted(indexers.length, "indexer"),
    counted(endpoints.length, "endpoint"),
    counted(targets, "target"),
    `${skipped.length} skipped`,
    counted(warnings.length, "warning"),
  ];
  return `${file} is valid: ${parts.join(", ")}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
