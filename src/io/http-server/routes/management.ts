import type { FastifyInstance, FastifyReply } from "fastify";
import { sendTooMany } from "../guard.ts";
import { sendProblem } from "../problems.ts";
import { sendGzipped } from "../send-gzipped.ts";
import type { CheckResult, ServerDeps } from "../server-deps.ts";
import { TokenBucket } from "../token-bucket.ts";

/** A reload reads files and starts all schedules anew: more often than that is a mistake, or no friend. */
const RELOADS = { intervalMs: 1_000, burst: 5 };

/** `/metrics` and what an orchestrator asks: alive, ready, reload. */
export function addManagementRoutes(server: FastifyInstance, source: ServerDeps): void {
  server.get("/metrics", async (_request, reply) => {
    const { contentType, gzipped } = await source.metrics();
    return await sendGzipped(reply.header("cache-control", "no-store").type(contentType), gzipped);
  });
  server.get("/-/healthy", (_request, reply) => sendVerdict(reply, source.healthy()));
  server.get("/-/ready", (_request, reply) => sendVerdict(reply, source.ready()));

  const { reload } = source;
  const reloads = new TokenBucket(RELOADS, () => performance.now());
  server.post("/-/reload", async (_request, reply) => {
    if (reload === null) {
      return sendProblem(
        reply,
        403,
        "Cannot reload over HTTP: start with --enable-lifecycle, or send SIGHUP",
      );
    }
    if (!reloads.take()) {
      return sendTooMany(reply, "Cannot reload so often: once a second is enough");
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
