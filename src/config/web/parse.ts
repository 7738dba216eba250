import { createRedact } from "../../core/model/redact.ts";
import { SecretStore } from "../resolve/secrets.ts";
import { addIssues, issuesOf } from "../schema/issues.ts";
import { locateProblems } from "../schema/locate-problems.ts";
import { configErrorIn } from "../yaml/config-error.ts";
import { ProblemList } from "../yaml/problem-list.ts";
import { readYaml } from "../yaml/read-yaml.ts";
import { WebConfigFile } from "./schema.ts";
import { resolveTls } from "./tls.ts";
import type { WebSettings } from "./web-settings.ts";

/** Where a web configuration comes from. */
export interface WebConfigOptions {
  /** The path as the user gave it; those in the file are relative to it. */
  readonly file: string;
  /** Reads a text file, or throws. */
  readonly readFile: (path: string) => string;
}

/**
 * Parses exporter-toolkit's web configuration file and reads the certificates that it names.
 *
 * @throws {ConfigError} If anything is wrong with it: all problems at once, or the first 100, without secrets.
 */
export function parseWebConfig(text: string, { file, readFile }: WebConfigOptions): WebSettings {
  const yaml = readYaml(text);
  const problems = new ProblemList(yaml.problems.map(({ path }) => path));
  const secrets = new SecretStore({ env: {}, readFile });
  const entry = yaml.readable ? readEntry(dropNulls(yaml.value ?? {}), problems) : null;
  const settings = entry === null ? null : resolve(entry, { file, readFile, problems, secrets });

  const located = locateProblems(yaml, problems.all, createRedact(secrets.all), ["client_auth_type"]);
  if (settings === null || located.problems.length > 0) {
    throw configErrorIn(file, located);
  }
  return settings;
}

interface WebContext extends WebConfigOptions {
  readonly problems: ProblemList;
  readonly secrets: SecretStore;
}

function readEntry(raw: unknown, problems: ProblemList): WebConfigFile | null {
  const read = WebConfigFile.safeParse(raw);
  if (!read.success) {
    addIssues(issuesOf(WebConfigFile, read.error), problems);
  }
  return read.data ?? null;
}

function resolve(entry: WebConfigFile, context: WebContext): WebSettings {
  const { file, problems, secrets } = context;
  const { interval: intervalMs, burst } = entry.rate_limit ?? { interval: 0, burst: 0 };
  if (intervalMs > 0 && burst === 0) {
    problems.addProblem(["rate_limit"], "Cannot use a burst of 0: every request would be refused");
  }
  const users = new Map(Object.entries(entry.basic_auth_users ?? {}));
  secrets.remember([...users.values()]);
  const headers = Object.entries(entry.http_server_config?.headers ?? {});
  return {
    file,
    tls: entry.tls_server_config === undefined ? null : resolveTls(entry.tls_server_config, context),
    users,
    headers: Object.fromEntries(
      headers.flatMap(([name, value]) =>
        value === undefined || value === "" ? [] : [[name, value] as const],
      ),
    ),
    asksForHttp2: entry.http_server_config?.http2 ?? false,
    rateLimit: intervalMs > 0 ? { intervalMs, burst } : null,
  };
}

/**
 * Sections and settings without a value count as absent, as in Go. Users do not: a user without a password is a
 * mistake, and without users the server would be open to everybody.
 */
function dropNulls(value: unknown): unknown {
  return mapValues(value, (section, name) =>
    name === "basic_auth_users"
      ? section
      : mapValues(section, (setting) => mapValues(setting, (inner) => inner)),
  );
}

function mapValues(value: unknown, change: (value: unknown, key: string) => unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, change(inner, key)]])),
  );
}
