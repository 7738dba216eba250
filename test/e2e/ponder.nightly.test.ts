import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { freePort } from "./support/free-port.ts";
import type { Program } from "./support/program.ts";
import { temporaryFolder } from "./support/undo.ts";
import { SETTLE, startIndexer, type WatchedIndexers, watchIndexers } from "./support/watched-indexers.ts";

/** Two minutes of blocks. */
const HISTORY = 120;
/** An event comes every 50 blocks (ponder/src/every-block.ts): this is the second. */
const SKIPPED_BLOCK = 100;
const CHAINS = ["alpha", "beta"] as const;

describe("synclag run, against two Ponders that index the same two Anvil chains", () => {
  let folder: string;
  let chains: Readonly<Record<(typeof CHAINS)[number], Anvil>>;
  let ports: readonly [first: number, second: number];
  let second: Program;
  let watched: WatchedIndexers;

  /** Starts the indexer in tools/indexers/ponder; it serves GraphQL some seconds later. */
  const startPonder = (port: number, database: string, skippedBlock = 0): Promise<Program> =>
    startIndexer(
      "ponder",
      `ponder/dist/esm/bin/ponder.js start --schema e2e --hostname 127.0.0.1 --port ${port}`,
      {
        PONDER_TELEMETRY_DISABLED: "1",
        ALPHA_RPC_URL: chains.alpha.url,
        BETA_RPC_URL: chains.beta.url,
        PONDER_DATABASE_DIRECTORY: join(folder, database),
        SKIPPED_BLOCK: String(skippedBlock),
      },
    );

  /** The report on the first Ponder's status page is the same as that on its API. */
  const bothSay = (first: string, other: string): Promise<void> =>
    watched.says(
      ...Object.entries({ first, second: other, status: first }).flatMap(([variant, verdict]) =>
        CHAINS.map((chain) => `${variant} ${chain} ${verdict}`),
      ),
    );
  const parity = async () => (await watched.report()).parity;
  const results = async () => (await parity()).map(({ result }) => result);

  beforeAll(async () => {
    folder = await temporaryFolder("ponder");
    const [alpha, beta] = await Promise.all([startAnvil(31_337, HISTORY), startAnvil(31_338, HISTORY)]);
    chains = { alpha, beta };
    ports = [await freePort(), await freePort()];
    const [one, other] = ports.map((port) => `http://127.0.0.1:${port}`);
    const query = { select: "tally(chainId: {chain_id}) { events }", value: "tally.events" };
    watched = await watchIndexers({
      nodes: chains,
      indexers: {
        first: { dialect: "ponder", url: `${one}/graphql` },
        status: { dialect: "ponder-status", url: `${one}/status` },
        second: { url: `${other}/graphql` },
      },
      thresholds: { lagging: "30s", critical: "2m", stalled: "1m", stale: "30s" },
      parity: [
        { name: "events", protocol: "ledger", every: "10s", queries: { first: query, second: query } },
      ],
    });
  });

  it("reports connection refused, then ok once both have caught up, with a named and a detected dialect, by API and by page", async () => {
    await bothSay("unreachable connect", "unreachable connect");

    await startPonder(ports[0], "first");
    second = await startPonder(ports[1], "second");

    await bothSay("ok -", "ok -");
  });

  it("reports the heights that Anvil reports, as both chains grow", async () => {
    // A poll a second, and Ponder's own poll of Anvil, may each be one block old.
    const wrong = () => watched.wrongHeights(3);
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
    await bothSay("ok -", "unreachable timeout");

    second.signal("SIGCONT");

    await bothSay("ok -", "ok -");
  });

  it("reports a missing event after a Ponder started from zero, although the heights are right", async () => {
    await second.stop();
    second = await startPonder(ports[1], "skipping", SKIPPED_BLOCK);

    await expect.poll(results, SETTLE).toEqual(["different", "different"]);

    for (const { variant, value, against_value } of await parity()) {
      const fewer = Number(value) - Number(against_value);
      expect(variant === "first" ? fewer : -fewer).toBe(1);
    }
    await bothSay("ok -", "ok -");
  });
});
