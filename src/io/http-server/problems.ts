import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** The methods of each route's pattern. */
export type KnownRoutes = Map<string, Set<string>>;

const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/** Answers with problem details (RFC 9457). */
export function sendProblem(reply: FastifyReply, httpStatus: number, detail: string): FastifyReply {
  return reply
    .code(httpStatus)
    .header("cache-control", "no-store")
    .type(PROBLEM_TYPE)
    .send(problem(httpStatus, detail));
}

/** Tells a wrong method (405 with `Allow`) from an unknown path (404), and keeps our own errors' texts inside. */
export function answerProblems(
  server: FastifyInstance,
  known: KnownRoutes,
  onBug: (error: unknown) => void,
): void {
  // Before a body is looked at: what is wrong with one doesn't matter where nothing takes it.
  server.addHook("onRequest", async (request, reply) => {
    if (request.is404) {
      await answerUnrouted(request, reply, known);
    }
  });
  server.setErrorHandler((error, _request, reply) => {
    const httpStatus = clientErrorStatus(error);
    if (httpStatus !== null) {
      return sendProblem(reply, httpStatus, "Cannot read the request");
    }
    onBug(error);
    return sendProblem(reply, 500, "Cannot answer: this is a bug, see the log");
  });
}

/** For a URL that the router can't even decode. */
export function answerUnreadable(
  error: { readonly statusCode?: number | undefined },
  _request: FastifyRequest,
  reply: FastifyReply,
): void {
  void sendProblem(reply, error.statusCode ?? 400, "Cannot read the address of the request");
}

/** For what is no HTTP request, or none that comes in time: one answer, and the connection is cut. */
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

function answerUnrouted(request: FastifyRequest, reply: FastifyReply, known: KnownRoutes): FastifyReply {
  const path = request.url.split("?")[0] ?? "/";
  const methods = methodsOf(known, path);
  if (methods === null) {
    return sendProblem(reply, 404, `Cannot find ${path.slice(0, 200)}: see / for what there is`);
  }
  const allow = [...methods].sort().join(", ");
  void reply.header("allow", allow);
  return sendProblem(reply, 405, `Cannot ${request.method} ${path.slice(0, 200)}: allowed is ${allow}`);
}

function methodsOf(known: KnownRoutes, path: string): ReadonlySet<string> | null {
  const parts = segments(path);
  for (const [pattern, methods] of known) {
    const wanted = segments(pattern);
    if (
      wanted.length === parts.length &&
      wanted.every((segment, index) =>
        segment.startsWith(":") ? parts[index] !== "" : segment === parts[index],
      )
    ) {
      return methods;
    }
  }
  return null;
}

/** One slash at the end makes no difference, as for the router. */
function segments(path: string): readonly string[] {
  return path.replace(/(?<=.)\/$/, "").split("/");
}

/** The status of an error that is the client's, or null for one of ours. */
function clientErrorStatus(error: unknown): number | null {
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : null;
  return typeof status === "number" && status >= 400 && status < 500 ? status : null;
}
