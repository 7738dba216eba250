import { budgetWarnings } from "../budgets/warnings.ts";
import { indexerKey } from "../core/model/fleet.ts";
import { createRedact } from "../core/model/redact.ts";
import type { Config } from "./config.ts";
import { resolveFleet } from "./resolve/fleet.ts";
import { resolveMaintenance } from "./resolve/maintenance.ts";
import type { ResolveContext } from "./resolve/resolve-context.ts";
import { type Environment, SecretStore } from "./resolve/secrets.ts";
import { retiredServiceWarnings } from "./retired-services.ts";
import type { ConfigFile } from "./schema/config-file.ts";
import { locateProblems } from "./schema/locate-problems.ts";
import { readShape, type Shaped } from "./schema/read-shape.ts";
import { singleSourceWarning } from "./single-source.ts";
import { configErrorIn, type Path } from "./yaml/config-error.ts";
import { ProblemList } from "./yaml/problem-list.ts";
import { readYaml, type YamlFile } from "./yaml/read-yaml.ts";

/** Where a configuration comes from. */
export interface ParseOptions extends Environment {
  /** The path as the user gave it; every problem begins with it. */
  readonly file: string;
}

/**
 * Parses chains.yaml: fills in its templates, reads its secrets and chooses its schedules.
 *
 * @throws {ConfigError} If anything is wrong with it: all problems at once, or the first 100, without secrets.
 */
export function parseConfig(text: string, options: ParseOptions): Config {
  const yaml = readYaml(text);
  const problems = new ProblemList(yaml.problems.map(({ path }) => path));
  const secrets = new SecretStore(options);
  const config = yaml.readable ? resolveConfig(yaml, { problems, secrets, file: options.file }) : null;
  const located = locateProblems(yaml, problems.all, createRedact(secrets.all));
  if (config === null || located.problems.length > 0) {
    throw configErrorIn(options.file, located);
  }
  return config;
}

interface ParseState {
  readonly file: string;
  readonly problems: ProblemList;
  readonly secrets: SecretStore;
}

function resolveConfig(yaml: YamlFile, state: ParseState): Config | null {
  const { problems, secrets, file } = state;
  if (yaml.value === null) {
    problems.addProblem([], "Cannot use an empty file: expected a map with version, chains and protocols");
    return null;
  }
  checkVariables(yaml.value, problems);
  const shaped = readShape(yaml.value, problems);
  if (shaped === null) {
    return null;
  }
  const context = resolveContext(shaped, yaml, state);
  const { entry } = shaped;
  const names = publicNames(entry);
  const maintenance = resolveMaintenance(entry, context);
  const fleet = resolveFleet(entry, context);
  return {
    file,
    listen: entry.listen,
    poll: {
      concurrency: entry.poll.concurrency,
      perHost: entry.poll.per_host,
      timeoutMs: entry.poll.timeout,
      retries: entry.poll.retries,
      maxResponseBytes: entry.poll.max_response,
    },
    fleet,
    maintenance,
    warnings: [
      ...fleet.skipped.map((indexer) => `${indexerKey(indexer)} is skipped: ${indexer.why}`),
      ...budgetWarnings(fleet),
      ...retiredServiceWarnings(fleet),
      ...singleSourceWarning(fleet),
    ],
    secrets: secrets.all.filter((secret) => !names.has(secret)),
    variables: secrets.variables,
  };
}

/** Names that metrics and logs contain anyway: `?network=base` is no key. */
function publicNames({ chains, protocols }: ConfigFile): ReadonlySet<string> {
  const indexers = Object.values(protocols).flat();
  return new Set([
    ...Object.keys(chains),
    ...Object.keys(protocols),
    ...indexers.flatMap(({ variant, tier }) => [variant, tier]),
  ]);
}

function resolveContext(
  { inFile }: Shaped,
  yaml: YamlFile,
  { problems, secrets }: ParseState,
): ResolveContext {
  return {
    secrets,
    addProblem: (path, message) => problems.addProblem(inFile(path), message),
    addKeyProblem: (path, message) => problems.addKeyProblem(inFile(path), message),
    hasProblemAt: (path) => problems.hasProblemAt(inFile(path)),
    sourceOf: (path) => yaml.sourceOf(inFile(path)),
  };
}

/** Adds a problem for each `${…}` where none is replaced. */
function checkVariables(value: unknown, problems: ProblemList): void {
  for (const path of variablePaths(value, [])) {
    if (!mayHaveVariables(path)) {
      problems.addProblem(path, `Cannot use \${…} here: variables work only in url, headers and rpc`);
    }
  }
}

function variablePaths(value: unknown, path: Path): readonly Path[] {
  if (typeof value === "string") {
    return value.includes("${") ? [path] : [];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => variablePaths(item, [...path, index]));
  }
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, item]) => variablePaths(item, [...path, key]))
    : [];
}

/** `chains.x.rpc[0]`, `protocols.x[0].url`, `protocols.x[0].status.url`, `protocols.x[0].chains.base.url`, and `headers.Name`. */
function mayHaveVariables([section, , third, ...rest]: Path): boolean {
  if (section === "chains") {
    return third === "rpc";
  }
  const [key, name] = rest[0] === "chains" && rest.length > 2 ? rest.slice(2) : rest;
  return (
    section === "protocols" &&
    (key === "url" || (key === "headers" && name !== undefined) || (key === "status" && name === "url"))
  );
}
