import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { freePort } from "./support/free-port.ts";
import { type Program, startProgram } from "./support/program.ts";
import { type Synclag, startSynclag } from "./support/synclag.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

const FOLDER = fileURLToPath(new URL("ponder", import.meta.url));
/** Two minutes of blocks. */
const HISTORY = 120;
/** An event comes every 50 blocks (ponder/src/every-block.ts): this is the second. */
const SKIPPED_BLOCK = 100;
/**
 * A difference takes three comparisons. On a busy machine the two are seldom near the head of a chain that grows each
 * second, and then the comparisons must be more than 64 blocks apart.
 */
const SETTLE = { timeout: 450_000, interval: 250 };
const CHAINS = ["alpha", "beta"] as const;

describe("synclag run, against two Ponders that index the same two Anvil chains", () => {
  let folder: string;
  let chains: Readonly<Record<(typeof CHAINS)[number], Anvil>>;
  let ports: readonly [first: number, second: number];
  let second: Program;
  let synclag: Synclag;

  /** Starts the indexer in test/e2e/ponder; it answers GraphQL some seconds later. */
  const startPonder = (port: number, database: string, skippedBlock = 0): Promise<Program> =>
    startProgram({
      command: process.execPath,
      args: `node_modules/ponder/dist/esm/bin/ponder.js start --schema e2e --hostname 127.0.0.1 --port ${port}`.split(
        " ",
      ),
      cwd: FOLDER,
      env: {
        PONDER_TELEMETRY_DISABLED: "1",
        ALPHA_RPC_URL: chains.alpha.url,
        BETA_RPC_URL: chains.beta.url,
        PONDER_DATABASE_DIRECTORY: join(folder, database),
        SKIPPED_BLOCK: String(skippedBlock),
      },
    });

  /** `first alpha ok -` for each target. */
  const verdicts = async () =>
    (await synclag.report()).targets
      .map((one) => `${one.variant} ${one.chain} ${one.status} ${one.reason ?? "-"}`)
      .toSorted();
  /** What is said of the first Ponder's own status page is what is said of its API. */
  const each = (first: string, other: string): readonly string[] => [
    ...CHAINS.map((chain) => `first ${chain} ${first}`),
    ...CHAINS.map((chain) => `second ${chain} ${other}`),
    ...CHAINS.map((chain) => `status ${chain} ${first}`),
  ];
  const results = async () => (await synclag.report()).parity.map(({ result }) => result);

  beforeAll(async () => {
    folder = await temporaryFolder("ponder");
    const [alpha, beta] = await Promise.all([startAnvil(31_337, HISTORY), startAnvil(31_338, HISTORY)]);
    chains = { alpha, beta };
    ports = [await freePort(), await freePort()];
    await writeFile(join(folder, "chains.yaml"), chainsYaml(ports, chains));
    synclag = await startSynclag(join(folder, "chains.yaml"));
  });

  afterAll(undoAll);

  it("reports connection refused, then ok once both have caught up, with a named and a detected dialect, by API and by page", async () => {
    await expect.poll(verdicts, SETTLE).toEqual(each("unreachable connect", "unreachable connect"));

    await startPonder(ports[0], "first");
    second = await startPonder(ports[1], "second");

    await expect.poll(verdicts, SETTLE).toEqual(each("ok -", "ok -"));
  });

  it("reports the heights that Anvil reports, as both chains grow", async () => {
    const wrong = async () => {
      const before = { alpha: await chains.alpha.blockNumber(), beta: await chains.beta.blockNumber() };
      const { targets } = await synclag.report();
      const after = { alpha: await chains.alpha.blockNumber(), beta: await chains.beta.blockNumber() };
      return targets.filter(({ chain, block_number: height }) => {
        const slug = chain === "alpha" ? "alpha" : "beta";
        // A poll a second, and Ponder's own poll of Anvil, may each be one block old.
        return height === null || height < before[slug] - 3 || height > after[slug];
      });
    };
    await expect.poll(wrong, SETTLE).toEqual([]);
    const from = await chains.alpha.blockNumber();
    await expect.poll(() => chains.alpha.blockNumber(), SETTLE).toBeGreaterThan(from + 3);
    await expect.poll(wrong, SETTLE).toEqual([]);
  });

  it("finds that both have the same data", async () => {
    await expect.poll(results, SETTLE).toEqual(["equal", "equal"]);
  });

  it("reports a timeout of a stopped Ponder, and ok when it continues", async () => {
    second.signal("SIGSTOP");
    await expect.poll(verdicts, SETTLE).toEqual(each("ok -", "unreachable timeout"));

    second.signal("SIGCONT");

    await expect.poll(verdicts, SETTLE).toEqual(each("ok -", "ok -"));
  });

  it("reports a missing event after a Ponder started from zero, although the heights are right", async () => {
    await second.stop();
    second = await startPonder(ports[1], "skipping", SKIPPED_BLOCK);

    await expect.poll(results, SETTLE).toEqual(["different", "different"]);

    for (const { variant, value, against_value } of (await synclag.report()).parity) {
      const fewer = Number(value) - Number(against_value);
      expect(variant === "first" ? fewer : -fewer).toBe(1);
    }
    await expect.poll(verdicts, SETTLE).toEqual(each("ok -", "ok -"));
  });
});

function chainsYaml(
  [first, second]: readonly [number, number],
  { alpha, beta }: Record<string, Anvil>,
): string {
  const query = `{ select: 'tally(chainId: {chain_id}) { events }', value: tally.events }`;
  const each = `schedule: "* * * * * *", chains: [alpha, beta]`;
  return `
version: 1
poll: { timeout: 2s, retries: 0, rpc_schedule: "* * * * * *" }
thresholds: { lagging: 30s, critical: 2m, stalled: 1m, stale: 30s }
chains:
  alpha: { id: 31337, name: Alpha, block_time: 1s, rpc: ["${alpha?.url}"] }
  beta: { id: 31338, name: Beta, block_time: 1s, rpc: ["${beta?.url}"] }
protocols:
  ledger:
    - { variant: first, dialect: ponder, url: "http://127.0.0.1:${first}/graphql", ${each} }
    - { variant: status, dialect: ponder-status, url: "http://127.0.0.1:${first}/status", ${each} }
    - { variant: second, url: "http://127.0.0.1:${second}/graphql", ${each} }
parity:
  - { name: events, protocol: ledger, every: 10s, queries: { first: ${query}, second: ${query} } }
`;
}
