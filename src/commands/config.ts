import type { Config } from "../config/config.ts";
import { readProxySettings } from "../config/options.ts";
import { configJsonSchema } from "../config/schema.ts";
import { endedText, isReached } from "../core/model/end.ts";
import { endpointsOf, type Fleet, indexerKey, type Target } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { formatCount, formatList } from "../core/model/text.ts";
import { type CommandWorld, EXIT, type Flags } from "./command-world.ts";
import { loadConfig } from "./load-config.ts";

/**
 * `synclag config check`: checks the configuration file and the variables for proxies, and prints a one-line summary.
 *
 * @throws {ConfigError} If either is invalid.
 */
export function configCheck(
  _flags: Flags,
  world: CommandWorld,
  [file = "chains.yaml"]: readonly string[],
): number {
  const loaded = loadConfig(file, world);
  readProxySettings(world.env);
  const config = { ...loaded, warnings: [...loaded.warnings, ...pastEnds(loaded.fleet, world.nowMs())] };
  printWarnings(config, world);
  world.out(summarize(config));
  return EXIT.ok;
}

/** `synclag config schema`: the JSON Schema of chains.yaml, with which editors check and complete it. */
export function configSchema(_flags: Flags, { out }: CommandWorld): number {
  out(JSON.stringify(configJsonSchema(), null, 2));
  return EXIT.ok;
}

/** Warns of the entries whose `until` is a past day. Without a poll it is unknown whether a block was reached. */
function pastEnds({ chains, indexers }: Fleet, nowMs: number): readonly string[] {
  const past = ({ until }: Pick<Target, "until">) =>
    typeof until === "string" && isReached(until, 0, nowMs) ? endedText(until) : null;
  const entries = indexers.flatMap((indexer) => {
    const targets = indexer.endpoints.flatMap((one) => one.targets);
    return Array.from(groupBy(targets, past), ([text, own]) => {
      const slugs = own.length === targets.length ? "" : ` on ${formatList(own.map(({ chain }) => chain))}`;
      return [`${indexerKey(indexer)}${slugs}`, text] as const;
    });
  });
  return [...chains.map((chain) => [`chains.${chain.slug}`, past(chain)] as const), ...entries].flatMap(
    ([name, text]) => (text === null ? [] : `${name} ${text}: remove the entry when nobody uses it any more`),
  );
}

/** Prints the warnings about a valid configuration. */
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
