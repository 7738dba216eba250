import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { ask, METRICS, send, serve } from "../../support/served.ts";

vi.setConfig({ testTimeout: 60_000 });

describe("startHttpServer() with a hostile client", () => {
  it("sends an error for invalid HTTP, and serves the next client", async () => {
    await using server = await serve();
    const cases: readonly (readonly [readonly string[], number])[] = [
      [[`GET /${"x".repeat(20_000)} HTTP/1.1`], 431],
      [["GET /metrics HTTP/1.1", `x: ${"y".repeat(20_000)}`], 431],
      [["\x16\x03\x01\x02\x00\x01"], 400],
      [[" / HTTP/1.1"], 400],
      [["POST /-/reload HTTP/1.1", "content-length: 1", "content-length: 2"], 400],
      [["POST /-/reload HTTP/1.1", "content-length: 1", "transfer-encoding: chunked"], 400],
      [["GET /metrics HTTP/1.1", "host:"], 200],
    ];

    for (const [head, status] of cases) {
      const answer = await ask(server.url, head);

      const isProblem = /\r\ncontent-type: application\/problem\+json; charset=utf-8\r\n/i.test(answer);
      expect([head, Number(answer.slice(9, 12)), isProblem]).toEqual([head, status, status !== 200]);
      expect((await fetch(`${server.url}/-/healthy`)).status).toBe(200);
    }
  });

  it.each([
    { what: "headers", bytes: "GET /metrics HTTP/1.1\r\nhost: x\r\nx: y" },
    { what: "a body", bytes: "POST /-/reload HTTP/1.1\r\nhost: x\r\ncontent-length: 900\r\n\r\nx" },
  ])("cuts the client off when $what never end", async ({ bytes }) => {
    await using server = await serve({}, { requestTimeoutMs: 100 });

    const answer = await send(server.url, bytes);

    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("cuts the client off when it does not read the reply", async () => {
    const healthy = () => ({ ok: true, detail: "x".repeat(30_000_000) });
    await using server = await serve({ healthy }, { idleTimeoutMs: 200 });
    const { hostname, port } = new URL(server.url);
    const accepted = nextServerSocket();
    const socket = connect(Number(port), hostname);

    // The client reads nothing meanwhile: it has no listener for data.
    socket.write("GET /-/healthy HTTP/1.1\r\nhost: x\r\n\r\n");
    await once(await accepted, "close");

    socket.on("error", () => undefined).resume();
    await new Promise((resolve) => socket.once("close", resolve));
    expect(socket.bytesRead).toBeLessThan(30_000_000);
  });

  it("limits connections, so that some are left for the polls", async () => {
    await using server = await serve({}, { requestTimeoutMs: 600_000 });
    let closed = 0;
    const all = Array.from({ length: 300 }, async () => {
      // The connection was closed without a reply, or reset while the request was on its way.
      await send(server.url, "GET / HTTP/1.1\r\nx: y").catch(() => undefined);
      closed += 1;
    });

    await vi.waitFor(() => expect(closed).toBe(44), 30_000);
    // The server accepts this connection after all of them, and closes one more for it.
    const answer = await ask(server.url, ["GET /-/healthy HTTP/1.1"]);
    await vi.waitFor(() => expect(closed).toBe(45), 30_000);
    await server[Symbol.asyncDispose]();

    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    await Promise.all(all);
  });

  it("cuts the client off at a second request before the first reply, whatever one packet holds", async () => {
    let scrapes = 0;
    const metrics = () => {
      scrapes += 1;
      return Promise.resolve(METRICS);
    };
    await using server = await serve({ metrics });

    const requests = "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n".repeat(1_000);
    await send(server.url, requests).catch(() => "");
    const next = await ask(server.url, ["GET /metrics HTTP/1.1"]);

    expect(next).toMatch(/^HTTP\/1\.1 200 /);
    expect(scrapes).toBe(2);
  });

  it("uses no more memory than its limit, and drops the slowest readers first", async () => {
    const size = 16_000_000;
    const healthy = () => ({ ok: true, detail: "x".repeat(size) });
    await using server = await serve({ healthy });
    const { hostname, port } = new URL(server.url);
    const closed: number[] = [];
    for (let number = 0; number < 12; number += 1) {
      const accepted = nextServerSocket();
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined).write("GET /-/healthy HTTP/1.1\r\nhost: x\r\n\r\n");
      void accepted.then((one) => one.once("close", () => closed.push(number)));
      // The reply has begun.
      await accepted.then((one) => vi.waitFor(() => expect(one.bytesWritten).toBeGreaterThan(0), 30_000));
    }

    const answer = await ask(server.url, ["GET /-/healthy HTTP/1.1"]);

    expect(answer.length).toBeGreaterThan(size);
    expect((12 - closed.length) * size).toBeLessThanOrEqual(64 * 1_048_576);
    expect(closed.slice(0, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("shuts down without delay", async () => {
    const server = await serve();
    const hanging = send(server.url, "GET /metrics HTTP/1.1\r\nhost: x\r\nx: y");
    await fetch(`${server.url}/-/healthy`);

    await server[Symbol.asyncDispose]();

    expect(await hanging).toBe("");
  });
});

/** The server's side of the connection that a server of this process accepts next. */
function nextServerSocket(): Promise<Socket> {
  return new Promise((resolve) => {
    const onSocket = (message: unknown): void => {
      unsubscribe("net.server.socket", onSocket);
      // https://nodejs.org/api/diagnostics_channel.html#netserversocket
      resolve((message as { readonly socket: Socket }).socket);
    };
    subscribe("net.server.socket", onSocket);
  });
}
