import { describe, expect, it } from "vitest";

import { startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { ask } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const PROBE = "{ _meta { block { number } } }";

describe("startFleet()", () => {
  it("serves one subgraph in three lines", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-node" }] });

    const seen = await ask(fleet.endpoint("graph-node").url, PROBE);

    expect(seen.body).toEqual({ data: { _meta: { block: { number: fleet.chain("base").headAt() } } } });
  });

  it("puts endpoints of one origin on one host, and doubles of a URL on two", async () => {
    await using fleet = await startFleet({
      nowMs: () => NOW_MS,
      endpoints: [
        { kind: "gateway", key: "airdrops/subgraph/production/base" },
        { kind: "gateway", key: "lockup/subgraph/production/base" },
        { kind: "gateway", key: "streams/subgraph/production/base", path: "/api/subgraphs/id/one" },
        { kind: "gateway", key: "flow/subgraph/production/base", path: "/api/subgraphs/id/one" },
      ],
    });

    const hosts = fleet.endpoints("*/subgraph/*/*").map(({ url }) => new URL(url).host);

    expect(hosts).toHaveLength(4);
    expect(new Set(hosts.slice(0, 3)).size).toBe(1);
    expect(hosts[3]).not.toBe(hosts[0]);
  });

  it("refuses a chain that it does not have", async () => {
    const started = startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "rpc", chains: ["mode"] }] });

    await expect(started).rejects.toThrow("Cannot find chain mode: the fleet has 0 of it");
  });

  it("closes everything, also requests that hang", async () => {
    const fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-node" }] });
    const endpoint = fleet.endpoint("graph-node");
    endpoint.fail("hang_before_headers");
    const hanging = ask(endpoint.url, PROBE).catch((error: unknown) => error);
    await arrivalOf(() => endpoint.lastRequest);

    await fleet[Symbol.asyncDispose]();

    expect(await hanging).toBeInstanceOf(TypeError);
    await new Promise((resolve) => setImmediate(resolve));
    expect(process.getActiveResourcesInfo()).not.toContain("TCPServerWrap");
  });
});

describe("SimulatedFleet", () => {
  it("changes targets by key and by pattern", async () => {
    await using fleet = await startFleet({
      nowMs: () => NOW_MS,
      endpoints: [{ kind: "envio", key: "airdrops/multichain/production/all", chains: ["base", "ethereum"] }],
    });

    for (const target of fleet.targets("airdrops/multichain/production/*")) {
      target.set({ lagBlocks: 200 });
    }
    fleet.target("airdrops/multichain/production/base").set({ lagBlocks: 7 });

    const seen = await ask(
      fleet.endpoint("airdrops/multichain/production/all").url,
      "{ _meta { progressBlock } }",
    );
    expect(seen.body).toEqual({
      data: {
        _meta: [
          { progressBlock: fleet.chain("ethereum").headAt() - 200 },
          { progressBlock: fleet.chain("base").headAt() - 7 },
        ],
      },
    });
  });

  it("freezes, thaws and indexes anew as time goes by", async () => {
    let nowMs = NOW_MS;
    await using fleet = await startFleet({ nowMs: () => nowMs, endpoints: [{ kind: "graph-node" }] });
    const target = fleet.target("graph-node/base");
    const head = fleet.chain("base").headAt();

    target.freeze();
    nowMs += 600_000;
    const frozen = target.heightAt();
    target.thaw(60_000);
    nowMs += 30_000;
    const thawing = target.heightAt();
    nowMs += 30_000;
    const thawed = target.heightAt();
    target.reindex({ backBlocks: 100_000, withinMs: 60_000 });
    const restarted = target.heightAt();

    expect(frozen).toBe(head);
    expect(thawing).toBeGreaterThan(head + 150);
    expect(thawing).toBeLessThan(head + 300);
    expect(thawed).toBe(head + 330);
    expect(restarted).toBe(head + 330 - 100_000);
  });

  it("slows down without a step back, and is at the tip again after a thaw", async () => {
    let nowMs = NOW_MS;
    await using fleet = await startFleet({ nowMs: () => nowMs, endpoints: [{ kind: "graph-node" }] });
    const target = fleet.target("graph-node/base");
    const head = fleet.chain("base").headAt();

    target.slow(0.25);
    nowMs += 80_000;
    const slowed = target.heightAt();
    target.thaw(20_000);
    nowMs += 20_000;

    expect(slowed).toBe(head + 10);
    expect(target.heightAt()).toBe(head + 50);
  });

  it("halts a chain, and lets it go on", async () => {
    let nowMs = NOW_MS;
    await using fleet = await startFleet({ nowMs: () => nowMs, endpoints: [{ kind: "rpc" }] });
    const chain = fleet.chain("base");
    const head = chain.headAt();

    chain.halt();
    nowMs += 60_000;
    const halted = chain.headAt();
    chain.resume(2);
    nowMs += 10_000;

    expect(halted).toBe(head);
    expect(chain.headAt()).toBe(head + 10);
  });

  it("heals everything, but not the past of a chain", async () => {
    let nowMs = NOW_MS;
    await using fleet = await startFleet({ nowMs: () => nowMs, endpoints: [{ kind: "graph-node" }] });
    const head = fleet.chain("base").headAt();
    fleet.chain("base").halt();
    fleet.endpoint("graph-node").fail("http_500");
    fleet.target("graph-node/base").set({ lagBlocks: 50 });
    await fleet.origin("graph-node").close();
    nowMs += 60_000;

    await fleet.heal();
    nowMs += 4_000;

    const seen = await ask(fleet.endpoint("graph-node").url, PROBE);
    expect(seen.body).toEqual({ data: { _meta: { block: { number: head + 2 } } } });
  });
});

