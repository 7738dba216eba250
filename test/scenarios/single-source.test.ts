import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { check } from "../../src/commands/check.ts";
import { configCheck } from "../../src/commands/config.ts";
import { commandWorld } from "../support/command-world.ts";
import { serveJson } from "../support/json-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { VirtualFleet } from "../support/virtual-fleet.ts";

const MINUTE = 60;
const INDEXER = "https://indexer.test/";

function chainsYaml(url: string): string {
  return `
version: 1
chains: { base: { id: 8453, block_time: 2s } }
protocols:
  airdrops:
    - { variant: multichain, url: "${url}", dialect: graph, schedule: "*/15 * * * * *", chains: [base] }
`;
}

/** The only source of a chain, five minutes of polls: its blocks are so old when they are read. */
function alone(ageSeconds: number): VirtualFleet {
  const fleet = new VirtualFleet(chainsYaml(INDEXER));
  for (let round = 0; round < 20; round += 1) {
    fleet.wait(15);
    const block = 1_000_000 + Math.floor((round * 15) / 2);
    fleet.reply(INDEXER, { block, timestampSec: fleet.now - ageSeconds });
  }
  return fleet;
}

describe("a chain with a single source that reports block times", () => {
  it.each([
    { ageSeconds: 1, lag: 0, status: "ok" },
    { ageSeconds: 5, lag: 3, status: "ok" },
    { ageSeconds: 12 * MINUTE, lag: 12 * MINUTE - 2, status: "lagging" },
    { ageSeconds: 40 * MINUTE, lag: 40 * MINUTE - 2, status: "lagging" },
  ])(
    "is $status with a lag of $lag s where its blocks are $ageSeconds s old",
    async ({ ageSeconds, lag, status }) => {
      const fleet = alone(ageSeconds);

      const target = fleet.target("multichain");

      expect(target).toMatchObject({ status, lag_seconds: lag, lag_blocks: null });
      expect(target.detail).toContain("measured against the clock: its chain has a single source");
      expect(Object.values(await fleet.metric("synclag_lag_seconds"))).toEqual([lag]);
      expect(await fleet.metric("synclag_lag_blocks")).toEqual({});
      expect(await fleet.metric("synclag_reference_block_number")).toEqual({});
    },
  );

  it("has no lag where it reports no block times, and the detail says why", () => {
    const fleet = new VirtualFleet(chainsYaml(INDEXER));
    for (let round = 0; round < 20; round += 1) {
      fleet.wait(15);
      fleet.reply(INDEXER, { block: 1_000_000 + Math.floor((round * 15) / 2) });
    }

    const target = fleet.target("multichain");

    expect(target).toMatchObject({ status: "ok", lag_seconds: null });
    expect(target.detail).toContain("lag unknown: its chain has a single source, without block times");
  });

  it.each([
    { minutes: 1, code: 0 },
    { minutes: 12, code: 1 },
    { minutes: 29, code: 1 },
    { minutes: 40, code: 2 },
  ])("makes `check` end with $code at $minutes min", async ({ minutes, code }) => {
    await using folder = await temporaryFolder();
    await using indexer = await serveJson(() => {
      const timestamp = Math.floor(Date.now() / 1_000) - minutes * MINUTE;
      return { data: { _meta: { block: { number: 1_000_000, timestamp } } } };
    });
    const config = join(folder.path, "chains.yaml");
    await writeFile(config, chainsYaml(indexer.url));
    const { printed, world } = commandWorld({});

    const ended = await check([], { config, format: "json" }, world);

    expect({ ended, printed: printed.out.length }).toEqual({ ended: code, printed: 1 });
  });
});

describe("`config check`", () => {
  it("says in one line which chains have a single source", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "chains.yaml");
    const yaml = `
version: 1
chains:
  base: { id: 8453 }
  mode: { id: 34443, rpc: ["https://node.test/"] }
  form: { id: 478 }
  sei: { id: 1329 }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://indexer.test/", chains: [base, mode, form] }
    - { variant: subgraph, url: "https://other.test/{chain}", chains: [form] }
  lockup:
    - { variant: multichain, dialect: envio, url: "https://lockup.test/", chains: [sei] }
`;
    await writeFile(file, yaml);
    const { printed, world } = commandWorld({});

    configCheck(file, world);

    expect(printed.err).toEqual([
      `${file}: warning: base, sei: a single source, so nothing confirms its height, and lag is measured against the clock; add an RPC node (rpc) or another variant`,
    ]);
  });
});
