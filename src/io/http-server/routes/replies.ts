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

/** The parameters of a request. @throws {Problem} If they are a sentence about an invalid parameter. */
export function valid<T>(asked: T | string): T {
  if (typeof asked === "string") {
    throw new Problem(400, asked);
  }
  return asked;
}

/** @throws {Problem} If it is null. */
export function orNotFound<T>(found: T | null, detail: string): T {
  if (found === null) {
    throw new Problem(404, detail);
  }
  return found;
}

export const JSON_TYPE = "application/json; charset=utf-8";
export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/** Text of an upstream cannot run as a script: only our own files may. */
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

/** The size of a write to a socket; larger than zlib's default, for fewer calls to its threads. */
const CHUNK_BYTES = 65_536;
/** The memory of a decompressor and its waiting chunks. */
const STREAM_BYTES = 4 * CHUNK_BYTES;
/** The number of bodies that are kept for one report: clients can ask for any number of filters and times. */
const MAX_KEPT = 64;

/** A body that many clients ask for. */
interface Body {
  readonly gzipped: Buffer;
  readonly etag: string;
}

const gzipOf = promisify(gzip);
/** The bodies by the report and the request. */
const bodies = new WeakMap<Report, Map<string, Body>>();
/**
 * The turns of client addresses. Bodies are made one at a time, with a turn of the event loop between two, so that polls wait
 * for one body at most.
 */
const turns = new FairTurns();

/**
 * Replies with the result of `make` for this report, route and `asked`, the part of the query that the route reads; other
 * parameters change nothing. The body is made and compressed once while the report is the latest; a client that has it already
 * gets 304.
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

  /** Null if the client is gone: nothing is made for it. */
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
  /** Default: nothing. */
  readonly asked?: object;
  readonly cacheControl?: string;
}

/** RFC 9110, 13.1.2: `*` or a list; weak and strong tags are compared alike. */
function isAnyOf(known: string | undefined, etag: string): boolean {
  const tags = (known ?? "").split(",").map((tag) => tag.trim());
  return tags.some((tag) => tag === "*" || `W/${tag.replace(/^W\//, "")}` === etag);
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

/** The memory of a reply until its client has read it. */
export function bytesOf(payload: unknown): number {
  if (typeof payload === "string" || Buffer.isBuffer(payload)) {
    return Buffer.byteLength(payload);
  }
  return payload == null ? 0 : STREAM_BYTES;
}

/** Replies with a gzipped body: unchanged to clients that accept gzip, else decompressed as fast as they read. */
export function sendGzipped(reply: FastifyReply, gzipped: Buffer): FastifyReply {
  varyByEncoding(reply);
  // RFC 9110, 12.5.3: a weight of 0 forbids it.
  const accepted = [reply.request.headers["accept-encoding"] ?? ""].flat().join(",").split(",");
  if (accepted.some((coding) => /^\s*gzip\s*(;|$)(?!\s*q=0(\.0*)?\s*$)/i.test(coding))) {
    return reply.header("content-encoding", "gzip").send(gzipped);
  }
  const plain = createGunzip({ chunkSize: CHUNK_BYTES });
  plain.end(gzipped);
  return reply.send(plain);
}

/** Added to a `Vary` on the origin, which CORS may have set. */
function varyByEncoding(reply: FastifyReply): FastifyReply {
  return reply.header("vary", [reply.getHeader("vary") ?? [], "accept-encoding"].flat().join(", "));
}

/** Replies with text that must not be cached, because it is of this instant only. */
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

/** The status for an unreadable request, by Node's code. Default: 400. */
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

/** An unknown path is 404; the text of an internal error is never sent. */
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

/** Adds the routes, and replies with 405 and `Allow` to all methods that they do not take. */
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
