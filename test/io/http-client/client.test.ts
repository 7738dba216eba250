import type { Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { PostRequest } from "../../../src/core/model/http-post.ts";
import { issueCertificate } from "../../support/certificates.ts";
import { clientOf } from "../../support/client-of.ts";
import { serve as serveHttp } from "../../support/listener.ts";
import { type RawServer, startRawServer, takeRefusingPort } from "../../support/raw-server.ts";

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"data":{}}';

afterEach(() => {
  vi.useRealTimers();
});

// test/fixtures/http-answers.txt tests requests and single replies.

describe("the times of a reply", () => {
  it("are those of its first byte, because the server had read the height by then", async () => {
    // Later than a millisecond, to which the times are rounded.
    await using server = await serve((socket) => void setTimeout(() => socket.write(OK), 20));
    await using client = clientOf({ nowMs: () => 10_000 });

    const result = await client.post(requestTo(server));

    expect(result.receivedAtMs).toBeLessThanOrEqual(10_000);
    expect(result.receivedAtMs).toBeGreaterThan(result.sentAtMs);
    expect(result.sentAtMs).toBeGreaterThan(5_000);
    expect(result.receivedAtMs).toBe(Math.round(result.receivedAtMs));
  });

  it("are by the clock after the reply, even if the clock was set meanwhile", async () => {
    let nowMs = 3_600_000;
    await using server = await serve((socket) => {
      nowMs = 0;
      socket.write(OK);
    });
    await using client = clientOf({ nowMs: () => nowMs });

    const result = await client.post(requestTo(server));

    expect(result.receivedAtMs).toBeLessThanOrEqual(0);
    expect(result.sentAtMs).toBeLessThanOrEqual(result.receivedAtMs);
  });
});

describe("the limit of a reply", () => {
  it("applies to the kept lines of a large metrics page, not to the page", async () => {
    const other = `other_metric{label="value"} 1\n`.repeat(50_000);
    const page = `# TYPE other_metric gauge\n${other}app_block{chain="1"} 7\n${other}app_block{chain="2"} 8`;
    await using server = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${page.length}\r\n\r\n`);
      // In pieces that end within lines.
      for (const piece of page.match(/.{1,7777}/gs) ?? []) {
        socket.write(piece);
      }
    });
    await using client = clientOf({ maxResponseBytes: 1_000 });

    const result = await client.post({ ...requestTo(server), body: null, keep: ["app_block", "app_time"] });

    const body = '# TYPE other_metric gauge\napp_block{chain="1"} 7\napp_block{chain="2"} 8\n';
    expect(result).toMatchObject({ kind: "replied", reply: { body } });
  });

  it.each([
    { of: "a body", piece: "x", keep: undefined, detail: "more than 1000 bytes" },
    {
      of: "lines that are kept",
      piece: "app_block 7\n",
      keep: ["app_block"],
      detail: "more than 1000 bytes",
    },
    { of: "a line to keep", piece: "app_block 7 ", keep: ["app_block"], detail: "more than 1000 bytes" },
    { of: "other lines", piece: "other 7\n", keep: ["app_block"], detail: "more than 67108864 bytes" },
  ])("ends $of that never ends", async ({ piece, keep, detail }) => {
    await using server = await serve((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      writeEndlessly(socket, piece.repeat(20_000));
    });
    await using client = clientOf({ maxResponseBytes: 1_000, timeoutMs: 60_000 });

    const result = await client.post({ ...requestTo(server), body: null, ...(keep && { keep }) });

    expect(result).toMatchObject({ kind: "failed", reason: "too_large", detail: `replied with ${detail}` });
  });
});

describe("a hostile reply", () => {
  const LONG_LINE = "x".repeat(900_000);
  const CHUNKS = 20_000;

  it.each([
    { of: "a line of metrics that never ends", line: LONG_LINE, piece: "x", keep: ["app_block"] },
    { of: "lines of metrics of one character", line: LONG_LINE, piece: "\n", keep: ["app_block"] },
    { of: "a body", line: "", piece: "x", keep: undefined },
  ])("takes linear time, with $of in chunks of one byte", async ({ line, piece, keep }) => {
    const chunks = `${line && chunk(line)}${chunk(piece).repeat(CHUNKS)}${chunk("")}`;
    const hostile = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`;
    const body = "other 7\n".repeat(chunks.length / 8);
    const friendly = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const request = { body: null, ...(keep && { keep }) };
    // The first one compiles the code.
    await timeOf(friendly, request);

    const [usual, found] = [await timeOf(friendly, request), await timeOf(hostile, request)];

    expect(found / Math.max(1, usual)).toBeLessThan(100);
  });

  it("ends at a number of chunks, however far away the deadline is", async () => {
    const endless = chunk("x").repeat(1_000);
    await using server = await serve((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      writeEndlessly(socket, endless);
    });
    await using client = clientOf({ timeoutMs: 600_000 });

    const result = await client.post(requestTo(server));

    const detail = "replied in more than 100000 chunks";
    expect(result).toMatchObject({ kind: "failed", reason: "too_large", detail });
  });

  it.each([
    { of: "interim replies", piece: "HTTP/1.1 100 Continue\r\n\r\n" },
    { of: "an interim reply", piece: "x: HTTP/1.1 100 Continue\r\n" },
  ])("ends at a number of bytes of $of, however far away the deadline is", async ({ piece }) => {
    const endless = piece.repeat(1_000);
    await using server = await serve((socket) => {
      socket.write("HTTP/1.1 100 Continue\r\n");
      writeEndlessly(socket, endless);
    });
    await using client = clientOf({ timeoutMs: 600_000 });

    const result = await client.post(requestTo(server));

    const detail = "the headers of the reply are too long";
    expect(result).toMatchObject({ kind: "failed", reason: "too_large", detail });
  });

  /** CPU time in milliseconds. */
  async function timeOf(reply: string, request: Pick<PostRequest, "body" | "keep">): Promise<number> {
    await using server = await serve((socket) => socket.write(reply));
    await using client = clientOf({ timeoutMs: 600_000, maxResponseBytes: 2_000_000 });
    const before = process.cpuUsage();
    await client.post({ ...requestTo(server), ...request });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  }

  function chunk(text: string): string {
    return `${text.length.toString(16)}\r\n${text}\r\n`;
  }
});

