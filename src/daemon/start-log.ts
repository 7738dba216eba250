import type { Logger } from "pino";
import type { Config, ListenAddress, WebSettings } from "../config/config.ts";
import { endpointsOf } from "../core/model/fleet.ts";
import type { World } from "../io/world.ts";

export function logStart(
  config: Config,
  { logger, build, web }: Pick<World, "logger" | "build" | "web">,
  url: string,
): void {
  const { chains, indexers } = config.fleet;
  logConfigWarnings(logger, config);
  for (const warning of serverWarnings(config.listen, web?.current ?? null)) {
    logger.warn(warning);
  }
  const endpoints = endpointsOf(config.fleet).length;
  logger.info(
    { url, version: build.version, chains: chains.length, indexers: indexers.length, endpoints },
    "Started",
  );
}

/** Logs the warnings of a valid configuration, such as an indexer skipped because a variable is not set. */
export function logConfigWarnings(
  logger: Logger,
  { file, warnings }: Pick<Config, "file" | "warnings">,
): void {
  for (const warning of warnings) {
    logger.warn({ file, detail: warning }, "Configuration warning");
  }
}

/** A warning if everybody can read our HTTP server; `web`: null without a web configuration. */
export function serverWarnings(listen: ListenAddress, web: WebSettings | null): readonly string[] {
  const { host, port } = listen;
  const isLoopback = /^(localhost|127(\.\d+){3}|::1)$/.test(host);
  const authenticates = web !== null && (web.users.size > 0 || web.tls?.clientAuth === "require and verify");
  return isLoopback || authenticates
    ? []
    : [
        `Listening on ${host}:${port} without authentication: everybody who can reach it can read everything; set basic_auth_users or client certificates with --web-config, or listen on 127.0.0.1`,
      ];
}
