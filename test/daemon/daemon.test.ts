import type { Socket } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { startRawServer } from "../support/raw-server.ts";
import { configOf, startTestApp } from "../support/running-app.ts";

const HEAD = '{"data":{"_meta":{"block":{"number":1200}}}}';
const VARIANTS = ["often", "too", "rarely"] as const;

describe("Daemon", () => {
  it("asks at once what it asked in vain while nothing could be reached, though it is due next year", async () => {
    await using fleet = await startFleet({
      nowMs: Date.now,
      endpoints: VARIANTS.map((variant) => ({
        kind: "studio",
        key: `airdrops/${variant}/production/base`,
        chains: ["base"],
        origin: variant,
        path: `/query/1/${variant}/version/latest`,
      })),
    });
    const providers = VARIANTS.map((variant) => fleet.endpoint(`airdrops/${variant}/production/base`));
    const [often, too, rarely] = providers.map(({ url }) => url);
    for (const provider of providers) {
      provider.fail("http_502");
    }
    await using app = await startTestApp(
      configOf(`
version: 1
poll: { retries: 0 }
chains:
  base: { id: 8453, name: Base, block_time: 2s }
protocols:
  airdrops:
    - { variant: often, url: "${often}", schedule: "* * * * * *", chains: [base] }
    - { variant: too, url: "${too}", schedule: "* * * * * *", chains: [base] }
    - { variant: rarely, url: "${rarely}", schedule: "0 0 0 1 1 *", chains: [base] }
`),
    );
    await vi.waitFor(() => expect(app.report().incidents).toMatchObject([{ scope: "network" }]), 10_000);

    for (const provider of providers) {
      provider.heal();
    }

    await vi.waitFor(() => {
      const statuses = app.report().chains.flatMap(({ targets }) => targets.map(({ status }) => status));
      expect(statuses).toEqual(["ok", "ok", "ok"]);
    }, 10_000);
  });

  it("keeps polls under way on reloads before the first answer", async () => {
    const waiting: Socket[] = [];
    await using server = await startRawServer({ onRequest: (socket) => waiting.push(socket) });
    const config = configOf(`
version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s }
protocols:
  airdrops:
    - { variant: subgraph, url: "${server.url}", dialect: graph, schedule: "0 0 0 1 1 *", chains: [base] }
`);
    await using app = await startTestApp(config, { loadConfig: () => config });
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 5_000);

    for (let reload = 0; reload < 5; reload += 1) {
      await app.reload();
    }
    waiting[0]?.write(`HTTP/1.1 200 OK\r\ncontent-length: ${HEAD.length}\r\n\r\n${HEAD}`);

    await vi.waitFor(() => expect(app.report().chains[0]?.targets[0]?.status).not.toBe("unknown"), 5_000);
    expect(server.requests).toHaveLength(1);
  });
});