describe("the deadline", () => {
  it("still lets a reply be read that came while this process stood still", async () => {
    await using server = await serve((socket) => {
      socket.write(OK);
      standStill(2_000);
    });
    await using client = clientOf({ timeoutMs: 1_000 });

    expect(await client.post(requestTo(server))).toMatchObject({ kind: "replied" });
  });

  it("ends a reply even while its bytes keep this process busy", async () => {
    const endless = "x".repeat(20_000);
    await using server = await serve((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      writeEndlessly(socket, endless);
    });
    await using client = clientOf({ timeoutMs: 50, maxResponseBytes: Number.MAX_SAFE_INTEGER });

    const result = await client.post(requestTo(server));

    expect(result).toMatchObject({ kind: "failed", reason: "timeout" });
  });
});

describe("connections", () => {
  it("are limited in number for each host", async () => {
    await using server = await serve((socket) => void setImmediate(() => socket.write(OK)));
    await using client = clientOf({ connectionsPerHost: 2 });

    const results = await Promise.all(Array.from({ length: 8 }, () => client.post(requestTo(server))));

    expect(results.map(({ kind }) => kind)).toEqual(Array(8).fill("replied"));
    expect(server.connectionCount()).toBe(2);
  });

  it("stay open if a server sends 100 Continue before each reply", async () => {
    await using server = await serve((socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${OK}`));
    await using client = clientOf({ connectionsPerHost: 1 });

    const results = [await client.post(requestTo(server)), await client.post(requestTo(server))];

    expect(results.map(({ kind }) => kind)).toEqual(["replied", "replied"]);
    expect(server.connectionCount()).toBe(1);
  });

  it("are opened again when the server has closed the idle one", async () => {
    const sockets: Socket[] = [];
    await using server = await serve((socket) => {
      sockets.push(socket);
      socket.write(OK);
    });
    await using client = clientOf();

    await client.post(requestTo(server));
    await new Promise((resolve) => sockets[0]?.once("close", resolve).end());
    const result = await client.post(requestTo(server));

    expect(result).toMatchObject({ kind: "replied" });
    expect(server.connectionCount()).toBe(2);
  });

  it("are opened again every three minutes, even if the old ones are always in use", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    await using server = await serve((socket) => socket.write(OK));
    await using client = clientOf({ connectionsPerHost: 1 });
    const connections: number[] = [];

    for (const afterMs of [0, 40_000, 40_000, 40_000, 40_000, 40_000]) {
      vi.advanceTimersByTime(afterMs);
      await client.post(requestTo(server));
      connections.push(server.connectionCount());
    }

    expect(connections).toEqual([1, 1, 1, 1, 1, 2]);
  });

  it("stay open until a running request has ended", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const waiting: Socket[] = [];
    await using server = await serve((socket) => waiting.push(socket));
    await using client = clientOf({ connectionsPerHost: 1 });

    const results = [client.post(requestTo(server))];
    await vi.waitUntil(() => waiting.length === 1);
    vi.advanceTimersByTime(180_000);
    results.push(client.post(requestTo(server)));
    await vi.waitUntil(() => waiting.length === 2);
    for (const socket of waiting) {
      socket.write(OK);
    }

    expect(await Promise.all(results)).toMatchObject([{ kind: "replied" }, { kind: "replied" }]);
  });

  it("end at shutdown: running requests are aborted, and none is sent", async () => {
    const client = clientOf();
    await using server = await serve(() => undefined);

    const hanging = client.post(requestTo(server));
    await vi.waitUntil(() => server.requests.length === 1);
    await client[Symbol.asyncDispose]();

    expect(await hanging).toMatchObject({ kind: "failed", reason: "aborted" });
    expect(await client.post(requestTo(server))).toMatchObject({ kind: "failed", reason: "aborted" });
    expect(server.requests).toHaveLength(1);
  });
});

describe("a failure before the request", () => {
  it("has the reason `timeout` for a TLS handshake that takes longer than the deadline", async () => {
    await using silent = await serve(() => undefined);
    await using client = clientOf({ timeoutMs: 150 });

    expect(await client.post(requestTo({ url: `https://127.0.0.1:${silent.port}/` }))).toMatchObject({
      kind: "failed",
      reason: "timeout",
    });
    expect(silent.connectionCount()).toBe(1);
  });

  it("says what is wrong with a certificate that is not trusted, and sends nothing", async () => {
    const stranger = issueCertificate({ host: "Trusted by nobody" });
    const details: string[] = [];
    for (const certificate of [
      issueCertificate({ host: "localhost" }),
      issueCertificate({ host: "localhost", issuer: stranger }),
    ]) {
      const tls = { key: certificate.keyPem, cert: certificate.certPem };
      await using server = await startRawServer({ onRequest: (socket) => socket.end(), tls });
      details.push(await failureTo(`https://localhost:${server.port}/`));
      expect(server.requests).toEqual([]);
    }

    expect(details).toEqual([
      "tls: the TLS certificate is self-signed",
      "tls: the TLS certificate comes from an authority that is not trusted",
    ]);
  });

  it("names a missing server, missing TLS or an unknown name", async () => {
    await using plain = await serveHttp((_request, response) => response.end());
    const urls = [
      `http://127.0.0.1:${await takeRefusingPort()}/`,
      `https://127.0.0.1:${plain.port}/`,
      // Refused by the resolver itself: no packet leaves.
      `http://${"a".repeat(64)}.invalid/`,
    ];

    const details = await Promise.all(urls.map(failureTo));

    expect(details.map((detail) => detail.split(":")[0])).toEqual(["connect", "tls", "dns"]);
  });

  it("is thrown if the request itself is invalid: its URL or a header", async () => {
    await using server = await serve((socket) => socket.write(OK));
    await using client = clientOf();

    await expect(client.post(requestTo({ url: "not a url" }))).rejects.toThrow();
    await expect(client.post({ ...requestTo(server), headers: { "x y": "z" } })).rejects.toThrow();
  });
});

function serve(onRequest: (socket: Socket) => unknown): Promise<RawServer> {
  return startRawServer({ onRequest: (socket) => void onRequest(socket) });
}

function writeEndlessly(socket: Socket, text: string): void {
  const writeMore = (): void => {
    while (!socket.destroyed && socket.write(text)) {
      // Writes until the other side stops reading.
    }
  };
  socket.on("drain", writeMore);
  writeMore();
}

/** Keeps this process busy, so that nothing else runs meanwhile. */
function standStill(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

function requestTo({ url }: Pick<RawServer, "url">): PostRequest {
  return { url, headers: {}, body: {} };
}

/** `REASON: DETAIL`. */
async function failureTo(url: string): Promise<string> {
  await using client = clientOf();
  const result = await client.post(requestTo({ url }));
  return result.kind === "failed" ? `${result.reason}: ${result.detail}` : result.kind;
}
