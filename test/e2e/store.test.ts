import { afterAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { RedisStore } from "../../src/io/store/redis-store.ts";
import { storeScript } from "../../src/io/store/store-script.ts";
import { recordLog } from "../support/log-recorder.ts";
import { type RedisServer, startRedis, storeAddress } from "./support/redis-server.ts";
import { undoAll } from "./support/undo.ts";

afterAll(undoAll);

const COUNT = storeScript("return redis.call('INCRBY', KEYS[1], ARGV[1])", z.number());

describe("RedisStore, on a real server", () => {
  it("runs scripts, again after a restart that forgets them", async () => {
    const server = await startRedis();
    await using store = await open(server);

    const counts = [await store.run(COUNT, ["a"], [2]), await store.run(COUNT, ["a"], [3])];
    await server.kill();
    await vi.waitFor(() => expect(store.isUp()).toBe(false));
    const away = await store.run(COUNT, ["a"], [1]);
    await server.start();
    await vi.waitFor(() => expect(store.isUp()).toBe(true), { timeout: 5_000 });

    expect(counts).toEqual([
      { kind: "reply", value: 2 },
      { kind: "reply", value: 5 },
    ]);
    expect(away).toMatchObject({ kind: "failed", reason: "away" });
    expect(await store.run(COUNT, ["a"], [1])).toEqual({ kind: "reply", value: 1 });
  });

  it.each([
    { why: "its memory is full", options: ["--maxmemory", "100kb"] },
    { why: "it is a replica", options: ["--replicaof", "127.0.0.1", "1"] },
  ])("is not up where it cannot write: $why", async ({ options }) => {
    const server = await startRedis(options);
    await using store = await open(server);

    expect(store.isUp()).toBe(false);
    expect(await store.run(COUNT, ["a"], [1])).toMatchObject({ kind: "failed" });
  });
});

function open({ port }: RedisServer): Promise<RedisStore> {
  const address = storeAddress(port);
  return RedisStore.open({ address, cluster: "blue" }, { logger: recordLog().logger, random: () => 0.5 });
}
