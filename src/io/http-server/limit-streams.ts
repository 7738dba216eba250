import { constants, type ServerHttp2Stream } from "node:http2";
import type { Server } from "node:https";
import type { FastifyInstance } from "fastify";
import { sendProblem } from "./problems.ts";

export interface StreamLimits {
  /** How many may be under way at once, on all connections together. */
  readonly maxStreams: number;
  readonly maxHeaderBytes: number;
  /** Until a request must have come in whole. */
  readonly requestTimeoutMs: number;
}

/**
 * Holds requests of HTTP/2 to the limits that Node keeps by itself on HTTP/1, where each takes a connection. The setting
 * for the size of headers binds a client only once it has acknowledged it; deadlines there are none.
 */
export function limitStreams(server: FastifyInstance<Server>, limits: StreamLimits): void {
  let underWay = 0;
  server.addHook("onRequest", async (request, reply) => {
    const headerBytes = request.raw.rawHeaders.reduce((sum, text) => sum + text.length, 0);
    if (headerBytes > limits.maxHeaderBytes) {
      return sendProblem(reply, 431, "Cannot read the request");
    }
    return underWay > limits.maxStreams
      ? sendProblem(reply.header("retry-after", "1"), 503, "Cannot answer so many requests at once")
      : undefined;
  });
  server.server.prependListener("stream", (stream: ServerHttp2Stream) => {
    underWay += 1;
    const deadline = setTimeout(() => {
      if (isUnfinished(stream)) {
        stream.close(constants.NGHTTP2_CANCEL);
      }
    }, limits.requestTimeoutMs);
    stream.once("close", () => {
      underWay -= 1;
      clearTimeout(deadline);
    });
  });
}

/** Whether the client has yet to say that its request is whole. */
function isUnfinished({ state }: ServerHttp2Stream): boolean {
  return (
    state.state === constants.NGHTTP2_STREAM_STATE_OPEN ||
    state.state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL
  );
}