describe("SimulatedEndpoint", () => {
  it("counts requests, and remembers the last", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "studio" }] });
    const endpoint = fleet.endpoint("studio");

    await ask(endpoint.url, PROBE);
    await ask(endpoint.url, PROBE, { "user-agent": "synclag-test" });
    await ask(new URL("/elsewhere", endpoint.url).href, PROBE);

    expect(endpoint.requestCount).toBe(2);
    expect(endpoint.lastRequest?.call.body).toBe(JSON.stringify({ query: PROBE }));
    expect(endpoint.lastRequest?.call.headers["user-agent"]).toBe("synclag-test");
    expect(fleet.origin("studio").requestCounts.get("/elsewhere")).toBe(1);
  });

  it("answers 429 past its daily limit, until the next UTC day", async () => {
    let nowMs = NOW_MS;
    await using fleet = await startFleet({
      nowMs: () => nowMs,
      endpoints: [{ kind: "studio", behaviour: { dailyLimit: 2, retryAfter: "60" } }],
    });
    const { url } = fleet.endpoint("studio");

    const statuses = [await ask(url, PROBE), await ask(url, PROBE), await ask(url, PROBE)].map(
      ({ status, headers }) => ({ status, retryAfter: headers.get("retry-after") }),
    );
    nowMs += 43_200_000;
    const tomorrow = await ask(url, PROBE);

    expect(statuses).toEqual([
      { status: 200, retryAfter: null },
      { status: 200, retryAfter: null },
      { status: 429, retryAfter: "60" },
    ]);
    expect(tomorrow.status).toBe(200);
  });

  it("reads the height at a random instant of the request, and tells which", async () => {
    await using fleet = await startFleet({
      nowMs: () => performance.timeOrigin + performance.now(),
      endpoints: [{ kind: "graph-node", behaviour: { latency: { minMs: 30, maxMs: 30 } } }],
    });
    const endpoint = fleet.endpoint("graph-node");

    const shares: number[] = [];
    for (let count = 0; count < 10; count++) {
      await ask(endpoint.url, PROBE);
      const last = endpoint.lastRequest;
      shares.push(((last?.readAtMs ?? 0) - (last?.receivedAtMs ?? 0)) / 30);
    }

    expect(Math.min(...shares)).toBeLessThan(0.4);
    expect(Math.max(...shares)).toBeGreaterThan(0.6);
  });
});

describe("Origin", () => {
  it("refuses connections while it is closed, and is back under the same URL", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-node" }] });
    const { url } = fleet.endpoint("graph-node");

    await fleet.origin("graph-node").close();
    const refused = await ask(url, PROBE).catch((error: unknown) => error);
    await fleet.origin("graph-node").open();
    const seen = await ask(url, PROBE);

    expect(refused).toMatchObject({ cause: { code: "ECONNREFUSED" } });
    expect(seen.status).toBe(200);
  });
});

/** Looks again and again, between turns of the event loop, until something is there. */
async function arrivalOf(look: () => unknown): Promise<void> {
  while (look() === null) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
