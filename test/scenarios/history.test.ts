import { describe, expect, it } from "vitest";
import { VirtualFleet } from "../support/virtual-fleet.ts";

const NODE = "https://node.test/";
const INDEXER = "https://indexer.test/";
const OTHER = "https://other.test/";
const CHAINS_YAML = `
version: 1
chains: { base: { id: 8453, block_time: 2s, rpc: ["${NODE}"] } }
protocols:
  airdrops:
    - { variant: multichain, url: "${INDEXER}", dialect: graph, schedule: "*/15 * * * * *", chains: [base] }
    - { variant: subgraph, url: "${OTHER}", dialect: graph, schedule: "*/15 * * * * *", chains: [base] }
`;

describe("the history behind the plots", () => {
  it("has one sample a minute, whose heights, lags and time are of one moment", async () => {
    const fleet = new VirtualFleet(CHAINS_YAML);
    const began = fleet.now;
    const behind = [0, 4, 10, 2, 0, 0];
    const polled = [];

    for (const [index, blocks] of behind.entries()) {
      const head = 1_000_000 + index * 8;
      fleet.reply(NODE, { block: head, timestampSec: fleet.now });
      fleet.reply(OTHER, { block: head });
      fleet.reply(INDEXER, { block: head - blocks });
      await fleet.record();
      polled.push({ time: fleet.now, lag: fleet.target("multichain").lag_seconds });
      fleet.wait(16);
    }
    const history = await fleet.history("airdrops", "base");

    const target = history.targets.find(({ variant }) => variant === "multichain");
    const behindReference = history.reference_block_number.map(
      (head, index) => (head ?? 0) - (target?.block_number[index] ?? 0),
    );
    const worst = polled.toSorted((a, b) => (b.lag ?? 0) - (a.lag ?? 0))[0];
    expect(worst?.lag).toBe(20);
    expect(history.timestamps).toEqual([worst?.time, began + 64]);
    expect(target?.lag_seconds[0]).toBe(worst?.lag);
    expect(target?.lag_seconds).toEqual(behindReference.map((blocks) => blocks * 2));
  });
});
