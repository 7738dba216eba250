import type { FastifyInstance } from "fastify";
import type { WebSettingsSource } from "../../config/config.ts";
import { createFastify } from "./fastify.ts";
import { addApiRoutes } from "./routes/api.ts";
import { addManagementRoutes } from "./routes/management.ts";
import { addPageRoutes } from "./routes/pages.ts";
import { answerOtherMethods, answerProblems, type ErrorListener } from "./routes/replies.ts";
import type { ServerDeps } from "./routes/server-deps.ts";

export interface HttpServer extends AsyncDisposable {
  /** `http://host:port` or `https://host:port`, with the port that is listened on. */
  readonly url: string;
}

export interface HttpServerOptions {
  /** The time a request may take to arrive. Default: 10 s. */
  readonly requestTimeoutMs?: number;
  /** The time after which a connection on which nothing moves is closed. Default: 90 s, longer than keep-alive. */
  readonly idleTimeoutMs?: number;
  /** Called with the error and the path of the route when a handler throws; the reply is a 500. Default: ignored. */
  readonly onError?: ErrorListener;
  /** TLS, users, headers and limits. Default: plain HTTP without authentication. */
  readonly web?: WebSettingsSource | null;
}

const REQUEST_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 90_000;

/** Listens and serves; a port of 0 takes a free one. Disposing closes every connection. */
export async function startHttpServer(
  listen: { readonly host: string; readonly port: number },
  source: ServerDeps,
  options: HttpServerOptions = {},
): Promise<HttpServer> {
  const web = options.web ?? null;
  const server = createFastify(web, {
    requestTimeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
  });
  if (web !== null) {
    // Loaded only where there are users and headers.
    const { addWebGuard } = await import("./guard.ts");
    addWebGuard(server, web);
  }
  addRoutes(server, source, options.onError ?? (() => undefined));
  await server.listen(listen);
  return {
    url: `${web?.current.tls == null ? "http" : "https"}://${authorityOf(server, listen.host)}`,
    async [Symbol.asyncDispose]() {
      await server.close();
    },
  };
}

function addRoutes(server: FastifyInstance, source: ServerDeps, onError: ErrorListener): void {
  const routes = new Map<string, Set<string>>();
  server.addHook("onRoute", ({ method, url }) => {
    routes.set(url, new Set([...(routes.get(url) ?? []), ...[method].flat()]));
  });
  server.addHook("onRequest", async (_request, reply) => {
    void reply.headers({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
  });
  // No route reads a body: it is read up to the limit and discarded.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _body, done) => done(null));
  answerProblems(server, onError);
  addPageRoutes(server, source);
  addApiRoutes(server, source);
  addManagementRoutes(server, source);
  answerOtherMethods(server, new Map(routes));
}

function authorityOf(server: FastifyInstance, host: string): string {
  const address = server.server.address();
  // A server on a TCP port has an address with a port; only that of a pipe is a string.
  const port = address === null || typeof address === "string" ? 0 : address.port;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
