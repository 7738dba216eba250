import { budgetWarnings } from "../budgets/plan.ts";
import { endpointsOf, type Fleet, indexerKey } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { createRedact } from "../core/model/redact.ts";
import type { Config } from "./config.ts";
import { resolveFleet, type Sections } from "./fleet.ts";
import { readWithIncludes } from "./include.ts";
import { resolveNotify } from "./notify.ts";
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
  const { file } = options;
  const yaml = readWithIncludes(text, options);
  const problems = new Problems(file, yaml);
  const secrets = new Secrets(options);
  const sections = parseSections(ConfigFile, yaml.readable ? yaml.value : undefined, problems.top);
  const { fleet, maintenance } = resolveFleet(sections, problems.top, secrets);
  const { listen, poll, links, cors, notify, heartbeat } = sections;
  const shown =
    sections.public && resolvePublic(sections.public, sections.protocols, problems.top.at("public"));
  const told = notify && resolveNotify(notify, problems.top.at("notify"), secrets);
  const pinged = heartbeat && resolveNotify(heartbeat, problems.top.at("heartbeat"), secrets);
  problems.throwIfAny(createRedact(secrets.all));
  if (listen === null || poll === null || links === null || cors === null) {
    throw new RangeError("Cannot use a section that is broken: a problem was added");
  }
  const names = publicNames(fleet);
  return {
    file,
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
    const known = [...(configured?.keys() ?? [])];
    if (configured !== null && !known.includes(name)) {
      spot
        .at("protocols")
        .at(index)
        .add(() => `unknown protocol "${name}"${didYouMean(name, known)}`);
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
  const sources = endpointsOf(fleet).flatMap(({ kind, chain, host, provider = host, targets }) =>
    kind === "rpc"
      ? [{ chain, provider, isNode: true }]
      : targets.map((target) => ({ chain: target.chain, provider: target.provider ?? host, isNode: false })),
  );
  const byChain = groupBy(sources, ({ chain }) => chain);
  // The nodes come last: a chain that begins with one has no target.
  const chains = fleet.chains
    .map(({ slug }) => ({ slug, own: byChain.get(slug) ?? [] }))
    .filter(({ own }) => own[0]?.isNode === false);
  const lone = chains.filter(({ own }) => own.length === 1);
  const dependent = chains.filter(
    ({ own }) => own.length > 1 && own.every(({ provider }) => provider === own[0]?.provider),
  );
  const listed = (some: typeof chains): string => some.map(({ slug }) => slug).join(", ");
  const advice = "add an RPC node (rpc) or another variant";
  const warnings = [...groupBy(dependent, ({ own }) => own[0]?.provider)].map(
    ([provider, some]) =>
      `${listed([...some])}: all sources have one provider, ${provider}, so nothing confirms their heights; ${advice} of another provider`,
  );
  return lone.length === 0
    ? warnings
    : [
        `${listed(lone)}: a single source, so nothing confirms its height, and lag is measured against the clock; ${advice}`,
        ...warnings,
      ];
}
