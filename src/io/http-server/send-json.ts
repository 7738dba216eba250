import type { FastifyReply } from "fastify";

/** Answers with JSON that nobody may keep: it is true for this instant only. */
export function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  return reply
    .header("cache-control", "no-store")
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(body));
}
