import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { StoreAddress } from "../../../src/config/config.ts";
import { RedisStore } from "../../../src/io/store/redis-store.ts";
import { storeScript } from "../../../src/io/store/store-script.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { type RespReply, startRespServer } from "../../support/resp-server.ts";

const SCRIPT = storeScript("return redis.call('INCR', KEYS[1])", z.number());
const OK: RespReply = () => "+OK\r\n";
const ALICE = { username: "alice", password: "hunter22" };

describe("RedisStore.run()", () => {
  it("sends the text of a script, and its keys with the prefix of the fleet", async () => {
    await using server = await startRespServer(() => ":7\r\n");
    await using store = await open(server.address);

    const reply = await store.run(SCRIPT, ["a", "b"], [1, "x"]);

    const rest = ["2", "synclag:{blue}:a", "synclag:{blue}:b", "1", "x"];
    expect(reply).toEqual({ kind: "reply", value: 7 });
    expect(server.commands.filter(([name]) => name === "EVAL")).toEqual([["EVAL", SCRIPT.lua, ...rest]]);
    expect(store.isUp()).toBe(true);
  });

  it("waits a second at most, then counts the store as away and connects again", async () => {
    let isHung = false;
    await using server = await startRespServer(() => (isHung ? null : "+OK\r\n"));
    await using store = await open(server.address);
    isHung = true;

    const replies = await Promise.all([store.run(SCRIPT, [], []), store.run(SCRIPT, [], [])]);

    expect(replies[0]).toEqual({ kind: "failed", reason: "away", detail: "no reply within a second" });
    expect(replies[1]).toMatchObject({ kind: "failed" });
    expect(store.isUp()).toBe(false);
    expect(await store.run(SCRIPT, [], [])).toMatchObject({ reason: "away", detail: "no connection" });

    isHung = false;

    await vi.waitFor(() => expect(store.isUp()).toBe(true), { timeout: 5_000 });
  });

  it("fails at once when the connection breaks, and connects again", async () => {
    await using server = await startRespServer(toScripts(null));
    await using store = await open(server.address);

    const call = store.run(SCRIPT, [], []);
    await vi.waitFor(() => expect(server.commands.at(-1)?.[0]).toBe("EVAL"), 30_000);
    server.hangUp();

    expect(await call).toMatchObject({ kind: "failed", reason: "away" });
    await vi.waitFor(() => expect(store.isUp()).toBe(true), { timeout: 5_000 });
  });

  it.each([
    { error: "READONLY You can't write against a read only replica.", reason: "away" },
    { error: "ERR user_script:1: OOM command not allowed. script: ab, on @user_script:1.", reason: "away" },
    { error: "ERR unknown command `EVAL`", reason: "refused" },
    { error: "NOPERM this user has no permissions to run the 'eval' command", reason: "refused" },
    { error: "WRONGTYPE Operation against a key holding the wrong kind of value", reason: "unusable" },
  ])("is not up while the server replies $error", async ({ error, reason }) => {
    await using server = await startRespServer(toScripts(`-${error}\r\n`));
    await using store = await open(server.address);

    const reply = await store.run(SCRIPT, [], []);

    expect(reply).toEqual({ kind: "failed", reason, detail: `the store replies: ${error}` });
    expect(store.isUp()).toBe(false);
  });
});

describe("RedisStore.open()", () => {
  it("logs in as the user of the URL, and selects the database", async () => {
    await using server = await startRespServer(OK);

    await using store = await open({ ...server.address, ...ALICE, database: 3 });

    expect(store.isUp()).toBe(true);
    expect(server.commands).toContainEqual(["AUTH", "alice", "hunter22"]);
    expect(server.commands).toContainEqual(["SELECT", "3"]);
  });

  it("succeeds while the store is unreachable, and logs neither user nor password", async () => {
    const log = recordLog();
    const gone = await startRespServer(OK);
    await gone[Symbol.asyncDispose]();
    await using refusing = await startRespServer(() => "-WRONGPASS invalid username-password pair\r\n");

    for (const { address } of [gone, refusing]) {
      await using store = await open({ ...address, ...ALICE }, log);
      expect(store.isUp()).toBe(false);
      expect(await store.run(SCRIPT, [], [])).toMatchObject({ kind: "failed" });
    }

    expect(log.lines).toEqual([
      expect.objectContaining({ msg: "Store unreachable", detail: "the host refuses the connection" }),
      expect.objectContaining({ msg: "Store unreachable", detail: expect.stringContaining("WRONGPASS") }),
    ]);
    expect(JSON.stringify(log.lines)).not.toMatch(/alice|hunter22/);
  });
});

/** What the server replies to a script, and an OK to all else. */
function toScripts(reply: string | null): RespReply {
  return ([name]) => (name === "EVAL" ? reply : "+OK\r\n");
}

function open(address: StoreAddress, { logger } = recordLog()): Promise<RedisStore> {
  return RedisStore.open({ address, cluster: "blue" }, { logger, random: () => 0.5 });
}
