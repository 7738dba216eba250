import { describe, expect, it, vi } from "vitest";
import type { Config } from "../src/config/config.ts";
import { configErrorIn } from "../src/config/yaml/config-error.ts";
import { startFleet } from "../src/sim/fleet/simulated-fleet.ts";
import { configOf, scrape, startTestApp } from "./support/running-app.ts";

const PROTOCOLS = Array.from({ length: 12 }, (_, index) => `p${index}`);
/** These never answer: a poll of them is under way at every reload. */
const HANGING = new Set(["p4", "p9"]);
const RELOADS = 8;

describe("App.reload() without end", () => {
  it("disturbs neither polls nor scrapes, whether the file is good or bad", async () => {
    await using fleet = await startFleet({
      nowMs: Date.now,
      endpoints: PROTOCOLS.map((protocol) => ({
        kind: "graph-node" as const,
        key: `${protocol}/subgraph/production/base`,
        chains: ["base"],
        behaviour: { latency: { minMs: 20, maxMs: 300 } },
      })),
    });
    for (const protocol of HANGING) {
      fleet.endpoint(`${protocol}/subgraph/production/base`).fail("hang_before_headers");
    }
    const urlOf = (protocol: string) => fleet.endpoint(`${protocol}/subgraph/production/base`).url;
    const whole = configOf(chainsYaml(PROTOCOLS, urlOf));
    const half = configOf(chainsYaml(PROTOCOLS.slice(0, 6), urlOf));
    const files: readonly (Config | null)[] = [whole, null, half, null];
    let next: Config | null = whole;
    await using app = await startTestApp(whole, {
      loadConfig: () => next ?? refuse(),
    });

    const statuses: number[] = [];
    const verdicts: string[] = [];
    let isOver = false;
    const looking = ["/metrics", "/api/v1/status", "/"].map(async (path) => {
      while (!isOver) {
        const response = await fetch(app.url + path);
        // One that is not read keeps its connection, and the server bears so many.
        await response.arrayBuffer();
        statuses.push(response.status);
      }
    });
    for (let count = 0; count < RELOADS; count += 1) {
      next = files[count % files.length] ?? null;
      verdicts.push((await app.reload()).kind);
      const asked = requestsOf(fleet);
      await vi.waitFor(() => expect(requestsOf(fleet)).toBeGreaterThan(asked), 10_000);
    }
    next = whole;
    await app.reload();
    isOver = true;
    await Promise.all(looking);

    expect(verdicts).toEqual(
      Array.from({ length: RELOADS }, (_, count) => (count % 2 === 0 ? "reloaded" : "failed")),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    await vi.waitFor(async () => {
      const metrics = await scrape(app);
      const up = [...metrics].filter(([series]) => series.startsWith("synclag_up{"));
      expect(up.map(([, value]) => value).filter((value) => value === 1)).toHaveLength(10);
      expect(up).toHaveLength(12);
      expect(metrics.get("synclag_polls_in_flight")).toBeLessThanOrEqual(HANGING.size);
    }, 20_000);
    expect((await fetch(`${app.url}/-/healthy`)).status).toBe(200);
  });
});

function requestsOf(fleet: Awaited<ReturnType<typeof startFleet>>): number {
  return fleet.endpoints("*/*/*/*").reduce((sum, { requestCount }) => sum + requestCount, 0);
}

function refuse(): never {
  throw configErrorIn("chains.yaml", {
    problems: [{ line: 1, column: 1, path: ["chains"], message: "is wrong" }],
  });
}

function chainsYaml(protocols: readonly string[], urlOf: (protocol: string) => string): string {
  const indexers = protocols.map(
    (protocol) => `
  ${protocol}:
    - { variant: subgraph, dialect: graph, url: "${urlOf(protocol)}", schedule: "*/1 * * * * *", chains: [base] }`,
  );
  return `
version: 1
poll: { timeout: 5s, retries: 0 }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:${indexers.join("")}
`;
}
