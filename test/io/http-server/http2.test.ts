import { once } from "node:events";
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from "node:http2";
import { connect as connectTls } from "node:tls";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseWebConfig } from "../../../src/config/web/parse.ts";
import type { HttpServerOptions } from "../../../src/io/http-server/server.ts";
import type { ServerDeps } from "../../../src/io/http-server/server-deps.ts";
import { LiveWebSettings } from "../../../src/io/http-server/settings.ts";
import { serve } from "../../support/served.ts";
import { webConfigFolder } from "../../support/web-configs.ts";

let folder: ReturnType<typeof webConfigFolder>;

beforeAll(() => {
  folder = webConfigFolder();
});

afterAll(() => folder[Symbol.dispose]());

describe("addEventRoutes() over HTTP/2", () => {
  it("tells all who listen on one connection that there is something new", async () => {
    const { onNews, tell } = createNews();
    await using server = await serveHttp2({ onNews });
    using session = open(server.url);
    const first = await listen(session);
    const second = await listen(session);

    tell(7);

    expect(first.headers).toMatchObject({ ":status": 200, "content-type": "text/event-stream" });
    expect(await first.next()).toBe("id: 7\nevent: report\ndata: 7\n\n");
    expect(await second.next()).toBe("id: 7\nevent: report\ndata: 7\n\n");
  });

  it("outlives every limit of a request while something is told", async () => {
    const { onNews, tell } = createNews();
    await using server = await serveHttp2({ onNews }, { requestTimeoutMs: 100, idleTimeoutMs: 300 });
    using session = open(server.url);
    const listener = await listen(session);

    const told = [];
    for (let id = 1; id <= 8; id += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      tell(id);
      told.push(await listener.next());
    }

    expect(told.at(-1)).toContain("id: 8\n");
  });

  it("lets the server close while somebody listens", async () => {
    const { onNews } = createNews();
    const server = await serveHttp2({ onNews });
    using session = open(server.url);
    const listener = await listen(session);
    const closed = once(listener.stream, "close");

    await server[Symbol.asyncDispose]();

    await closed;
    expect(listener.stream.closed).toBe(true);
  });

  it("has room for others once listeners are gone, one by one or with their connection", async () => {
    const { onNews } = createNews();
    await using server = await serveHttp2({ onNews });
    using stays = open(server.url);
    const gone = open(server.url);
    const [first] = await Promise.all(Array.from({ length: 32 }, () => listen(stays)));
    await Promise.all(Array.from({ length: 32 }, () => listen(gone)));

    const refused = await listen(stays);
    first?.stream.close(constants.NGHTTP2_CANCEL);
    await expect.poll(async () => (await listen(stays)).headers[":status"]).toBe(200);
    gone.destroy();

    expect(refused.headers[":status"]).toBe(503);
    await expect.poll(async () => (await listen(stays)).headers[":status"]).toBe(200);
  });
});

