import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import { endpointsOf, type Fleet, indexerKey } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { createRedact } from "../core/model/redact.ts";
import { formatCount, formatList } from "../core/model/text.ts";
import { whyFailed } from "../core/model/why-failed.ts";
import { resolveReceiver } from "./address.ts";
import type { Config } from "./config.ts";
import { idWarnings, resolveFleet, type Sections } from "./fleet.ts";
import { Problems } from "./problems.ts";
import { ConfigFile, IncludedFile } from "./schema.ts";
import { type Environment, Secrets } from "./secrets.ts";
import { checkKnown, describeValue, parseSections, sectionsIn } from "./shape.ts";
import { readYaml } from "./yaml.ts";

/** How the files of a configuration are read. */
export interface ParseOptions extends Environment {
  /** The path as the user gave it; every problem begins with it. */
  readonly file: string;
  /**
   * The names in a folder that match, sorted; throws if the folder cannot be read. If absent, every pattern of `include` matches
   * nothing.
   */
  readonly listFiles?: (folder: string, pattern: RegExp) => readonly string[];
}

/**
 * Parses chains.yaml: fills in its templates, reads its secrets and chooses its schedules.
 *
 * @throws {ConfigError} If anything is wrong with it. The error has the first 100 problems, without secrets. If a file cannot be
 * read, it has only the problems found until then.
 */
export function parseConfig(text: string, options: ParseOptions): Config {
  const problems = new Problems();
  const sections = readSections(text, problems, options);
  const secrets = new Secrets(options);
  const { fleet, maintenance } = resolveFleet(sections, secrets);
  const shown = resolvePublic(sections);
  checkNotify(sections);
  const notify = resolveReceiver(sections.notify, secrets);
  const heartbeat = resolveReceiver(sections.heartbeat, secrets);
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
      ...idWarnings(sections),
      ...sourceWarnings(fleet),
    ],
    secrets: secrets.all.filter((secret) => !names.has(secret)),
    variables: secrets.variables,
  };
}

/** Parses the main file and the included files as one. @throws {ConfigError} If a file cannot be read, or is not a YAML map. */
function readSections(text: string, problems: Problems, options: ParseOptions): Sections {
  const main = sectionsIn(ConfigFile, readYaml(text, options.file, problems));
  if (main === null) {
    throw problems.toError();
  }
  const { include } = parseSections(ConfigFile.pick({ include: true }), main, []);
  const texts = new Map<string, string | null>();
  for (const { value: pattern, spot } of include ?? []) {
    try {
      for (const path of pathsOf(pattern ?? "", options)) {
        texts.set(path, options.readFile(path));
      }
    } catch (error) {
      texts.set(String(pattern), null);
      spot.add(`cannot read ${describeValue(pattern)}: ${whyFailed(error)}`);
    }
  }
  const files = Array.from(texts, ([path, included]) =>
    included === null ? null : sectionsIn(IncludedFile, readYaml(included, path, problems)),
  );
  const readable = files.filter((file) => file !== null);
  const sections = parseSections(ConfigFile, main, readable);
  if (readable.length < files.length) {
    throw problems.toError();
  }
  return sections;
}

/**
 * The paths that match a pattern of `include`, without the main file. A last part without `*` names one file, which may be
 * missing. @throws {Error} If the folder cannot be read, or no other file matches a `*`.
 */
function pathsOf(pattern: string, { file, listFiles = () => [] }: ParseOptions): readonly string[] {
  const path = isAbsolute(pattern) ? pattern : join(dirname(file), pattern);
  const name = basename(path);
  if (!name.includes("*")) {
    return [path];
  }
  // As in a shell, a leading dot is not matched: a ConfigMap is mounted with folders such as ..data.
  const regex = name.replace(/[.+^$()[\]{}?|\\]/g, String.raw`\$&`).replaceAll("*", ".*");
  const names = namesIn(dirname(path), new RegExp(`^(?!\\.)${regex}$`), listFiles);
  const paths = names.map((one) => join(dirname(path), one)).filter((one) => one !== normalize(file));
  if (paths.length === 0) {
    throw new Error(names.length === 0 ? "no file matches" : "only this file matches");
  }
  return paths;
}

/** The matching names in a folder; none if there is no such folder. @throws {Error} If it cannot be read. */
function namesIn(
  folder: string,
  pattern: RegExp,
  listFiles: NonNullable<ParseOptions["listFiles"]>,
): readonly string[] {
  try {
    return listFiles(folder, pattern);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return [];
    }
    throw error;
  }
}

/** The public view. Adds a problem for each protocol that does not exist. */
function resolvePublic({ public: entry, protocols: configured }: Sections): Config["public"] {
  if (entry === undefined) {
    return null;
  }
  const { notice = null, protocols = null, title = "" } = entry.value ?? {};
  for (const [index, name] of (protocols ?? []).entries()) {
    checkKnown("protocol", name, configured, entry.spot.at("protocols", index));
  }
  return { protocols, title, notice };
}

/** Adds problems of `notify`. */
function checkNotify({ notify: entry, protocols: configured }: Sections): void {
  if (entry?.value == null) {
    return;
  }
  const { chatId, format, protocols } = entry.value;
  for (const [index, name] of (protocols ?? []).entries()) {
    checkKnown("protocol", name, configured, entry.spot.at("only", "protocols", index));
  }
  if (format === "telegram" && chatId === null) {
    entry.spot.add("chat_id is missing: format telegram needs the id of a chat");
  } else if (format !== "telegram" && chatId !== null) {
    entry.spot.at("chat_id").add("only format telegram has a chat", "key");
  }
}

/** Names that metrics and logs show anyway. They are never hidden as secrets: the `base` in `?network=base` is not a key. */
function publicNames({ chains, indexers, skipped }: Fleet): ReadonlySet<string> {
  const ids = [...indexers, ...skipped].flatMap(({ protocol, variant, tier }) => [protocol, variant, tier]);
  return new Set([...ids, ...chains.map(({ slug }) => slug)]);
}

/** A warning names at most this number of chains: there may be thousands. */
const MOST_NAMED = 10;

/** Warns of the chains whose sources all have one provider, and names that provider. */
function sourceWarnings(fleet: Fleet): readonly string[] {
  const endpoints = endpointsOf(fleet);
  const sources = endpoints.flatMap((endpoint) => {
    const asked = endpoint.kind === "rpc" ? [endpoint] : endpoint.targets;
    return asked.map(({ chain, provider = endpoint.host }) => ({ chain, provider }));
  });
  const byChain = groupBy(sources, ({ chain }) => chain);
  const watched = new Set(endpoints.flatMap(({ targets }) => targets.map(({ chain }) => chain)));
  const lone = fleet.chains.flatMap(({ slug }) => {
    const [provider, ...others] = new Set((byChain.get(slug) ?? []).map((source) => source.provider));
    return watched.has(slug) && others.length === 0 ? [`${slug} (${provider})`] : [];
  });
  const advice = "add an RPC node (rpc), or a variant of another provider";
  const rest = lone.length - MOST_NAMED;
  const more = rest > 0 ? [formatCount(rest, "more chain")] : [];
  const names = formatList([...lone.slice(0, MOST_NAMED), ...more]);
  return lone.length === 0 ? [] : [`no second provider confirms the height of ${names}; ${advice}`];
}
