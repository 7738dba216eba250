import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import fastify, { type FastifyInstance } from "fastify";
import type { WebSettingsSource } from "../../config/config.ts";
import { hostAndPort } from "../../core/model/text.ts";
import { whyFailed } from "../../core/model/why-failed.ts";
import { Connections, oneAtATime } from "./connections.ts";
import { addApiRoutes } from "./routes/api.ts";
import { addCors } from "./routes/cors.ts";
import { addManagementRoutes } from "./routes/management.ts";
import { addPageRoutes } from "./routes/pages.ts";
import {
  answerProblems,
  bytesOf,
  type ErrorListener,
  refuseUnreadable,
  sendProblem,
  withOtherMethods,
} from "./routes/replies.ts";
import type { ServerDeps } from "./routes/server-deps.ts";
import { keepTlsFresh, tlsOptions } from "./tls.ts";

export interface HttpServer extends AsyncDisposable {
  /** `http://host:port` or `https://host:port`, with the actual port. */
  readonly url: string;
}

export interface HttpServerOptions {
  /** The time a request may take to arrive. Default: 10 s. */
  readonly requestTimeoutMs?: number;
  /** After this time an idle connection is closed, even if its client has not read the reply. Default: 90 s. */
  readonly idleTimeoutMs?: number;
  /** Called with the error and the path of the route when a handler throws; the reply is a 500. Default: ignored. */
  readonly onError?: ErrorListener;
  /** TLS, users, headers and limits. Default: plain HTTP without authentication. */
  readonly web?: WebSettingsSource | null;
}

const REQUEST_TIMEOUT_MS = 10_000;
/** Longer than `KEEP_ALIVE_MS`. */
const IDLE_TIMEOUT_MS = 90_000;
const MAX_HEADER_BYTES = 16_384;
const MAX_BODY_BYTES = 1_024;
/** The first limit leaves file descriptors for the polls, the second one memory for the fleet. */
const LIMITS = { connections: 256, unreadBytes: 64 * 1_048_576 };
/** Longer than the interval of most scrapers, so that they keep their connection. */
const KEEP_ALIVE_MS = 72_000;
/** Names from the configuration are far shorter. */
const MAX_PARAMETER_LENGTH = 200;

/** The headers of every reply. */
const SECURITY_HEADERS = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" };

/** No route has a schema. Without these options, Fastify loads its compilers anyway, which take 9 MB. */
const NO_COMPILERS = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new TypeError("Cannot compile a schema: routes check their parameters themselves");
}

/** Starts the server; port 0 is any free port. Disposing closes every connection. @throws {Error} If it cannot listen. */
export async function startHttpServer(
  listen: { readonly host: string; readonly port: number },
  source: ServerDeps,
  options: HttpServerOptions = {},
): Promise<HttpServer> {
  const { web = null, onError = () => undefined } = options;
  const server = createFastify(options);
  addCors(server, source);
  if (web !== null) {
    // Loaded only with a web configuration.
    const { addWebGuard } = await import("./basic-auth.ts");
    addWebGuard(server, web);
  }
  addRoutes(server, source, onError);
  await server.listen(listen).catch((cause: Error) => {
    const why = `${whyFailed(cause)}; choose another address with --listen`;
    throw new Error(`Cannot listen on ${hostAndPort(listen)}: ${why}`, { cause });
  });
  // A server that listens on TCP has an address object. It is text only for pipes, and null only before it listens.
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `${web?.current.tls == null ? "http" : "https"}://${hostAndPort({ host: listen.host, port })}`,
    async [Symbol.asyncDispose]() {
      await server.close();
    },
  };
}

/** The server with its limits, without routes: HTTP/1.1, over TLS if the web configuration has a certificate. */
function createFastify(options: HttpServerOptions): FastifyInstance {
  const connections = new Connections(LIMITS);
  const server = fastify({
    // If `localhost` has two addresses, Fastify's own factory would open a second listener, without these limits.
    serverFactory: (handler) => {
      const listener = createListener(oneAtATime(handler), options);
      connections.watch(listener);
      return listener;
    },
    forceCloseConnections: true,
    bodyLimit: MAX_BODY_BYTES,
    clientErrorHandler: refuseUnreadable,
    // Called for a URL that the router cannot decode, or that is too long. No hook runs for this reply.
    frameworkErrors: ({ statusCode = 400 }, _request, reply) => {
      void sendProblem(reply.headers(SECURITY_HEADERS), statusCode, "Cannot read the request URL");
    },
    // `/api/v1/status/` is the same as `/api/v1/status`.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
    schemaController: { compilersFactory: NO_COMPILERS },
  });
  server.addHook("onRequest", async (_request, reply) => {
    void reply.headers(SECURITY_HEADERS);
  });
  server.addHook("onSend", async ({ raw: request }, { raw: response }, payload) => {
    connections.hold(request, response, bytesOf(payload));
    return payload;
  });
  server.addHook("preClose", (done) => {
    connections.close();
    done();
  });
  return server;
}

function createListener(
  handler: RequestListener,
  { web = null, requestTimeoutMs = REQUEST_TIMEOUT_MS, idleTimeoutMs = IDLE_TIMEOUT_MS }: HttpServerOptions,
): Server {
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // By default Node looks for slow requests every 30 s.
    connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 10),
  };
  const tls = web?.current.tls ?? null;
  if (web === null || tls === null) {
    return createServer(limits, handler).setTimeout(idleTimeoutMs);
  }
  const secure = createTlsServer({ ...tlsOptions(tls), ...limits }, (request, response) => {
    if (mayAsk(request.socket)) {
      handler(request, response);
    } else {
      request.socket.destroy();
    }
  }).setTimeout(idleTimeoutMs);
  const mayAsk = keepTlsFresh(secure, web);
  // The types differ by the class of the server; only their common part is used.
  return secure as unknown as Server;
}

function addRoutes(server: FastifyInstance, source: ServerDeps, onError: ErrorListener): void {
  // No route uses a body. A body is read up to the limit and discarded.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _body, done) => done(null));
  answerProblems(server, onError);
  withOtherMethods(server, () => {
    addPageRoutes(server, source);
    addApiRoutes(server, source);
    addManagementRoutes(server, source);
  });
}