describe("limitStreams()", () => {
  it.each([
    { what: "a big header", headers: { "x-big": "y".repeat(20_000) } },
    { what: "a huge URL", headers: { ":path": `/${"x".repeat(20_000)}` } },
    {
      what: "many headers",
      headers: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x-${index}`, "y".repeat(200)])),
    },
  ])("refuses $what, before and after the client knows the limit", async ({ headers }) => {
    await using server = await serveHttp2();
    using session = open(server.url);

    const first = await ask(session, headers);
    const fine = await ask(session, {});
    const later = await ask(session, headers);

    expect([first, fine, later]).toEqual(["431", "200", "error 11"]);
  });

  it("cuts a request off whose body never ends, and serves the others on its connection", async () => {
    await using server = await serveHttp2({}, { requestTimeoutMs: 200 });
    using session = open(server.url);
    const stream = session.request({ ":path": "/-/reload", ":method": "POST", "content-length": 900 });
    stream.on("error", () => undefined);

    stream.write("x");
    await once(stream, "close");

    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect(await ask(session, {})).toBe("200");
  });

  it("has no more answers under way than on HTTP/1, and again some once they are gone", async () => {
    const healthy = () => ({ ok: true, detail: "x".repeat(100_000) });
    await using server = await serveHttp2({ healthy });
    const greedy = Array.from({ length: 6 }, () => open(server.url));

    // Never read from: after 64 KiB they may send no more.
    const statuses = await Promise.all(
      greedy.flatMap((session) => Array.from({ length: 50 }, () => request(session, "/-/healthy"))),
    );
    for (const session of greedy) {
      session.destroy();
    }
    using other = open(server.url);

    expect(statuses.filter((status) => status === 200)).toHaveLength(256);
    expect(statuses.filter((status) => status === 503)).toHaveLength(44);
    await expect.poll(async () => await ask(other, {})).toBe("200");
  });
});

describe("startHttpServer() with HTTP/2 and a hostile client", () => {
  it("cuts off one that opens streams only to reset them, and serves the others", async () => {
    await using server = await serveHttp2();

    await sendFrames(server.url, openAndReset(20_000));

    using other = open(server.url);
    expect(await ask(other, {})).toBe("200");
  });

  it("survives any frames", async () => {
    await using server = await serveHttp2({}, { requestTimeoutMs: 50, idleTimeoutMs: 50 });
    const anyFrame = fc.record({
      type: fc.nat(12),
      flags: fc.nat(255),
      streamId: fc.oneof(fc.constantFrom(0, 1, 3, 2 ** 31 - 1), fc.nat(20)),
      payload: fc.oneof(
        fc.constant(GET),
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      ),
    });

    await fc.assert(
      fc.asyncProperty(fc.array(anyFrame, { maxLength: 8 }), async (frames) => {
        await sendFrames(server.url, Buffer.concat([START, ...frames.map(frame)]));
      }),
      { numRuns: 60 },
    );

    using other = open(server.url);
    expect(await ask(other, {})).toBe("200");
  });

  it("cuts off one that takes no answer", async () => {
    const healthy = () => ({ ok: true, detail: "x".repeat(100_000) });
    await using server = await serveHttp2({ healthy }, { idleTimeoutMs: 200 });
    using session = open(server.url);
    const closed = once(session, "close");

    expect(await request(session, "/-/healthy")).toBe(200);

    await closed;
    expect(session.destroyed).toBe(true);
  });

  it("serves others while one is silent after its handshake, and lets it go", async () => {
    await using server = await serveHttp2({}, { idleTimeoutMs: 200 });
    using silent = open(server.url);
    const closed = once(silent, "close");
    using other = open(server.url);

    expect(await ask(other, {})).toBe("200");
    await closed;
    expect(silent.destroyed).toBe(true);
  });
});

function serveHttp2(source: Partial<ServerDeps> = {}, options: HttpServerOptions = {}) {
  const text = "tls_server_config: { cert_file: cert.pem, key_file: key.pem }";
  const file = folder.write("web.yml", text);
  const web = new LiveWebSettings({
    load: () => parseWebConfig(text, { file, readFile: folder.readFile }),
    onChanged: () => undefined,
    onRefused: () => undefined,
    monotonicMs: () => 0,
  });
  return serve(source, { ...options, web });
}

function open(url: string): ClientHttp2Session & Disposable {
  const session = connect(url, { rejectUnauthorized: false, maxSendHeaderBlockLength: 100_000 });
  // To be cut off is an end like any other.
  session.on("error", () => undefined);
  return Object.assign(session, {
    [Symbol.dispose]() {
      session.destroy();
    },
  });
}

/** The status of the answer; or the code of RFC 9113, section 7, with which there was none. */
async function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders): Promise<string> {
  const stream = session.request({ ":path": "/-/healthy", ...headers });
  let status = "";
  stream.on("response", (answer) => {
    status = String(answer[":status"]);
  });
  stream.on("error", () => undefined);
  stream.resume();
  await new Promise((resolve) => stream.once("close", resolve));
  return status === "" ? `error ${stream.rstCode}` : status;
}

/** GET https://x/ by the static table of RFC 7541. */
const GET = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x78]);
const CANCEL = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]);
const END_OF_HEADERS_AND_STREAM = 0x5;
/** A connection's beginning: RFC 9113, section 3.4. */
const START = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame({ type: 0x4, flags: 0, streamId: 0, payload: Buffer.alloc(0) }),
]);

/** So many requests that are taken back at once: RFC 9113, sections 6.2 and 6.4. */
function openAndReset(count: number): Buffer {
  const streams = Array.from({ length: count }, (_, index) => [
    frame({ type: 0x1, flags: END_OF_HEADERS_AND_STREAM, streamId: 2 * index + 1, payload: GET }),
    frame({ type: 0x3, flags: 0, streamId: 2 * index + 1, payload: CANCEL }),
  ]);
  return Buffer.concat([START, ...streams.flat()]);
}

/** Sends bytes over TLS, and waits until the server has cut the connection. */
async function sendFrames(url: string, bytes: Buffer): Promise<void> {
  const port = Number(new URL(url).port);
  const socket = connectTls({ port, rejectUnauthorized: false, ALPNProtocols: ["h2"] });
  // A reset is an end like any other.
  const closed = new Promise((resolve) => socket.on("error", () => undefined).once("close", resolve));
  socket.resume();
  socket.write(bytes);
  await closed;
}

function frame(parts: {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(parts.payload.length, 0, 3);
  head.writeUInt8(parts.type, 3);
  head.writeUInt8(parts.flags, 4);
  head.writeUInt32BE(parts.streamId, 5);
  return Buffer.concat([head, parts.payload]);
}

/** The status of an answer that is not read. */
async function request(session: ClientHttp2Session, path: string): Promise<unknown> {
  const stream = session.request({ ":path": path });
  stream.on("error", () => undefined);
  // The first argument of `response` are the headers.
  const [headers] = (await once(stream, "response")) as [Readonly<Record<string, unknown>>];
  return headers[":status"];
}

/** A source of news, and the one who has some. */
function createNews() {
  const listeners = new Set<(id: number) => void>();
  const onNews: ServerDeps["onNews"] = (listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    onNews,
    tell: (id: number) => {
      for (const listener of listeners) {
        listener(id);
      }
    },
  };
}

/** Listens from now on: what comes first is taken. */
async function listen(session: ClientHttp2Session) {
  const stream = session.request({ ":path": "/api/v1/events" });
  stream.on("error", () => undefined);
  stream.setEncoding("utf8");
  const chunks = stream[Symbol.asyncIterator]();
  // The first argument of `response` are the headers.
  const [headers] = (await once(stream, "response")) as [Readonly<Record<string, unknown>>];
  await chunks.next();
  return { stream, headers, next: async () => String((await chunks.next()).value) };
}
