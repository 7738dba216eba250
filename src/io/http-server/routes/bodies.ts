import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, createGunzip, gzip } from "node:zlib";
import type { FastifyReply } from "fastify";
import type { Report } from "../../../core/model/report.ts";

/** A body that many clients ask for. */
interface Body {
  readonly gzipped: Buffer;
  readonly etag: string;
}

/** The size of a socket's writes; larger than zlib's default, for fewer calls to its threads. */
const CHUNK_BYTES = 65_536;
/** The number of URLs whose bodies are kept for one report: clients can invent any number of URLs. */
const MAX_KEPT = 64;

const gzipOf = promisify(gzip);
const bodies = new WeakMap<Report, Map<string, Promise<Body>>>();

/**
 * Replies with what `make` returns for this report and URL. It is made and compressed once, as long as the report is the
 * latest; a client that has it already gets 304.
 */
export async function sendOfReport(
  reply: FastifyReply,
  report: Report,
  make: () => string,
  cacheControl = "private, no-cache",
): Promise<FastifyReply> {
  const { gzipped, etag } = await bodyOf(report, reply.request.url, make);
  void reply.headers({ etag, "cache-control": cacheControl });
  return reply.request.headers["if-none-match"] === etag
    ? reply.code(304).send()
    : sendGzipped(reply, gzipped);
}

function bodyOf(report: Report, url: string, make: () => string): Promise<Body> {
  const known = bodies.get(report) ?? new Map<string, Promise<Body>>();
  bodies.set(report, known);
  const body = known.get(url) ?? makeBody(make());
  if (known.size < MAX_KEPT) {
    known.set(url, body);
  }
  return body;
}

async function makeBody(text: string): Promise<Body> {
  // Weak: it identifies the text, compressed or not.
  const etag = `W/"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
  return { gzipped: await compressed(text), etag };
}

/** Compresses off the event loop. */
export function compressed(content: string | Buffer): Promise<Buffer> {
  return gzipOf(content, { level: constants.Z_BEST_SPEED });
}

/** Replies with a gzipped body: unchanged to clients that accept gzip, else decompressed as fast as they read. */
export function sendGzipped(reply: FastifyReply, gzipped: Buffer): FastifyReply {
  // Beside the origin, where that decides who may read it.
  void reply.header("vary", [reply.getHeader("vary") ?? [], "accept-encoding"].flat().join(", "));
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
