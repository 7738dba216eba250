import { endpointsOf, type Fleet, indexerKey, providersOf } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { createRedact } from "../core/model/redact.ts";
import { resolveNotify } from "./address.ts";
import type { Config } from "./config.ts";
import { resolveFleet, type Sections } from "./fleet.ts";
import { readSections } from "./include.ts";
import { Problems } from "./problems.ts";
import { type Environment, Secrets } from "./secrets.ts";
import { checkKnown } from "./shape.ts";
import { readYaml } from "./yaml.ts";

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
  const problems = new Problems();
  const sections = readSections(readYaml(text, options.file), problems, options);
  const secrets = new Secrets(options);
  const { fleet, maintenance } = resolveFleet(sections, secrets);
  const shown = resolvePublic(sections);
  const notify = resolveNotify(sections.notify, secrets);
  const heartbeat = resolveNotify(sections.heartbeat, secrets);
  const [listen, poll, links] = [sections.listen.value, sections.poll.value, sections.links.value];
  if (listen === null || poll === null || links === null || !problems.isEmpty) {
    throw problems.toError(createRedact(secrets.all));
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
    public: shown,
    notify,
    heartbeat,
    cors: (sections.cors ?? []).flatMap(({ value }) => value ?? []),
    warnings: [
      ...fleet.skipped.map((indexer) => `${indexerKey(indexer)} is skipped: ${indexer.why}`),
      ...sourceWarnings(fleet),
    ],
    secrets: secrets.all.filter((secret) => !names.has(secret)),
    variables: secrets.variables,
  };
}

/** Adds a problem for each protocol that does not exist. */
function resolvePublic({ public: entry, protocols: configured }: Sections): Config["public"] {
  if (entry === undefined) {
    return null;
  }
  const { protocols = null, title = "" } = entry.value ?? {};
  for (const [index, name] of (protocols ?? []).entries()) {
    checkKnown("protocol", name, configured, entry.spot.at("protocols", index));
  }
  return { protocols, title };
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
