import type { Server } from "node:https";
import type { Socket } from "node:net";
import fastify, { type FastifyHttpsOptions, type FastifyInstance } from "fastify";
import { limitStreams } from "./limit-streams.ts";
import { answerUnreadable, cutUnreadable } from "./problems.ts";
import type { LiveWebSettings } from "./settings.ts";
import { keepTlsFresh, tlsOptions } from "./tls.ts";

export interface FastifyLimits {
  /** Until a request must have come in whole. */
  readonly requestTimeoutMs: number;
  /** Until a connection on which nothing moves is cut: who takes no answer is not waited for. */
  readonly idleTimeoutMs: number;
}

const MAX_HEADER_BYTES = 16_384;
const MAX_BODY_BYTES = 1_024;
/** So that whoever opens connections without end leaves the polls some file descriptors. */
const MAX_CONNECTIONS = 256;
/** Names from the configuration are far shorter. */
const MAX_PARAMETER_LENGTH = 200;
/** Who doesn't speak it is served as ever; one connection is not worth more than many. */
const HTTP2 = {
  allowHTTP1: true,
  settings: { maxConcurrentStreams: 50, maxHeaderListSize: MAX_HEADER_BYTES },
};

/** The bare server with its limits: plain HTTP, or TLS with HTTP/1.1 and, where it may, HTTP/2. */
export function createFastify(
  web: LiveWebSettings | null,
  { requestTimeoutMs, idleTimeoutMs }: FastifyLimits,
): FastifyInstance {
  const common = {
    forceCloseConnections: true,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: idleTimeoutMs,
    bodyLimit: MAX_BODY_BYTES,
    frameworkErrors: answerUnreadable,
    clientErrorHandler: cutUnreadable,
    // `/api/v1/status/` is not another page.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_LENGTH },
  };
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    // Node looks for slow requests every 30 s unless told otherwise.
    connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 10),
  };
  const settings = web?.current ?? null;
  if (web === null || settings === null || settings.tls === null) {
    const plain = fastify({ ...common, http: limits });
    plain.server.maxConnections = MAX_CONNECTIONS;
    return plain;
  }
  const https = { ...tlsOptions(settings.tls), ...limits, ...(settings.isHttp2 ? HTTP2 : {}) };
  // A server of HTTP/2 is one of HTTPS to all that is done with it here; the types make two of them.
  const options: FastifyHttpsOptions<Server> = { ...common, https };
  const asked: object = settings.isHttp2 ? { http2: true, http2SessionTimeout: idleTimeoutMs } : {};
  const secure = fastify<Server>({ ...options, ...asked });
  secure.server.maxConnections = MAX_CONNECTIONS;
  // A server with HTTP/2 has its own idea of these, whatever its options say.
  Object.assign(secure.server, limits);
  cutAtClose(secure);
  if (settings.isHttp2) {
    limitStreams(secure, {
      requestTimeoutMs,
      maxHeaderBytes: MAX_HEADER_BYTES,
      maxStreams: MAX_CONNECTIONS,
    });
  }
  keepTlsFresh(secure.server, web);
  // The routes use only what requests of all three have in common; the types tell them apart by their sockets.
  return secure as unknown as FastifyInstance;
}

/** A server with HTTP/2 cannot close its connections with HTTP/1.1 itself, and would wait for them. */
function cutAtClose(server: FastifyInstance<Server>): void {
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
