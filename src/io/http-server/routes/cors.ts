import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendProblem } from "./replies.ts";
import type { ServerDeps } from "./server-deps.ts";

/** Browsers ask again after this; Chromium keeps an answer for no longer. */
const MAX_AGE_SECONDS = 7_200;

/**
 * Lets pages of the origins in `cors` read what the route at this path replies: adds its OPTIONS, and returns the options of its
 * GET. Each path once.
 */
export function shareWithOrigins(
  server: FastifyInstance,
  path: string,
  source: Pick<ServerDeps, "settings">,
) {
  const admit = (request: FastifyRequest, reply: FastifyReply): boolean => {
    const { cors } = source.settings();
    const { origin = "" } = request.headers;
    const isOpen = cors.includes("*");
    if (cors.length > 0 && !isOpen) {
      void reply.header("vary", "origin");
    }
    const isAdmitted = isOpen || cors.includes(origin);
    if (isAdmitted) {
      void reply.header("access-control-allow-origin", isOpen ? "*" : origin);
    }
    return isAdmitted;
  };
  server.options(path, async (request, reply) => {
    if (!admit(request, reply)) {
      return sendProblem(
        reply.header("allow", "GET, HEAD"),
        405,
        "Method OPTIONS not allowed for this origin",
      );
    }
    return reply
      .code(204)
      .headers({
        "access-control-allow-methods": "GET, HEAD",
        "access-control-allow-headers": "authorization",
        "access-control-max-age": String(MAX_AGE_SECONDS),
      })
      .send();
  });
  return {
    onRequest: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      admit(request, reply);
    },
  };
}

/** Whether a browser asks if it may ask; it names nobody in this request, whatever the next one will have. */
export function isPreflight({ headers, method }: FastifyRequest): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}
