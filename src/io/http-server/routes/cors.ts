import type { FastifyInstance } from "fastify";
import type { ServerDeps } from "./server-deps.ts";

/** Routes that front ends request from a browser. */
const SHARED: ReadonlySet<string> = new Set([
  "/api/v1/health/:protocol",
  "/api/v1/health/:protocol/:chain",
  "/public",
]);
const PREFLIGHT = {
  "access-control-allow-methods": "GET, HEAD",
  "access-control-allow-headers": "authorization",
  // The longest time for which Chromium keeps the reply.
  "access-control-max-age": "7200",
};

/**
 * Lets pages of the origins in `cors` read the replies of the shared routes. Added before authentication: the preflight
 * requests of browsers have no password.
 */
export function addCors(server: FastifyInstance, { settings }: Pick<ServerDeps, "settings">): void {
  server.addHook("onRequest", async ({ headers, method, routeOptions }, reply) => {
    const { cors } = settings();
    if (cors.length === 0 || !SHARED.has(routeOptions.url ?? "")) {
      return;
    }
    void reply.header("vary", "origin");
    const admitted = cors.includes("*") ? "*" : cors.find((origin) => origin === headers.origin);
    if (admitted === undefined) {
      return;
    }
    void reply.header("access-control-allow-origin", admitted);
    if (method === "OPTIONS") {
      return reply.code(204).headers(PREFLIGHT).send();
    }
  });
}
