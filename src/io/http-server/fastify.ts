import type { Server } from "node:https";
import type { Socket } from "node:net";
import fastify, { type FastifyHttpsOptions, type FastifyInstance } from "fastify";
import type { WebSettingsSource } from "../../config/web/web-settings.ts";
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
/** Names from the configuration are far shorter. */
const MAX_PARAMETER_LENGTH = 200;

/** The server with its limits and no routes: HTTP/1.1, over TLS where the web configuration has a certificate. */
export function createFastify(
  web: WebSettingsSource | null,
  { requestTimeoutMs, idleTimeoutMs }: FastifyLimits,
): FastifyInstance {
  const common = {
    forceCloseConnections: true,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: idleTimeoutMs,
    bodyLimit: MAX_BODY_BYTES,
    frameworkErrors: answerUnreadable,
    clientErrorHandler: cutUnreadable,
    // `/api/v1/status/` is the same page.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
  };
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    // By default Node looks for slow requests every 30 s.
    connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 10),
  };
  const tls = web?.current.tls ?? null;
  if (web === null || tls === null) {
    const plain = fastify({ ...common, http: limits });
    plain.server.maxConnections = MAX_CONNECTIONS;
    return plain;
  }
  const options: FastifyHttpsOptions<Server> = { ...common, https: { ...tlsOptions(tls), ...limits } };
  const secure = fastify(options);
  secure.server.maxConnections = MAX_CONNECTIONS;
  closeHandshakes(secure);
  keepTlsFresh(secure.server, web);
  // The types differ by the class of the server; the routes use only what both have in common.
  return secure as unknown as FastifyInstance;
}

/** Node does not close connections whose TLS handshake is under way, and would wait for them. */
function closeHandshakes(server: FastifyInstance<Server>): void {
  const sockets = new Set<Socket>();
  server.server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.addHook("preClose", (done) => {
    for (const socket of sockets) {
      socket.destroy();
    }
    done();
  });
}
