import { budgetWarnings } from "../budgets/plan.ts";
import { endpointsOf, type Fleet, indexerKey, providersOf } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { createRedact } from "../core/model/redact.ts";
import { resolveNotify } from "./address.ts";
import type { Config } from "./config.ts";
import { resolveFleet, type Sections } from "./fleet.ts";
import { readWithIncludes } from "./include.ts";
import { Problems, type Spot } from "./problems.ts";
import { ConfigFile, type PublicEntry } from "./schema.ts";
import { type Environment, Secrets } from "./secrets.ts";
import { didYouMean, parseSections } from "./shape.ts";

/** Where a configuration comes from. */
export interface ParseOptions extends Environment {
  /** The path as the user gave it; every problem begins with it. */
  readonly file: string;
  /** The names in a folder that match, sorted; throws if it cannot be read. Without it, a pattern of \`include\` matches nothing. */
  readonly listFiles?: (folder: string, pattern: RegExp) => readonly string[];
}

/**
 * Parses chains.yaml: fills in its templates, reads its secrets and chooses its schedules.
 *
 * @throws {ConfigError} If anything is wrong with it: all problems at once, or the first 100, without secrets.
 */
export function parseConfig(text: string, options: ParseOptions): Config {
  const yaml = readWithIncludes(text, options);
  const problems = new Problems(yaml);
  if (!yaml.readable) {
    problems.throwIfAny();
  }
  const { top } = problems;
  const secrets = new Secrets(options);
  const sections = parseSections(ConfigFile, yaml.value, top);
  const { fleet, maintenance } = resolveFleet(sections, top, secrets);
  const { listen, poll, links, cors, notify, heartbeat } = sections;
  const shown = sections.public && resolvePublic(sections.public, sections.protocols, top.at("public"));
  const told = notify && resolveNotify(notify, top.at("notify"), secrets);
  const pinged = heartbeat && resolveNotify(heartbeat, top.at("heartbeat"), secrets);
  problems.throwIfAny(createRedact(secrets.all));
  if (listen === null || poll === null || links === null || cors === null) {
    throw new RangeError("Cannot use a section that is broken: a problem was added");
  }
  const names = publicNames(fleet);
  return {
    file: options.file,
    listen,
    poll: {
      concurrency: poll.concurrency,
      perHost: poll.per_host,
      timeoutMs: poll.timeout,
      retries: poll.retries,
      maxResponseBytes: poll.max_response,
    },
    fleet,
    maintenance,
    links: {
      alertmanager: links.alertmanager ?? null,
      grafana: links.grafana ?? null,
      runbooks: links.runbooks ?? null,
    },
    public: shown ?? null,
    notify: told ?? null,
    heartbeat: pinged ? { ...pinged, everyMs: heartbeat.every } : null,
    cors: cors.flatMap((origin) => origin ?? []),
    warnings: [
      ...fleet.skipped.map((indexer) => `${indexerKey(indexer)} is skipped: ${indexer.why}`),
      ...budgetWarnings(fleet),
      ...sourceWarnings(fleet),
    ],
    secrets: secrets.all.filter((secret) => !names.has(secret)),
    variables: secrets.variables,
  };
}

/** Adds a problem for each protocol that does not exist. */
function resolvePublic(
  { protocols, title }: PublicEntry,
  configured: Sections["protocols"],
  spot: Spot,
): Config["public"] {
  for (const [index, name] of (protocols ?? []).entries()) {
    if (configured?.has(name) === false) {
      const hint = didYouMean(name, [...configured.keys()]);
      spot.at("protocols", index).add(`unknown protocol "${name}"${hint}`);
    }
  }
  return { protocols: protocols ?? null, title };
}

/** Names that metrics and logs contain anyway: `?network=base` is no key. */
function publicNames({ chains, indexers, skipped }: Fleet): ReadonlySet<string> {
  const ids = [...indexers, ...skipped].flatMap(({ protocol, variant, tier }) => [protocol, variant, tier]);
  return new Set([...ids, ...chains.map(({ slug }) => slug)]);
}

/** A sentence about the chains on which nothing confirms a height, if there are any. */
function sourceWarnings(fleet: Fleet): readonly string[] {
  const endpoints = endpointsOf(fleet);
  const sources = endpoints.flatMap((endpoint) =>
    providersOf(endpoint).map(({ provider }, index) => ({
      provider,
      chain: endpoint.targets[index]?.chain ?? endpoint.chain,
    })),
  );
  const byChain = groupBy(sources, ({ chain }) => chain);
  const watched = new Set(endpoints.flatMap(({ targets }) => targets.map(({ chain }) => chain)));
  const lone = fleet.chains.flatMap(({ slug }) => {
    const [provider, ...others] = new Set((byChain.get(slug) ?? []).map((source) => source.provider));
    return watched.has(slug) && others.length === 0 ? [`${slug} (${provider})`] : [];
  });
  const advice = "add an RPC node (rpc), or a variant of another provider";
  return lone.length === 0
    ? []
    : [`${lone.join(", ")}: all sources have one provider, so nothing confirms a height; ${advice}`];
}
