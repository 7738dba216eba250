import { ConfigError } from "../../config/yaml/config-error.ts";
import type { ProxySettings } from "../world.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; those in lower case win, as with curl. Null without a proxy.
 *
 * @throws {ConfigError} If a proxy is not an http:// or https:// URL. The value is not repeated: it may hold a password.
 */
export function readProxySettings(env: Env): ProxySettings | null {
  const httpProxy = readProxy(env, "HTTP_PROXY");
  const httpsProxy = readProxy(env, "HTTPS_PROXY");
  const noProxy = read(env, "NO_PROXY");
  return httpProxy === "" && httpsProxy === "" ? null : { httpProxy, httpsProxy, noProxy };
}

function readProxy(env: Env, name: string): string {
  const value = read(env, name);
  if (value !== "" && !(/^https?:\/\//i.test(value) && URL.canParse(value))) {
    const message = "Cannot use this proxy: expected an http:// or https:// URL";
    throw new ConfigError(name, { problems: [{ line: 1, column: 1, path: [], message }] });
  }
  return value;
}

function read(env: Env, name: string): string {
  return (env[name.toLowerCase()] ?? env[name] ?? "").trim();
}
