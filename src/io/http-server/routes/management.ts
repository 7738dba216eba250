import type { FastifyInstance, FastifyReply } from "fastify";
import { sendProblem } from "./replies.ts";
import { sendGzipped } from "./send-gzipped.ts";
import type { ProbeResult, ServerDeps } from "./server-deps.ts";

/** `/metrics`, the probes of an orchestrator, and reload. */
export function addManagementRoutes(server: FastifyInstance, source: ServerDeps): void {
  server.get("/metrics", async (_request, reply) => {
    const { contentType, gzipped } = await source.metrics();
    return await sendGzipped(reply.header("cache-control", "no-store").type(contentType), gzipped);
  });
  server.get("/-/healthy", (_request, reply) => sendProbe(reply, source.healthy()));
  server.get("/-/ready", (_request, reply) => sendProbe(reply, source.ready()));

  const { reload } = source;
  server.post("/-/reload", async (_request, reply) => {
    if (reload === null) {
      return sendProblem(
        reply,
        403,
        "Cannot reload over HTTP: start with --enable-lifecycle, or send SIGHUP",
      );
    }
    const { kind, detail } = await reload();
    return kind === "reloaded" ? sendText(reply, detail) : sendProblem(reply, 422, detail);
  });
}

function sendProbe(reply: FastifyReply, { ok, detail }: ProbeResult): FastifyReply {
  return ok ? sendText(reply, detail) : sendProblem(reply, 503, detail);
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.header("cache-control", "no-store").type("text/plain; charset=utf-8").send(`${text}\n`);
}
