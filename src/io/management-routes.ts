import type { FastifyInstance, FastifyReply } from "fastify";
import type { HttpSource, Verdict } from "./http-source.ts";
import { sendProblem } from "./problems.ts";

/** `/metrics` and what an orchestrator asks: alive, ready, reload. */
export function addManagementRoutes(server: FastifyInstance, source: HttpSource): void {
  server.get("/metrics", async (_request, reply) => {
    const { contentType, body } = await source.metrics();
    return await reply.header("cache-control", "no-store").type(contentType).send(body);
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

function sendVerdict(reply: FastifyReply, { ok, detail }: Verdict): FastifyReply {
  return ok ? sendText(reply, detail) : sendProblem(reply, 503, detail);
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.header("cache-control", "no-store").type("text/plain; charset=utf-8").send(`${text}\n`);
}
