import { STATUS_CODES } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";

/** The methods of each route's pattern. */
export type KnownRoutes = Map<string, Set<string>>;

/** Answers with problem details (RFC 9457). */
export function sendProblem(reply: FastifyReply, httpStatus: number, detail: string): FastifyReply {
  return reply
    .code(httpStatus)
    .header("cache-control", "no-store")
    .type("application/problem+json")
    .send(
      JSON.stringify({
        type: "about:blank",
        title: STATUS_CODES[httpStatus] ?? "Error",
        status: httpStatus,
        detail,
      }),
    );
}

/** Tells a wrong method (405 with `Allow`) from an unknown path (404), and keeps our own errors' texts inside. */
export function answerProblems(server: FastifyInstance, known: KnownRoutes): void {
  server.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?")[0] ?? "/";
    const methods = methodsOf(known, path);
    if (methods === null) {
      return sendProblem(reply, 404, `Cannot find ${path.slice(0, 200)}: see / for what there is`);
    }
    const allow = [...methods].sort().join(", ");
    void reply.header("allow", allow);
    return sendProblem(reply, 405, `Cannot ${request.method} ${path}: allowed is ${allow}`);
  });

  server.setErrorHandler((error, _request, reply) => {
    const httpStatus = clientErrorStatus(error);
    if (httpStatus === null) {
      throw error;
    }
    return sendProblem(reply, httpStatus, "Cannot read the request");
  });
}

function methodsOf(known: KnownRoutes, path: string): ReadonlySet<string> | null {
  const parts = segments(path);
  for (const [pattern, methods] of known) {
    const wanted = segments(pattern);
    if (
      wanted.length === parts.length &&
      wanted.every((segment, index) => segment.startsWith(":") || segment === parts[index])
    ) {
      return methods;
    }
  }
  return null;
}

function segments(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/** The status of an error that is the client's, or null for one of ours. */
function clientErrorStatus(error: unknown): number | null {
  const isClients =
    error instanceof Error &&
    "statusCode" in error &&
    typeof error.statusCode === "number" &&
    error.statusCode >= 400 &&
    error.statusCode < 500;
  return isClients ? (error.statusCode as number) : null;
}
