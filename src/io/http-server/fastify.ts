import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import fastify, { type FastifyInstance } from "fastify";
import type { WebSettingsSource } from "../../config/config.ts";
import { limitConnections } from "./connections.ts";
import { answerUnreadable, cutUnreadable } from "./routes/replies.ts";
import { keepTlsFresh, tlsOptions } from "./tls.ts";

export interface FastifyLimits {
  /** Until a request must have come in whole. */
  readonly requestTimeoutMs: number;
  /** Until a connection on which nothing moves is closed, also one whose client does not read. */
  readonly idleTimeoutMs: number;
}

const MAX_HEADER_BYTES = 16_384;
const MAX_BODY_BYTES = 1_024;
/** Leaves file descriptors for the polls, however many connections are opened. */
const MAX_CONNECTIONS = 256;
/** Longer than the interval of most scrapers, so that they keep their connection. */
const KEEP_ALIVE_MS = 72_000;
/** Names from the configuration are far shorter. */
const MAX_PARAMETER_LENGTH = 200;

/** No route has a schema. Without these Fastify loads its compilers all the same, which take 9 MB. */
const NO_COMPILERS = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new TypeError("Cannot compile a schema: routes check their parameters themselves");
}

/** The server with its limits and no routes: HTTP/1.1, over TLS where the web configuration has a certificate. */
export function createFastify(web: WebSettingsSource | null, limits: FastifyLimits): FastifyInstance {
  let closeConnections: () => void = () => undefined;
  const server = fastify({
    // One listener only: by itself Fastify opens a second one, without these limits, where `localhost` has two addresses.
    serverFactory: (handler) => {
      const listener = createListener(handler, web, limits);
      closeConnections = limitConnections(listener, MAX_CONNECTIONS);
      return listener;
    },
    forceCloseConnections: true,
    bodyLimit: MAX_BODY_BYTES,
    frameworkErrors: answerUnreadable,
    clientErrorHandler: cutUnreadable,
    // `/api/v1/status/` is the same page.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
    schemaController: { compilersFactory: NO_COMPILERS },
  });
  server.addHook("preClose", (done) => {
    closeConnections();
    done();
  });
  return server;
}

function createListener(
  handler: RequestListener,
  web: WebSettingsSource | null,
  { requestTimeoutMs, idleTimeoutMs }: FastifyLimits,
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
  const secure = createTlsServer({ ...tlsOptions(tls), ...limits }, handler).setTimeout(idleTimeoutMs);
  keepTlsFresh(secure, web);
  // The types differ by the class of the server; only what both have in common is used.
  return secure as unknown as Server;
}
