import fastify, { type FastifyInstance } from "fastify";
import { addApiRoutes } from "./api-routes.ts";
import { addHealthRoute } from "./health-route.ts";
import type { HttpSource } from "./http-source.ts";
import { addManagementRoutes } from "./management-routes.ts";
import { addPageRoutes } from "./page-routes.ts";
import { answerProblems, answerUnreadable, cutUnreadable, type KnownRoutes } from "./problems.ts";

export interface HttpServer extends AsyncDisposable {
  /** `http://host:port`, with the port that was really taken. */
  readonly url: string;
}

export interface HttpServerOptions {
  /** Until a request must have come in whole. Default: longer than any honest one takes. */
  readonly requestTimeoutMs?: number;
  /** Called for a bug of ours in an answer. Default: it is thrown where nothing can catch it, and ends the process. */
  readonly onBug?: (error: unknown) => void;
}

const REQUEST_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16_384;
const MAX_BODY_BYTES = 1_024;
/** So that whoever opens connections without end leaves the polls some file descriptors. */
const MAX_CONNECTIONS = 256;
/** Names from the configuration are far shorter. */
const MAX_PARAMETER_LENGTH = 200;

/** Listens and serves; a port of 0 takes a free one. Disposing closes every connection. */
export async function startHttpServer(
  listen: { readonly host: string; readonly port: number },
  source: HttpSource,
  options: HttpServerOptions = {},
): Promise<HttpServer> {
  const requestTimeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const server = fastify({
    forceCloseConnections: true,
    requestTimeout: requestTimeoutMs,
    bodyLimit: MAX_BODY_BYTES,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: requestTimeoutMs,
      // Node looks for slow requests every 30 s unless told otherwise.
      connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 10),
    },
    frameworkErrors: answerUnreadable,
    clientErrorHandler: cutUnreadable,
    // `/api/v1/status/` is not another page.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
  });
  addRoutes(server, source, options.onBug ?? crash);
  server.server.maxConnections = MAX_CONNECTIONS;
  await server.listen(listen);
  return {
    url: urlOf(server, listen.host),
    async [Symbol.asyncDispose]() {
      await server.close();
    },
  };
}

function addRoutes(server: FastifyInstance, source: HttpSource, onBug: (error: unknown) => void): void {
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
  // No route reads a body: whatever comes along is taken, up to the limit, and thrown away.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _body, done) => done(null));
  answerProblems(server, known, onBug);
  addPageRoutes(server, source);
  addApiRoutes(server, source);
  addHealthRoute(server, source);
  addManagementRoutes(server, source);
}

function crash(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

function urlOf(server: FastifyInstance, host: string): string {
  const address = server.server.address();
  // A server that listens on a TCP port has an address with a port: only a pipe's is a string.
  const port = address === null || typeof address === "string" ? 0 : address.port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
