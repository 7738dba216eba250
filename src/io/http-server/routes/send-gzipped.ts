import { createGunzip } from "node:zlib";
import type { FastifyReply } from "fastify";

/** The size of a socket's writes; larger than zlib's default, for fewer calls to its threads. */
const CHUNK_BYTES = 65_536;

/** Replies with a gzipped body: unchanged to clients that accept gzip, else decompressed as fast as they read. */
export function sendGzipped(reply: FastifyReply, gzipped: Buffer): FastifyReply {
  void reply.header("vary", "accept-encoding");
  if (acceptsGzip(reply.request.headers["accept-encoding"])) {
    return reply.header("content-encoding", "gzip").send(gzipped);
  }
  const plain = createGunzip({ chunkSize: CHUNK_BYTES });
  plain.end(gzipped);
  return reply.send(plain);
}

/** RFC 9110, 12.5.3; a weight of 0 forbids it. */
function acceptsGzip(header: string | string[] | undefined): boolean {
  const codings = [header ?? ""].flat().join(",").toLowerCase().split(",");
  return codings.some((coding) => {
    const [name = "", ...parameters] = coding.split(";").map((part) => part.trim());
    return name === "gzip" && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
