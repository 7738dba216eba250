import type { ProxySettings } from "../config.ts";
import { ConfigError } from "../problems.ts";
import { readWebUrl } from "../resolve/web-url.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; those in lower case win, as with curl. Null without a proxy.
 *
 * @throws {ConfigError} If a proxy is not an http:// or https:// URL.
 */
export function readProxySettings(env: Env): ProxySettings | null {
  const problems = proxyProblems(env);
  if (problems.length > 0) {
    throw new ConfigError(problems.join("\n"));
  }
  const httpProxy = read(env, "HTTP_PROXY").value;
  const httpsProxy = read(env, "HTTPS_PROXY").value;
  const noProxy = read(env, "NO_PROXY").value;
  return httpProxy === "" && httpsProxy === "" ? null : { httpProxy, httpsProxy, noProxy };
}

/** What is wrong with the variables. Their values are not repeated: they may hold a password. */
export function proxyProblems(env: Env): readonly string[] {
  return ["HTTPS_PROXY", "HTTP_PROXY"]
    .map((name) => read(env, name))
    .flatMap(({ name, value }) => {
      const url = readWebUrl(value);
      return value === "" || url.kind === "url" ? [] : [`environment variable ${name}: ${url.message}`];
    });
}

function read(env: Env, name: string): { readonly name: string; readonly value: string } {
  const found = env[name.toLowerCase()] === undefined ? name : name.toLowerCase();
  return { name: found, value: (env[found] ?? "").trim() };
}
