import { createHash } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { constants, createGunzip, gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Report } from "../../../core/model/report.ts";
import { FairTurns } from "../../fair-turns.ts";
import { isSystemError } from "../../system-error.ts";

/** Receives the error that a handler threw, and the path of its route, such as `/chains/:chain`. */
export type ErrorListener = (error: unknown, route: string) => void;

/** A fault of a request, or a name that does not exist; a handler throws it. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly httpStatus: number;

  constructor(httpStatus: number, detail: string) {
    super(detail);
    this.httpStatus = httpStatus;
  }
}

/** The parameters that were read from a request. @throws {Problem} If the result is a sentence about an invalid parameter. */
export function valid<T>(asked: T | string): T {
  if (typeof asked === "string") {
    throw new Problem(400, asked);
  }
  return asked;
}

/** The value that was found. @throws {Problem} If it is null. */
export function orNotFound<T>(found: T | null, detail: string): T {
  if (found === null) {
    throw new Problem(404, detail);
  }
  return found;
}

export const JSON_TYPE = "application/json; charset=utf-8";
export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/** Only scripts in files of Synclag may run, so that a text of an upstream server cannot. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** The headers of every page. */
export const HTML_HEADERS = { "content-security-policy": POLICY, "content-type": "text/html; charset=utf-8" };

/** The chunk size of a decompressor; larger than zlib's default, for fewer calls to its threads. */
const CHUNK_BYTES = 65_536;
/** The memory of a decompressor and its waiting chunks. */
const STREAM_BYTES = 4 * CHUNK_BYTES;
/** At most this number of bodies is kept for one report, because clients can ask for any number of filters and times. */
const MAX_KEPT = 64;

/** A body, kept for all clients that ask for it. */
interface Body {
  readonly gzipped: Buffer;
  readonly etag: string;
}

const gzipOf = promisify(gzip);
/** The bodies, by report and by request. */
const bodies = new WeakMap<Report, Map<string, Body>>();
/**
 * Client addresses take turns. Bodies are made one at a time. Between two bodies the event loop runs once, so that a poll waits
 * for one body at most.
 */
const turns = new FairTurns();

/**
 * Replies with the result of `make`. The body is made once for each report, route and `asked`, the part of the query that the
 * route reads. A client that already has it gets 304.
 */
export async function sendOfReport(
  reply: FastifyReply,
  { asked = {}, cacheControl = "private, no-cache", make, report }: ReplyOfReport,
): Promise<FastifyReply> {
  const { headers, ip, params, routeOptions } = reply.request;
  const key = JSON.stringify([routeOptions.url, params, asked]);
  const known = bodies.get(report) ?? new Map<string, Body>();
  bodies.set(report, known);
  const body = known.get(key) ?? (await turns.run(ip, () => makeOnce()));
  if (body === null) {
    return reply.hijack();
  }
  const { gzipped, etag } = body;
  void reply.headers({ etag, "cache-control": cacheControl });
  return isAnyOf(headers["if-none-match"], etag)
    ? varyByEncoding(reply).code(304).send()
    : sendGzipped(reply, gzipped);

  /** Makes the body unless another request has made it. Null: the client is gone. */
  async function makeOnce(): Promise<Body | null> {
    const before = known.get(key);
    if (before !== undefined || reply.raw.destroyed) {
      return before ?? null;
    }
    await nextTurn();
    const made = await makeBody(make());
    if (known.size < MAX_KEPT) {
      known.set(key, made);
    }
    return made;
  }
}

interface ReplyOfReport {
  readonly report: Report;
  readonly make: () => string;
  /** The part of the query that the route reads. Default: nothing. */
  readonly asked?: object;
  readonly cacheControl?: string;
}

/** Whether an `If-None-Match` header has this tag. RFC 9110, 13.1.2: it is `*` or a list, and weak tags equal strong ones. */
function isAnyOf(known: string | undefined, etag: string): boolean {
  const tags = (known ?? "").split(",").map((tag) => tag.trim());
  return tags.some((tag) => tag === "*" || `W/${tag.replace(/^W\//, "")}` === etag);
}

async function makeBody(text: string): Promise<Body> {
  // The tag is weak, because it identifies the text, compressed or not.
  const etag = `W/"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`;
  return { gzipped: await compressed(text), etag };
}

/** Compresses off the event loop. */
export function compressed(content: string | Buffer): Promise<Buffer> {
  return gzipOf(content, { level: constants.Z_BEST_SPEED });
}

