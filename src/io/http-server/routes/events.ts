import { PassThrough } from "node:stream";
import type { FastifyInstance } from "fastify";
import { sendProblem } from "../problems.ts";
import type { ServerDeps } from "../server-deps.ts";

/** Far more than people who look at once, and a part of what the server takes at all. */
const MOST_LISTENERS = 64;
/** One that does not read is let go: it comes back by itself. */
const MOST_UNREAD_BYTES = 4_096;
/** How long a browser waits before it comes back. */
const RETRY_MS = 3_000;

/**
 * Server-sent events: `report`, with a number and nothing else, when there is something new to see. Whoever listens
 * asks for it then. Something comes every five seconds at the latest.
 */
export function addEventRoutes(server: FastifyInstance, source: ServerDeps): void {
  const listeners = new Set<PassThrough>();
  const unsubscribe = source.onNews((id) => {
    for (const listener of listeners) {
      if (listener.writableLength + listener.readableLength > MOST_UNREAD_BYTES) {
        listener.destroy();
      } else {
        listener.write(`id: ${id}\nevent: report\ndata: ${id}\n\n`);
      }
    }
  });
  // Before the server waits for its connections, which would not end by themselves.
  server.addHook("preClose", (done) => {
    unsubscribe();
    for (const listener of listeners) {
      listener.end();
    }
    done();
  });

  server.get("/api/v1/events", { exposeHeadRoute: false }, (_request, reply) => {
    if (listeners.size >= MOST_LISTENERS) {
      return sendProblem(
        reply.header("retry-after", "30"),
        503,
        "Cannot send events: too many listen already",
      );
    }
    const listener = new PassThrough();
    listeners.add(listener);
    listener.once("close", () => listeners.delete(listener));
    listener.write(`retry: ${RETRY_MS}\n\n`);
    return reply
      .headers({ "cache-control": "no-store", "x-accel-buffering": "no" })
      .type("text/event-stream")
      .send(listener);
  });
}
