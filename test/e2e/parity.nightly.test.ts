import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { sampleValue } from "./support/exposition.ts";
import { freePort } from "./support/free-port.ts";
import { getJson } from "./support/loopback.ts";
import { startPonder } from "./support/ponder.ts";
import type { Program } from "./support/program.ts";
import { type Synclag, startSynclag } from "./support/synclag.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

/** Two minutes of blocks, made as fast as the indexers can follow. */
const BLOCKS = 120;
const BLOCKS_AT_ONCE = 20;
const MOST_BEHIND = 40;
/** An event comes every 50 blocks (ponder/src/every-block.ts): this is the second. */
const SKIPPED_BLOCK = 100;
/**
 * A difference takes three comparisons. On a busy machine the two are seldom near the head of a chain that grows each
 * second, and then the comparisons must be more than 64 blocks apart.
 */
const SETTLE = { timeout: 450_000, interval: 500 };

const status = z.object({
  targets: z.array(
    z.object({ variant: z.string(), status: z.string(), block_number: z.number().nullable() }),
  ),
  parity: z.array(
    z.object({
      result: z.string(),
      variant: z.string(),
      against: z.string(),
      value: z.string().nullable(),
      against_value: z.string().nullable(),
    }),
  ),
});

describe("synclag run, against two Ponders that index the same Anvil chain", () => {
  let folder: string;
  let chain: Anvil;
  /** The Ponders of these tests index two. */
  let other: Anvil;
  let second: Program;
  let synclag: Synclag;
  let ports: readonly [number, number];

  const start = (port: number, database: string, skippedBlock?: number): Promise<Program> =>
    startPonder({
      port,
      alphaRpcUrl: chain.url,
      betaRpcUrl: other.url,
      databaseDirectory: join(folder, database),
      ...(skippedBlock === undefined ? {} : { skippedBlock }),
    });

  const told = async () => status.parse(await getJson(`${synclag.url}/api/v1/status`));
  const results = async () => (await told()).parity.map(({ result }) => result);
  const statuses = async () => (await told()).targets.map((target) => target.status);

  beforeAll(async () => {
    folder = await temporaryFolder("parity");
    chain = await startAnvil({ chainId: 31_337, history: 100, missing: BLOCKS });
    other = await startAnvil({ chainId: 31_338, history: 10 });
    ports = [await freePort(), await freePort()];
    await start(ports[0], "first");
    second = await start(ports[1], "second");
    const configFile = join(folder, "chains.yaml");
    await writeFile(configFile, configuration(ports, chain.url));
    synclag = await startSynclag(configFile);
  });

  afterAll(undoAll);

  it("finds no difference while both follow the chain, and says equal", async () => {
    const seen = new Set<string>();
    for (let mined = 0; mined < BLOCKS; mined += BLOCKS_AT_ONCE) {
      await chain.mine(BLOCKS_AT_ONCE);
      const head = await chain.blockNumber();
      await expect
        .poll(async () => {
          const { targets, parity } = await told();
          for (const { result } of parity) {
            seen.add(result);
          }
          return Math.min(...targets.map((target) => target.block_number ?? 0));
        }, SETTLE)
        .toBeGreaterThan(head - MOST_BEHIND);
    }
    await chain.run();

    await expect.poll(results, SETTLE).toEqual(["equal"]);
    expect([...seen]).not.toContain("different");
    for (const variant of ["first", "second"]) {
      const labels = { probe: "events", variant };
      expect(sampleValue(await synclag.metrics(), "synclag_parity_failures_total", labels)).toBe(0);
    }
  });

  it("tells a Ponder that has skipped an event, and by how much it differs", async () => {
    await second.stop();
    second = await start(ports[1], "skipping", SKIPPED_BLOCK);

    await expect.poll(results, SETTLE).toEqual(["different"]);

    const [pair] = (await told()).parity;
    const skipping = pair?.variant === "second" ? pair.value : pair?.against_value;
    const complete = pair?.variant === "second" ? pair.against_value : pair?.value;
    expect(Number(complete)).toBeGreaterThan(1);
    expect(Number(complete) - Number(skipping)).toBe(1);
    // The height of either is perfect.
    await expect.poll(statuses, SETTLE).toEqual(["ok", "ok"]);
  });

  it("says equal again once it is mended", async () => {
    await second.stop();
    second = await start(ports[1], "mended");

    await expect.poll(results, SETTLE).toEqual(["equal"]);
  });
});

function configuration(ports: readonly [number, number], rpcUrl: string): string {
  const query = `{ select: 'tally(chainId: {chain_id}) { events }', value: tally.events }`;
  return `
version: 1
poll: { timeout: 2s, retries: 0, rpc_schedule: "* * * * * *" }
thresholds: { lagging: 30s, critical: 2m, stalled: 1m, stale: 30s }
chains:
  alpha: { id: 31337, name: Alpha, block_time: 1s, rpc: ["${rpcUrl}"] }
protocols:
  ledger:
    - { variant: first, dialect: ponder, url: "http://127.0.0.1:${ports[0]}/graphql", schedule: "* * * * * *", chains: [alpha] }
    - { variant: second, dialect: ponder, url: "http://127.0.0.1:${ports[1]}/graphql", schedule: "* * * * * *", chains: [alpha] }
parity:
  - name: events
    protocol: ledger
    every: 10s
    queries: { first: ${query}, second: ${query} }
`;
}
