import { SecretStore } from "../resolve/secrets.ts";
import { leafIssues } from "../schema/read-shape.ts";
import { ConfigError } from "../yaml/config-error.ts";
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
 * Reads exporter-toolkit's web configuration file, and the certificates that it names.
 *
 * @throws {ConfigError} If anything is wrong with it: all problems at once, none of them with a secret in it.
 */
export function parseWebConfig(text: string, { file, readFile }: WebConfigOptions): WebSettings {
  const yaml = readYaml(text);
  const problems = new ProblemList(yaml.problems.map(({ path }) => path));
  const secrets = new SecretStore({ env: {}, readFile });
  const entry = yaml.readable ? readEntry(withoutNothings(yaml.value ?? {}), problems) : null;
  const settings = entry === null ? null : resolve(entry, { file, readFile, problems, secrets });

  const located = problems.all.map(({ path, at, message }) => ({
    ...(at === "key" ? yaml.keyPositionOf(path) : yaml.positionOf(path)),
    path,
    message: secrets.redact(message),
  }));
  if (settings === null || yaml.problems.length + located.length > 0) {
    throw new ConfigError(file, { problems: [...yaml.problems, ...located] });
  }
  return settings;
}

interface Resolving extends WebConfigOptions {
  readonly problems: ProblemList;
  readonly secrets: SecretStore;
}

function readEntry(raw: unknown, problems: ProblemList): WebConfigFile | null {
  const read = WebConfigFile.safeParse(raw);
  for (const { path, message, isKey } of read.error?.issues.flatMap(leafIssues) ?? []) {
    if (isKey) {
      problems.tellKey(path, message);
    } else {
      problems.tell(path, message);
    }
  }
  return read.success ? read.data : null;
}

function resolve(entry: WebConfigFile, resolving: Resolving): WebSettings {
  const { file, problems, secrets } = resolving;
  const { interval: intervalMs, burst } = entry.rate_limit ?? { interval: 0, burst: 0 };
  if (intervalMs > 0 && burst === 0) {
    problems.tell(["rate_limit"], "Cannot use a burst of 0: it would refuse every request");
  }
  const users = new Map(Object.entries(entry.basic_auth_users ?? {}));
  secrets.remember(...users.values());
  const headers = Object.entries(entry.http_server_config?.headers ?? {});
  return {
    file,
    tls: entry.tls_server_config === undefined ? null : resolveTls(entry.tls_server_config, resolving),
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
 * A section or setting without a value is one that isn't there, as for Go. Not so a user: without a password nobody
 * may come in, and without users everybody may.
 */
function withoutNothings(value: unknown): unknown {
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
