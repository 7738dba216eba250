import { budgetWarnings } from "../budgets/warnings.ts";
import type { Config } from "./config.ts";
import { checkVariables } from "./resolve/check-variables.ts";
import { resolveFleet } from "./resolve/fleet.ts";
import { resolveMaintenance } from "./resolve/maintenance.ts";
import type { ResolveContext } from "./resolve/resolve-context.ts";
import { type Environment, SecretStore } from "./resolve/secrets.ts";
import { readShape, type Shaped } from "./schema/read-shape.ts";
import { ConfigError, type Problem } from "./yaml/config-error.ts";
import { type PathProblem, ProblemList } from "./yaml/problem-list.ts";
import { readYaml, type YamlFile } from "./yaml/read-yaml.ts";

/** Where a configuration comes from. */
export interface ParseOptions extends Environment {
  /** The path as the user gave it: it stands in front of each problem. */
  readonly file: string;
}

/**
 * Reads chains.yaml: fills in its templates, reads its secrets and chooses its cadences.
 *
 * @throws {ConfigError} If anything is wrong with it: all problems at once, none of them with a secret in it.
 */
export function parseConfig(text: string, options: ParseOptions): Config {
  const yaml = readYaml(text);
  const problems = new ProblemList(yaml.problems.map(({ path }) => path));
  const secrets = new SecretStore(options);
  const config = yaml.readable ? resolveConfig(yaml, { problems, secrets, file: options.file }) : null;
  const located = [...yaml.problems, ...problems.all.map((problem) => locate(problem, yaml))];
  if (config === null || located.length > 0) {
    const redacted = located.map((problem) => ({ ...problem, message: secrets.redact(problem.message) }));
    throw new ConfigError(options.file, { problems: redacted });
  }
  return config;
}

interface Reading {
  readonly file: string;
  readonly problems: ProblemList;
  readonly secrets: SecretStore;
}

function resolveConfig(yaml: YamlFile, reading: Reading): Config | null {
  const { problems, secrets, file } = reading;
  if (yaml.value === null) {
    problems.tell([], "Cannot use an empty file: expected a map with version, chains and protocols");
    return null;
  }
  checkVariables(yaml.value, problems);
  const shaped = readShape(yaml.value, problems);
  if (shaped === null) {
    return null;
  }
  const resolving = resolvingOf(shaped, yaml, reading);
  const { entry } = shaped;
  const maintenance = resolveMaintenance(entry, resolving);
  const fleet = resolveFleet(entry, resolving);
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
      ...fleet.skipped.map(
        ({ protocol, variant, tier, why }) => `${protocol}/${variant}/${tier} is skipped: ${why}`,
      ),
      ...budgetWarnings(fleet),
    ],
    secrets: secrets.all,
    variables: secrets.variables,
  };
}

function resolvingOf({ inFile }: Shaped, yaml: YamlFile, { problems, secrets }: Reading): ResolveContext {
  return {
    secrets,
    tell: (path, message) => problems.tell(inFile(path), message),
    tellKey: (path, message) => problems.tellKey(inFile(path), message),
    touches: (path) => problems.touches(inFile(path)),
    sourceOf: (path) => yaml.sourceOf(inFile(path)),
  };
}

function locate({ path, at, message }: PathProblem, yaml: YamlFile): Problem {
  return { ...(at === "key" ? yaml.keyPositionOf(path) : yaml.positionOf(path)), path, message };
}
