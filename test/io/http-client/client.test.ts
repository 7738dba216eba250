import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import type { PostRequest, PostResult } from "../../../src/core/model/http-post.ts";
import { clientOf } from "../../support/client-of.ts";
import { serve } from "../../support/listener.ts";
import { type RawServer, startRawServer } from "../../support/raw-server.ts";

const BODY = '{"data":{}}';
const OK = answer(BODY);

describe("createHttpClient()", () => {
  it("posts JSON with its name and version, and returns the unchanged reply", async () => {
    await using server = await startRawServer({
      onRequest: (socket) =>
        socket.write(
          answer(BODY, { status: "503 Busy", headers: ["Retry-After: 7", "Content-Type: text/x"] }),
        ),
    });
    await using client = clientOf();

    const result = await client.post(requestTo(server));

    expect(result).toMatchObject({
      kind: "replied",
      reply: { httpStatus: 503, retryAfter: "7", body: BODY },
    });
    expect(server.requests[0]).toMatch(/^POST \/ HTTP\/1\.1\r\n/);
    expect(headersIn(server.requests[0])).toMatchObject({
      "user-agent": "synclag/9.9.9",
      "content-type": "application/json",
      "accept-encoding": "identity",
      accept: "application/json",
    });
    expect(server.requests[0]).toMatch(/\r\n\r\n\{"query":"\{ x \}"\}$/);
  });

  it("sends each configured header once, but accepts only readable encodings", async () => {
    await using server = await startRawServer({ onRequest: (socket) => socket.write(OK) });
    await using client = clientOf();

    const headers = { Authorization: "Bearer k", "USER-AGENT": "mine", "Accept-Encoding": "gzip" };
    await client.post({ ...requestTo(server), headers });

    expect(headersIn(server.requests[0])).toMatchObject({
      authorization: "Bearer k",
      "user-agent": "mine",
      "accept-encoding": "identity",
    });
    expect(server.requests[0]?.match(/^user-agent:/gim)).toHaveLength(1);
  });

  it("takes the answer's first byte for the instant at which the height had been read", async () => {
    // Later than a millisecond, to which the times are rounded.
    const onRequest = (socket: Socket) => void setTimeout(() => socket.write(OK), 20);
    await using server = await startRawServer({ onRequest });
    await using client = clientOf({ nowMs: () => 10_000 });

    const result = await client.post(requestTo(server));

    expect(result.receivedAtMs).toBeLessThanOrEqual(10_000);
    expect(result.receivedAtMs).toBeGreaterThan(result.sentAtMs);
    expect(result.sentAtMs).toBeGreaterThan(5_000);
    expect(result.receivedAtMs).toBe(Math.round(result.receivedAtMs));
  });

  it("sends a GET without a body", async () => {
    await using server = await startRawServer({ onRequest: (socket) => socket.write(OK) });
    await using client = clientOf();

    const result = await client.post({ ...requestTo(server), body: null });

    expect(result).toMatchObject({ kind: "replied", reply: { body: BODY } });
    expect(server.requests).toEqual([expect.stringMatching(/^GET \/ HTTP\/1\.1\r\n.*\r\n\r\n$/s)]);
  });

  it("has the times of the clock as it is after the reply, when it was set meanwhile", async () => {
    let nowMs = 3_600_000;
    await using server = await startRawServer({
      onRequest: (socket) => {
        nowMs = 0;
        socket.write(OK);
      },
    });
    await using client = clientOf({ nowMs: () => nowMs });

    const result = await client.post(requestTo(server));

    expect(result.receivedAtMs).toBeLessThanOrEqual(0);
    expect(result.sentAtMs).toBeLessThanOrEqual(result.receivedAtMs);
  });

  it("reads every form of a good answer", async () => {
    const forms: Readonly<Record<string, (socket: Socket) => void>> = {
      "HTTP/1.0 without a length": (socket) => socket.end(`HTTP/1.0 200 OK\r\n\r\n${BODY}`),
      "informational answers first": saying(`HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early\r\n\r\n${OK}`),
      chunks: saying(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nb\r\n${BODY}\r\n0\r\n\r\n`),
      "a byte order mark": saying(answer(`\xef\xbb\xbf${BODY}`)),
      "identity, said aloud": saying(answer(BODY, { headers: ["Content-Encoding: Identity"] })),
      "no reason phrase": saying(`HTTP/1.1 200\r\ncontent-length: 11\r\n\r\n${BODY}`),
      "one byte at a time": dripFast,
    };

    const results = await Promise.all(Object.values(forms).map((onRequest) => resultOf(onRequest)));

    expect(results.map((result) => (result.kind === "replied" ? result.reply.body : result.reason))).toEqual(
      Object.keys(forms).map(() => BODY),
    );
  });

  it("names the reason of every bad answer", async () => {
    const faults: readonly (readonly [string, (socket: Socket) => void, string])[] = [
      ["a reset before the head", reset, "connect"],
      ["a reset within the head", sayingThen("HTTP/1.1 200 O", reset), "connect"],
      ["a reset within the body", sayingThen(OK.slice(0, -3), reset), "connect"],
      ["an end before the head", (socket) => socket.end(), "connect"],
      ["an end within the body", (socket) => socket.end(OK.slice(0, -3)), "connect"],
      ["garbage", saying("SSH-2.0-OpenSSH_9.2\r\n"), "malformed"],
      ["binary garbage", saying("\x00\x15\x03\x01\x02\x02"), "malformed"],
      ["two lengths", saying(answer(BODY, { headers: ["Content-Length: 4"] })), "malformed"],
      ["a bad chunk", saying("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"), "malformed"],
      ["gzip unasked", saying(answer("\x1f\x8b", { headers: ["Content-Encoding: gzip"] })), "malformed"],
      ["too many headers", saying(answer(BODY, { headers: [`x: ${"y".repeat(20_000)}`] })), "too_large"],
      ["silence", () => undefined, "timeout"],
      ["half a head and silence", saying("HTTP/1.1 200 OK\r\nx: "), "timeout"],
      ["half a body and silence", saying(OK.slice(0, -3)), "timeout"],
      ["a drip without end", dripForever, "timeout"],
    ];

    const met = await Promise.all(
      faults.map(async ([fault, onRequest, reason]) => {
        const result = await resultOf(onRequest, { timeoutMs: reason === "timeout" ? 150 : 30_000 });
        return [fault, onRequest, result.kind === "failed" ? result.reason : result.kind];
      }),
    );

    expect(met).toEqual(faults);
  });

  it("stops reading at the limit, long before the end of 20 MB", async () => {
    let written = 0;
    await using server = await serve((_request, response) => {
      const pump = (): void => {
        while (written < 20_000_000 && !response.destroyed) {
          written += 65_536;
          if (!response.write(Buffer.alloc(65_536, "x"))) {
            response.once("drain", pump);
            return;
          }
        }
      };
      pump();
    });
    await using client = clientOf({ maxResponseBytes: 10_000 });

    const result = await client.post(requestTo(server));

    expect(result).toMatchObject({
      kind: "failed",
      reason: "too_large",
      detail: "answered with more than 10000 bytes",
    });
    expect(written).toBeLessThan(15_000_000);
  });

  it("keeps the lines of some metrics and the first one, of a page far beyond the limit", async () => {
    const other = `other_metric{label="value"} 1\n`.repeat(50_000);
    const page = `# TYPE other_metric gauge\n${other}app_block{chain="1"} 7\n${other}app_block{chain="2"} 8`;
    // In pieces that end within lines.
    const pieces = page.match(/.{1,7777}/gs) ?? [];
    await using server = await startRawServer({
      onRequest: (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${page.length}\r\n\r\n`);
        for (const piece of pieces) {
          socket.write(piece);
        }
      },
    });
    await using client = clientOf({ maxResponseBytes: 1_000 });

    const result = await client.post({ ...requestTo(server), body: null, keep: ["app_block", "app_time"] });

    const body = '# TYPE other_metric gauge\napp_block{chain="1"} 7\napp_block{chain="2"} 8\n';
    expect(result).toMatchObject({ kind: "replied", reply: { body } });
  });

  it.each([
    { of: "lines that are kept", piece: "app_block 7\n", detail: "more than 1000 bytes" },
    { of: "a line without end", piece: "app_block 7 ", detail: "more than 1000 bytes" },
    { of: "a page without end", piece: "other_metric 7\n", detail: "more than 67108864 bytes" },
  ])("cuts off $of where some metrics are kept", async ({ piece, detail }) => {
    await using server = await startRawServer({
      onRequest(socket) {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        const chunk = piece.repeat(20_000);
        const writeMore = (): void => {
          while (!socket.destroyed && socket.write(chunk)) {
            // Until the other side reads no more.
          }
        };
        socket.on("drain", writeMore);
        writeMore();
      },
    });
    await using client = clientOf({ maxResponseBytes: 1_000, timeoutMs: 60_000 });

    const result = await client.post({ ...requestTo(server), body: null, keep: ["app_block"] });

    expect(result).toMatchObject({ kind: "failed", reason: "too_large", detail: `answered with ${detail}` });
  });

  it("keeps all of an error, whatever was to be kept", async () => {
    const page = answer("line one\nline two", { status: "503 Busy" });
    await using server = await startRawServer({ onRequest: (socket) => socket.write(page) });
    await using client = clientOf();

    const result = await client.post({ ...requestTo(server), body: null, keep: ["app_block"] });

    expect(result).toMatchObject({ reply: { httpStatus: 503, body: "line one\nline two" } });
  });

  it("follows no redirection, so that a key goes nowhere else", async () => {
    await using elsewhere = await startRawServer({ onRequest: saying(OK) });
    const codes = [301, 302, 303, 307, 308];

    const results = await Promise.all(
      codes.map((code) =>
        resultOf(saying(answer("", { status: `${code} Moved`, headers: [`Location: ${elsewhere.url}`] }))),
      ),
    );

    expect(results.map((result) => result.kind === "replied" && result.reply.httpStatus)).toEqual(codes);
    expect(elsewhere.connectionCount()).toBe(0);
  });

  it("opens no more connections to a host than it may", async () => {
    await using server = await startRawServer({
      onRequest: (socket) => setImmediate(() => socket.write(OK)),
    });
    await using client = clientOf({ connectionsPerHost: 2 });

    const results = await Promise.all(Array.from({ length: 8 }, () => client.post(requestTo(server))));

    expect(results.map(({ kind }) => kind)).toEqual(Array(8).fill("replied"));
    expect(server.connectionCount()).toBe(2);
  });

  it("opens a new connection if the server has closed the idle one", async () => {
    const sockets: Socket[] = [];
    await using server = await startRawServer({
      onRequest: (socket) => {
        sockets.push(socket);
        socket.write(OK);
      },
    });
    await using client = clientOf();

    await client.post(requestTo(server));
    await closed(sockets[0]);
    const result = await client.post(requestTo(server));

    expect(result).toMatchObject({ kind: "replied" });
    expect(server.connectionCount()).toBe(2);
  });

  it("aborts running requests at shutdown with reason aborted, and sends no more", async () => {
    const client = clientOf();
    let arrived: () => void = () => undefined;
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    await using server = await startRawServer({ onRequest: () => arrived() });
    const hanging = client.post(requestTo(server));
    await arrival;

    await client[Symbol.asyncDispose]();

    expect(await hanging).toMatchObject({ kind: "failed", reason: "aborted" });
    expect(await client.post(requestTo(server))).toMatchObject({ kind: "failed", reason: "aborted" });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    { what: "a URL that is none", request: { url: "not a url" } },
    { what: "a header that can't be sent", request: { headers: { "x y": "z" } } },
  ])("throws for $what: no remote is to blame", async ({ request }) => {
    await using server = await startRawServer({ onRequest: (socket) => socket.write(OK) });
    await using client = clientOf();

    await expect(client.post({ ...requestTo(server), ...request })).rejects.toThrow();
  });
});

/** What a poll of a server that answers so has for a result. */
async function resultOf(
  onRequest: (socket: Socket) => void,
  options: Parameters<typeof clientOf>[0] = {},
): Promise<PostResult> {
  await using server = await startRawServer({ onRequest });
  await using client = clientOf(options);
  return await client.post({ ...requestTo(server), headers: { authorization: "Bearer k" } });
}

function requestTo({ url }: Pick<RawServer, "url">): PostRequest {
  return { url, headers: {}, body: { query: "{ x }" } };
}

function answer(
  body: string,
  {
    status = "200 OK",
    headers = [],
  }: { readonly status?: string; readonly headers?: readonly string[] } = {},
): string {
  const head = [`HTTP/1.1 ${status}`, `content-length: ${body.length}`, ...headers];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

function headersIn(request = ""): Readonly<Record<string, string>> {
  const lines = (request.split("\r\n\r\n")[0] ?? "").split("\r\n").slice(1);
  const pairs = lines.map((line) => line.split(": "));
  return Object.fromEntries(pairs.map(([name = "", value = ""]) => [name.toLowerCase(), value] as const));
}

function reset(socket: Socket): void {
  socket.resetAndDestroy();
}

function saying(text: string): (socket: Socket) => void {
  return (socket) => void socket.write(text, "latin1");
}

/** Says something, and acts once that has been read: a reset throws away what is still on its way. */
function sayingThen(text: string, act: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    socket.write(text);
    setTimeout(() => act(socket), 30);
  };
}

function dripFast(socket: Socket): void {
  socket.setNoDelay(true);
  const bytes = [...OK];
  const next = (): void => {
    const byte = bytes.shift();
    if (byte !== undefined) {
      socket.write(byte, () => setImmediate(next));
    }
  };
  next();
}

function dripForever(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
  const timer = setInterval(() => socket.write("x"), 10);
  socket.on("close", () => clearInterval(timer));
}

/** Closes it, and waits until the other side has done so as well. */
async function closed(socket: Socket | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    socket?.on("close", () => resolve());
    socket?.end();
  });
}
