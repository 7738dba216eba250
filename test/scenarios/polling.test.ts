import { describe, expect, it } from "vitest";
import { FAULTS } from "../support/faults.ts";
import { type ReceivedRequest, startScenario } from "../support/scenario.ts";

// The other tests of polls are test/fixtures/daemon-stories/polling.txt and, for retries, faults.txt.
describe("a host with many endpoints", () => {
  const SLUGS = Array.from({ length: 24 }, (_, index) => `chain-${index}`);
  const FLEET = `
version: 1
poll: { concurrency: 8, per_host: 3, timeout: 10s, retries: 0 }
chains: { ${SLUGS.map((slug, index) => `${slug}: { id: ${1_000 + index}, block_time: 2s }`).join(", ")} }
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", schedule: "0 * * * * *", chains: [${SLUGS.join(", ")}] }
    - { variant: squid, dialect: squid, url: "https://{chain}.squid.example/", schedule: "0 * * * * *", chains: [${SLUGS.join(", ")}] }
`;
  const slow = { latency: { minMs: 900, maxMs: 1_000 } };

  it("gets no more requests at once than its limit, nor do all hosts together, and each endpoint is polled", async () => {
    await using play = await startScenario(FLEET, { endpoints: (spec) => ({ ...spec, ...slow }) });

    await play.run("30s");

    expect(mostAtOnce(play.received)).toBe(8);
    expect(mostAtOnce(play.received.filter(({ endpoint }) => endpoint.includes("subgraph")))).toBe(3);
    expect(new Set(play.received.map(({ endpoint }) => endpoint)).size).toBe(48);
    expect(play.received).toHaveLength(48);
    // 24 polls of the host, three at a time.
    expect(Math.max(...play.received.map(({ endMs }) => endMs))).toBeLessThan(10_000);
  });

  it("does not delay other hosts when it hangs", async () => {
    await using play = await startScenario(FLEET);
    await play.run("30s");
    for (const endpoint of play.fleet.endpoints("airdrops/subgraph/*/*")) {
      endpoint.fail(FAULTS.hang_before_headers);
    }

    await play.run("5m");

    const others = play.received.filter(({ endpoint }) => endpoint.includes("squid"));
    const late = others.filter(({ atMs }) => atMs > 30_000 && atMs % 60_000 > 3_000);
    expect(late).toEqual([]);
    expect(others).toHaveLength(24 * 6);
    expect(mostAtOnce(play.received)).toBeLessThanOrEqual(8);
  });
});

function mostAtOnce(requests: readonly ReceivedRequest[]): number {
  return Math.max(
    ...requests.map(({ atMs }) => requests.filter((one) => one.atMs <= atMs && atMs < one.endMs).length),
  );
}
