import { describe, expect, it, vi } from "vitest";
import { badRoutes, startOnStore } from "../support/daemon-on-store.ts";
import { startRespServer } from "../support/resp-server.ts";

vi.setConfig({ testTimeout: 60_000 });

describe("startApp(), on a store whose replies are of types that Redis never sends here", () => {
  it.concurrent.each([
    ["a simple string", "+OK\r\n"],
    ["a number", ":7\r\n"],
    ["a negative number", ":-7\r\n"],
    ["a number that is too large", ":99999999999999999999999\r\n"],
    ["no bulk string", "$-1\r\n"],
    ["an empty bulk string", "$0\r\n\r\n"],
    ["no array", "*-1\r\n"],
    ["an empty array", "*0\r\n"],
    ["an array of nothing", "*6\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n"],
    ["an array of arrays", "*6\r\n*0\r\n*0\r\n*0\r\n*0\r\n*0\r\n*0\r\n"],
    ["an array that is too short", "*1\r\n:1\r\n"],
    ["an array of huge numbers", `*6\r\n${"$5\r\n1e308\r\n".repeat(6)}`],
    [
      "a draw with huge numbers",
      `*5\r\n$7\r\ngranted\r\n${"$5\r\n1e308\r\n".repeat(3)}*4\r\n$5\r\nuntil\r\n$5\r\n1e308\r\n$7\r\nrefused\r\n$5\r\n1e308\r\n`,
    ],
    [
      "a lease with huge numbers",
      "*6\r\n:1\r\n$5\r\n1e308\r\n$1\r\na\r\n$5\r\n1e308\r\n$5\r\n1e308\r\n$5\r\n1e308\r\n",
    ],
    ["an array with an error", "*5\r\n-ERR nothing\r\n:1\r\n:1\r\n:1\r\n*0\r\n"],
    ["an error", "-ERR nothing\r\n"],
    ["an error of a wrong type", "-WRONGTYPE Operation against a key\r\n"],
    ["a RESP3 map", "%1\r\n+granted\r\n:1\r\n"],
    ["an array of RESP3 maps", `*6\r\n${"%1\r\n+granted\r\n:1\r\n".repeat(6)}`],
    ["a RESP3 set", "~2\r\n:1\r\n:2\r\n"],
    ["a RESP3 null", "_\r\n"],
    ["a RESP3 double", ",inf\r\n"],
    ["a RESP3 boolean", "#t\r\n"],
    ["a RESP3 big number", "(3492890328409238509324850943850943825024385\r\n"],
    ["a RESP3 verbatim string", "=7\r\ntxt:abc\r\n"],
    ["a RESP3 push", ">2\r\n+message\r\n+a\r\n"],
    ["a type that does not exist", "?1\r\n"],
    ["two replies", "+OK\r\n+OK\r\n"],
    ["another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n"],
  ])("goes on, serves its pages and says what is wrong, a few times only: %s", async (_, reply) => {
    await using server = await startRespServer(([name]) => (name === "EVALSHA" ? reply : "+OK\r\n"));
    await using daemon = await startOnStore({ port: server.address.port, cluster: "default" });
    const calls = (): number => server.commands.filter(([name]) => name === "EVALSHA").length;

    await vi.waitFor(() => expect(calls()).toBeGreaterThan(8), { timeout: 50_000, interval: 100 });
    const bad = await badRoutes(daemon.app);

    expect(bad).toEqual([]);
    expect(daemon.bugs).toEqual([]);
    expect(daemon.lines.filter(({ level }) => Number(level) >= 40)).not.toEqual([]);
  });
});
