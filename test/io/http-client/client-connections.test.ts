import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clientOf } from "../../support/client-of.ts";
import { startRawServer } from "../../support/raw-server.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("createHttpClient() with kept connections", () => {
  it("opens new ones every three minutes, even if the old ones are always in use", async () => {
    await using server = await startRawServer({ onRequest: (socket) => socket.write(OK) });
    await using client = clientOf({ connectionsPerHost: 1 });
    const connections: number[] = [];

    for (const afterMs of [0, 40_000, 40_000, 40_000, 40_000, 40_000]) {
      vi.advanceTimersByTime(afterMs);
      await client.post({ url: server.url, headers: {}, body: {} });
      connections.push(server.connectionCount());
    }

    expect(connections).toEqual([1, 1, 1, 1, 1, 2]);
  });

  it("lets a request under way end on its connection", async () => {
    const waiting: Socket[] = [];
    await using server = await startRawServer({ onRequest: (socket) => waiting.push(socket) });
    await using client = clientOf({ connectionsPerHost: 1 });

    const result = client.post({ url: server.url, headers: {}, body: {} });
    await vi.waitUntil(() => waiting.length === 1);
    vi.advanceTimersByTime(180_000);
    const next = client.post({ url: server.url, headers: {}, body: {} });
    await vi.waitUntil(() => waiting.length === 2);
    waiting[0]?.write(OK);
    waiting[1]?.write(OK);

    expect([await result, await next]).toMatchObject([{ kind: "replied" }, { kind: "replied" }]);
  });

  it("closes and opens no connection after disposal, even for new requests", async () => {
    await using server = await startRawServer({ onRequest: (socket) => socket.write(OK) });
    const client = clientOf({ connectionsPerHost: 1 });
    const request = { url: server.url, headers: {}, body: {} };
    await client.post(request);
    vi.advanceTimersByTime(3_600_000);

    await client[Symbol.asyncDispose]();

    expect(await client.post(request)).toMatchObject({ kind: "failed", reason: "aborted" });
    expect(server.connectionCount()).toBe(1);
  });
});