/** The memory of a reply until its client has read it. */
export function bytesOf(payload: unknown): number {
  if (typeof payload === "string" || Buffer.isBuffer(payload)) {
    return Buffer.byteLength(payload);
  }
  return payload == null ? 0 : STREAM_BYTES;
}

/** Replies with a gzipped body. For clients that do not accept gzip, it is decompressed as fast as they read. */
export function sendGzipped(reply: FastifyReply, gzipped: Buffer): FastifyReply {
  varyByEncoding(reply);
  // RFC 9110, 12.5.3: a weight of 0 forbids gzip.
  const accepted = [reply.request.headers["accept-encoding"] ?? ""].flat().join(",").split(",");
  if (accepted.some((coding) => /^\s*gzip\s*(;|$)(?!\s*q=0(\.0*)?\s*$)/i.test(coding))) {
    return reply.header("content-encoding", "gzip").send(gzipped);
  }
  const plain = createGunzip({ chunkSize: CHUNK_BYTES });
  plain.end(gzipped);
  return reply.send(plain);
}

/** Adds the encoding to `Vary`, in which CORS may have set the origin. */
function varyByEncoding(reply: FastifyReply): FastifyReply {
  return reply.header("vary", [reply.getHeader("vary") ?? [], "accept-encoding"].flat().join(", "));
}

/** Replies with text that must not be cached, because it is true only now. */
export function sendFresh(reply: FastifyReply, type: string, body: string): FastifyReply {
  return reply.header("cache-control", "no-store").type(type).send(body);
}

/** Problem details (RFC 9457). */
function problemJson(status: number, detail: string): string {
  return JSON.stringify({ type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, detail });
}

export function sendProblem(reply: FastifyReply, status: number, detail: string): FastifyReply {
  return sendFresh(reply.code(status), PROBLEM_TYPE, problemJson(status, detail));
}

/** The status for an unreadable request, by the code of Node's error. Default: 400. */
const STATUS_OF_UNREADABLE: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

/** Replies to a request that is not HTTP, too slow or too long, and closes the connection. */
export function refuseUnreadable({ code }: NodeJS.ErrnoException, socket: Socket): void {
  const status = STATUS_OF_UNREADABLE[code ?? ""] ?? 400;
  const body = problemJson(status, "Cannot read the request");
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${body.length}`,
    "connection: close",
  ];
  // After a reset no client reads the reply.
  if (socket.writable) {
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
  }
}

/** Replies to errors of requests. An unknown path is 404. The text of an internal error is never sent. */
export function answerProblems(server: FastifyInstance, onError: ErrorListener): void {
  server.setNotFoundHandler((request, reply) => sendProblem(reply, 404, `Path ${pathOf(request)} not found`));
  server.setErrorHandler((error, request, reply) => {
    if (error instanceof Problem) {
      return sendProblem(reply, error.httpStatus, error.message);
    }
    const status = error instanceof Error && "statusCode" in error ? Number(error.statusCode) : 500;
    if (status < 500) {
      return sendProblem(reply, status, "Cannot read the request");
    }
    // For example no free file descriptor: temporary, and not a bug.
    if (isSystemError(error)) {
      return sendProblem(reply.header("retry-after", "10"), 503, `Cannot reply now: ${String(error)}`);
    }
    onError(error, request.routeOptions.url ?? "");
    return sendProblem(reply, 500, "Internal error: see the log");
  });
}

/** Adds the routes, and replies with 405 and `Allow` to all other methods on their paths. */
export function withOtherMethods(server: FastifyInstance, addRoutes: () => void): void {
  const routes = new Map<string, readonly string[]>();
  server.addHook("onRoute", ({ method, url }) => {
    routes.set(url, [...(routes.get(url) ?? []), ...[method].flat()]);
  });
  addRoutes();
  for (const [url, methods] of [...routes]) {
    const allow = methods.toSorted().join(", ");
    server.route({
      url,
      method: server.supportedMethods.filter((method) => !methods.includes(method)),
      handler: (request, reply) => {
        const detail = `Method ${request.method} not allowed for ${pathOf(request)} (allowed: ${allow})`;
        return sendProblem(reply.header("allow", allow), 405, detail);
      },
    });
  }
}

function pathOf({ url }: FastifyRequest): string {
  return (url.split("?")[0] ?? "/").slice(0, 200);
}
