import type { FastifyInstance, FastifyReply } from "fastify";
import { sendProblem } from "../replies.ts";
import { sendGzipped } from "../send-gzipped.ts";
import type { CheckResult, ServerDeps } from "../server-deps.ts";

/** `/metrics` and what an orchestrator asks: alive, ready, reload. */
export function addManagementRoutes(server: FastifyInstance, source: ServerDeps): void {
  server.get("/metrics", async (_request, reply) => {
    const { contentType, gzipped } = await source.metrics();
    return await sendGzipped(reply.header("cache-control", "no-store").type(contentType), gzipped);
  });
  server.get("/-/healthy", (_request, reply) => sendVerdict(reply, source.healthy()));
  server.get("/-/ready", (_request, reply) => sendVerdict(reply, source.ready()));

  const { reload } = source;
  server.post("/-/reload", async (_request, reply) => {
    if (reload === null) {
      return sendProblem(
        reply,
        403,
        "Cannot reload over HTTP: start with --enable-lifecycle, or send SIGHUP",
      );
    }
    const { ok, detail } = await reload();
    return ok ? sendText(reply, detail) : sendProblem(reply, 422, detail);
  });
}

function sendVerdict(reply: FastifyReply, { ok, detail }: CheckResult): FastifyReply {
  return ok ? sendText(reply, detail) : sendProblem(reply, 503, detail);
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.header("cache-control", "no-store").type("text/plain; charset=utf-8").send(`${text}\n`);
}
