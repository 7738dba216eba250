import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isSystemError } from "../../system-error.ts";

/** Gets what a handler threw, and the path of its route, such as `/chains/:chain`. */
export type ErrorListener = (error: unknown, route: string) => void;

export const JSON_TYPE = "application/json; charset=utf-8";
export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/** Text of an upstream cannot run: only our own files may. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** The headers of every page. */
export const HTML_HEADERS = { "content-security-policy": POLICY, "content-type": "text/html; charset=utf-8" };

/** Replies with JSON that must not be cached: it holds for this instant only. */
export function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  return reply.header("cache-control", "no-store").type(JSON_TYPE).send(JSON.stringify(body));
}

/** Replies with problem details (RFC 9457). */
export function sendProblem(reply: FastifyReply, httpStatus: number, detail: string): FastifyReply {
  return reply
    .code(httpStatus)
    .header("cache-control", "no-store")
    .type(PROBLEM_TYPE)
    .send(problem(httpStatus, detail));
}

/** An unknown path is 404; the text of an internal error is never sent. */
export function answerProblems(server: FastifyInstance, onError: ErrorListener): void {
  // Before the body is read: an invalid one does not matter where no route takes it.
  server.addHook("onRequest", async (request, reply) => {
    if (request.is404) {
      await sendProblem(reply, 404, `Path ${pathOf(request)} not found`);
    }
  });
  server.setErrorHandler((error, request, reply) => {
    const httpStatus = clientErrorStatus(error);
    if (httpStatus !== null) {
      return sendProblem(reply, httpStatus, "Cannot read the request");
    }
    // Out of file descriptors, for example: not a bug, and it passes.
    if (isSystemError(error)) {
      return sendProblem(reply.header("retry-after", "10"), 503, `Cannot reply now: ${String(error)}`);
    }
    onError(error, request.routeOptions.url ?? "");
    return sendProblem(reply, 500, "Internal error: see the log");
  });
}

/** Replies 405 with `Allow` to all methods that the routes do not take; `routes`: methods by path. */
export function answerOtherMethods(
  server: FastifyInstance,
  routes: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  for (const [url, methods] of routes) {
    const allow = [...methods].sort().join(", ");
    server.route({
      url,
      method: server.supportedMethods.filter((method) => !methods.has(method)),
      onRequest: async (request, reply) => {
        const detail = `Method ${request.method} not allowed for ${pathOf(request)} (allowed: ${allow})`;
        await sendProblem(reply.header("allow", allow), 405, detail);
      },
      handler: () => undefined,
    });
  }
}

function pathOf({ url }: FastifyRequest): string {
  return (url.split("?")[0] ?? "/").slice(0, 200);
}

/** For a URL that the router cannot decode. */
export function answerUnreadable(
  error: { readonly statusCode?: number | undefined },
  _request: FastifyRequest,
  reply: FastifyReply,
): void {
  void sendProblem(reply, error.statusCode ?? 400, "Cannot decode the request URL");
}

/** For bytes that are no HTTP request, or one that is not complete in time: replies once and closes the connection. */
export function cutUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const httpStatus = UNREADABLE[error.code ?? ""] ?? 400;
  const body = problem(httpStatus, "Cannot read the request");
  const head = [
    `HTTP/1.1 ${httpStatus} ${STATUS_CODES[httpStatus] ?? "Error"}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

const UNREADABLE: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

function problem(httpStatus: number, detail: string): string {
  const title = STATUS_CODES[httpStatus] ?? "Error";
  return JSON.stringify({ type: "about:blank", title, status: httpStatus, detail });
}

/** The status of an error that the client caused, or null for one of ours. */
function clientErrorStatus(error: unknown): number | null {
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : null;
  return typeof status === "number" && status >= 400 && status < 500 ? status : null;
}
