import { describe, expect, it } from "vitest";
import { startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { hashOf } from "../../../src/sim/model/chain-model.ts";
import { call, get, post } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe("answerRpc()", () => {
  it("tells the newest block, the chain's id, and an older block", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "rpc" }] });
    const { url } = fleet.endpoint("rpc");
    const head = fleet.chain("base").headAt();

    const latest = await call(url, "eth_getBlockByNumber", ["latest", false]);
    const older = await call(url, "eth_getBlockByNumber", [`0x${(head - 10).toString(16)}`, false]);
    const chainId = await call(url, "eth_chainId", []);

    expect(latest.body).toMatchObject({
      jsonrpc: "2.0",
      id: 7,
      result: {
        number: `0x${head.toString(16)}`,
        hash: hashOf(8453, head, "main"),
        parentHash: hashOf(8453, head - 1, "main"),
        timestamp: `0x${(NOW_MS / 1_000).toString(16)}`,
        transactions: [],
      },
    });
    expect(older.body).toMatchObject({
      result: { hash: hashOf(8453, head - 10, "main"), timestamp: `0x${(NOW_MS / 1_000 - 20).toString(16)}` },
    });
    expect(chainId.body).toEqual({ jsonrpc: "2.0", id: 7, result: "0x2105" });
  });

  it("has no block beyond the head", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "rpc" }] });

    const seen = await call(fleet.endpoint("rpc").url, "eth_getBlockByNumber", ["0xffffffffff", false]);

    expect(seen.body).toEqual({ jsonrpc: "2.0", id: 7, result: null });
  });

  it("refuses what it does not understand", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "rpc" }] });
    const { url } = fleet.endpoint("rpc");

    const unknown = await call(url, "eth_foo", []);
    const broken = await post(url, "{");
    const got = await get(url);

    expect(unknown.body).toMatchObject({
      error: { code: -32601, message: "the method eth_foo does not exist/is not available" },
    });
    expect(broken.body).toMatchObject({ error: { code: -32700 } });
    expect(got.status).toBe(405);
  });
});
