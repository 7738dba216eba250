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
const SERIES = 'protocol="airdrops",variant="multichain",tier="production",chain="base",chain_id="8453"';

/** Three sources that agree for two minutes; then one claims a block of another chain, as often as this. */
function afterClaims(claims: number): VirtualFleet {
  const fleet = new VirtualFleet(CHAINS_YAML);
  for (let round = 0; round < 8 + claims; round += 1) {
    const head = { block: 1_000_000 + Math.floor((round * 15) / 2), timestampSec: fleet.now };
    fleet.reply(NODE, head);
    fleet.reply(OTHER, head);
    fleet.reply(INDEXER, round < 8 ? head : { ...head, block: head.block + 5_000_000 });
    fleet.wait(15);
  }
  return fleet;
}

describe("a height that is impossible", () => {
  it.each([
    { case: "in the first poll that claims it", claims: 1 },
    { case: "in the tenth", claims: 10 },
  ])("is not exported, and the target is not up, $case", async ({ claims }) => {
    const fleet = afterClaims(claims);

    const target = fleet.target("multichain");

    expect(target).toMatchObject({ status: "diverged", reason: "implausible", up: false });
    expect(target).toMatchObject({
      block_number: null,
      block_timestamp: null,
      lag_blocks: null,
      lag_seconds: null,
    });
    expect((await fleet.metric("synclag_up"))[`synclag_up{${SERIES}}`]).toBe(0);
    expect(Object.keys(await fleet.metric("synclag_block_number"))).not.toContain(
      `synclag_block_number{${SERIES}}`,
    );
    expect(Object.keys(await fleet.metric("synclag_block_number"))).toHaveLength(1);
  });

  it("is not exported while the target is still `ok`, before a second poll confirms what a third source has shown", () => {
    const fleet = new VirtualFleet(CHAINS_YAML);
    for (let round = 0; round < 9; round += 1) {
      const block = 1_000_000 + Math.floor((round * 15) / 2);
      fleet.reply(OTHER, { block });
      if (round === 8) {
        fleet.reply(NODE, { block, timestampSec: fleet.now });
      }
      fleet.reply(INDEXER, { block: block + 5_000_000 });
      fleet.wait(15);
    }

    const target = fleet.target("multichain");

    expect(target).toMatchObject({ status: "ok", reason: "implausible", up: false });
    expect(target).toMatchObject({ block_number: null, lag_blocks: null, lag_seconds: null });
    expect(target.detail).toMatch(
      /^advances, lag unknown; the last poll failed: implausible \(claims block 6,/,
    );
  });

  it("is not exported after polls that failed for another reason either", async () => {
    const fleet = afterClaims(2);

    fleet.reply(INDEXER, "timeout");

    expect(fleet.target("multichain")).toMatchObject({ reason: "timeout", up: false, block_number: null });
  });

  it("is exported again once the target is back on its chain", async () => {
    const fleet = afterClaims(3);

    for (let round = 11; round < 13; round += 1) {
      const head = { block: 1_000_000 + Math.floor((round * 15) / 2), timestampSec: fleet.now };
      fleet.reply(NODE, head);
      fleet.reply(OTHER, head);
      fleet.reply(INDEXER, head);
      fleet.wait(15);
    }

    expect(fleet.target("multichain")).toMatchObject({ up: true, block_number: 1_000_090, lag_blocks: 0 });
  });
});
