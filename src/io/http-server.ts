import fastify, { type FastifyInstance } from "fastify";
import { addApiRoutes } from "./api-routes.ts";
import type { HttpSource } from "./http-source.ts";
import { addManagementRoutes } from "./management-routes.ts";
import { addPageRoutes } from "./page-routes.ts";
import { answerProblems, type KnownRoutes } from "./problems.ts";

export interface HttpServer extends AsyncDisposable {
  /** `http://host:port`, with the port that was really taken. */
  readonly url: string;
}

/** Longer than any honest request takes; a slow one must not hold a connection for ever. */
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16_384;
const MAX_BODY_BYTES = 1_024;

/** Listens and serves; a port of 0 takes a free one. Disposing closes every connection. */
export async function startHttpServer(
  listen: { readonly host: string; readonly port: number },
  source: HttpSource,
): Promise<HttpServer> {
  const server = fastify({
    forceCloseConnections: true,
    requestTimeout: REQUEST_TIMEOUT_MS,
    bodyLimit: MAX_BODY_BYTES,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    // Everything here is read by machines or by people who look twice: `/api/v1/status/` is not another page.
    routerOptions: { ignoreTrailingSlash: true },
  });
  addRoutes(server, source);
  await server.listen(listen);
  return {
    url: urlOf(server, listen.host),
    async [Symbol.asyncDispose]() {
      await server.close();
    },
  };
}

function addRoutes(server: FastifyInstance, source: HttpSource): void {
  const known: KnownRoutes = new Map();
  server.addHook("onRoute", ({ method, url }) => {
    const methods = known.get(url) ?? new Set();
    for (const name of [method].flat()) {
      methods.add(name);
    }
    known.set(url, methods);
  });
  server.addHook("onRequest", async (_request, reply) => {
    void reply.headers({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
  });
  addPageRoutes(server, source);
  addApiRoutes(server, source);
  addManagementRoutes(server, source);
  answerProblems(server, known);
}

function urlOf(server: FastifyInstance, host: string): string {
  const address = server.server.address();
  // A server that listens on a TCP port has an address with a port: only a pipe's is a string.
  const port = address === null || typeof address === "string" ? 0 : address.port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
