import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { sampleValue } from "./support/exposition.ts";
import { freePort } from "./support/free-port.ts";
import { type GatedNode, startGatedNode } from "./support/gated-node.ts";
import { getJson } from "./support/loopback.ts";
import { startPonder } from "./support/ponder.ts";
import type { Program } from "./support/program.ts";
import { type Synclag, startSynclag } from "./support/synclag.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

/** Ten minutes of blocks. */
const HISTORY = 600;
/** Those that a Ponder which starts from zero does without while its node is shut; it asks for others when it starts. */
const PAST = { from: 100, to: 200 };
const SETTLE = { timeout: 240_000, interval: 250 };
const VARIANTS = ["told", "found"] as const;

const status = z.object({
  targets: z.array(
    z.object({
      variant: z.string(),
      chain: z.string(),
      status: z.string(),
      reason: z.string().nullable(),
      block_number: z.number().nullable(),
      detail: z.string(),
    }),
  ),
});

describe("synclag run, against a Ponder that indexes two Anvil chains", () => {
  let folder: string;
  let chains: Readonly<Record<"alpha" | "beta", Anvil>>;
  /** The same chains, as Ponder sees them. */
  let nodes: Readonly<Record<"alpha" | "beta", GatedNode>>;
  let port: number;
  let ponder: Program;
  let synclag: Synclag;

  const start = (database: string): Promise<Program> =>
    startPonder({
      port,
      alphaRpcUrl: nodes.alpha.url,
      betaRpcUrl: nodes.beta.url,
      databaseDirectory: join(folder, database),
    });

  const targets = async () => status.parse(await getJson(`${synclag.url}/api/v1/status`)).targets;
  const verdicts = async () =>
    [...new Set((await targets()).map((one) => `${one.status} ${one.reason ?? "-"}`))].sort();

  beforeAll(async () => {
    folder = await temporaryFolder("ponder");
    const [alpha, beta] = await Promise.all([
      startAnvil({ chainId: 31_337, history: HISTORY }),
      startAnvil({ chainId: 31_338, history: HISTORY }),
    ]);
    chains = { alpha, beta };
    nodes = { alpha: await startGatedNode(alpha.url, PAST), beta: await startGatedNode(beta.url, PAST) };
    port = await freePort();
    const configFile = join(folder, "chains.yaml");
    await writeFile(configFile, configuration({ port, alphaUrl: alpha.url, betaUrl: beta.url }));
    synclag = await startSynclag(configFile);
  });

  afterAll(undoAll);

  it("says that nobody listens, before Ponder is started", async () => {
    await expect.poll(verdicts, SETTLE).toEqual(["unreachable connect"]);
  });

  it("says syncing, never a failure, while Ponder starts from zero far behind both chains", async () => {
    shutNodes();
    ponder = await start("first");

    await expect.poll(verdicts, SETTLE).toEqual(["syncing -"]);
  });

  it("says ok on both chains and in both dialects once Ponder has caught up", async () => {
    openNodes();
    await expect.poll(verdicts, SETTLE).toEqual(["ok -"]);

    const all = await targets();
    expect(all.map((one) => `${one.variant} ${one.chain}`).sort()).toEqual([
      "found alpha",
      "found beta",
      "told alpha",
      "told beta",
    ]);
  });

  it.each(["alpha", "beta"] as const)("reports the height of %s that Anvil reports", async (chain) => {
    for (const variant of VARIANTS) {
      await expect
        .poll(async () => {
          const before = await chains[chain].blockNumber();
          const height =
            sampleValue(await synclag.metrics(), "synclag_block_number", { chain, variant }) ?? -1;
          const after = await chains[chain].blockNumber();
          // A poll a second, and Ponder's own poll of Anvil, may each be one block old.
          return before - 3 <= height && height <= after;
        }, SETTLE)
        .toBe(true);
    }
  });

  it("follows both chains as they grow", async () => {
    const heights = async () => (await targets()).map((one) => one.block_number ?? 0);
    const before = await heights();

    await expect
      .poll(async () => (await heights()).every((height, n) => height >= (before[n] ?? 0) + 3), SETTLE)
      .toBe(true);
  });

  it("says that a stopped Ponder does not answer in time, and ok again when it goes on", async () => {
    ponder.signal("SIGSTOP");
    await expect.poll(verdicts, SETTLE).toEqual(["unreachable timeout"]);
    const { samples } = await synclag.metrics();
    const ups = samples.filter((sample) => sample.name === "synclag_up").map((sample) => sample.value);

    ponder.signal("SIGCONT");

    expect(ups).toEqual([0, 0, 0, 0]);
    await expect.poll(verdicts, SETTLE).toEqual(["ok -"]);
  });

  it("says that nobody listens after Ponder was killed, and counts it under that reason", async () => {
    ponder.signal("SIGKILL");
    await ponder.exit;

    await expect.poll(verdicts, SETTLE).toEqual(["unreachable connect"]);
    for (const variant of VARIANTS) {
      const labels = { variant, reason: "connect" };
      expect(sampleValue(await synclag.metrics(), "synclag_poll_failures_total", labels)).toBeGreaterThan(0);
    }
  });

  it("says ok again after a restart on the same database", async () => {
    ponder = await start("first");

    await expect.poll(verdicts, SETTLE).toEqual(["ok -"]);
  });

  it("tells a start from zero for what it is, counts one re-index a target, and comes back to ok", async () => {
    await ponder.stop();
    shutNodes();
    ponder = await start("second");

    await expect.poll(verdicts, SETTLE).toEqual(["syncing -"]);
    openNodes();
    await expect.poll(verdicts, SETTLE).toEqual(["ok -"]);
    const { samples } = await synclag.metrics();
    const reindexes = samples.filter(
      ({ name, labels }) => name === "synclag_regressions_total" && labels["kind"] === "reindex",
    );
    expect(reindexes.map((sample) => sample.value)).toEqual([1, 1, 1, 1]);
  });

  function shutNodes(): void {
    nodes.alpha.shut();
    nodes.beta.shut();
  }

  function openNodes(): void {
    nodes.alpha.open();
    nodes.beta.open();
  }
});

function configuration(urls: {
  readonly port: number;
  readonly alphaUrl: string;
  readonly betaUrl: string;
}): string {
  return `
version: 1
poll: { timeout: 2s, retries: 0, rpc_schedule: "* * * * * *" }
thresholds: { lagging: 30s, critical: 2m, stalled: 1m, stale: 30s }
chains:
  alpha: { id: 31337, name: Alpha, block_time: 1s, rpc: ["${urls.alphaUrl}"] }
  beta: { id: 31338, name: Beta, block_time: 1s, rpc: ["${urls.betaUrl}"] }
protocols:
  ledger:
    - { variant: told, dialect: ponder, url: "http://127.0.0.1:${urls.port}/graphql", schedule: "* * * * * *", chains: [alpha, beta] }
    - { variant: found, url: "http://127.0.0.1:${urls.port}/graphql", schedule: "* * * * * *", chains: [alpha, beta] }
`;
}
