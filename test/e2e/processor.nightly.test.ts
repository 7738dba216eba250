import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "./support/anvil.ts";
import { freePort } from "./support/free-port.ts";
import { startProgram } from "./support/program.ts";
import { type Synclag, startSynclagOn } from "./support/synclag.ts";
import { undoAll } from "./support/undo.ts";

const FOLDER = fileURLToPath(new URL("families", import.meta.url));
const SETTLE = { timeout: 180_000, interval: 250 };
const HISTORY = 30;
/** A minute and a half after the start. */
const STUCK_AT = 120;

describe("synclag run, against the metrics page of a processor of SQD that indexes an Anvil chain", () => {
  let anvil: Anvil;
  let page: string;
  let synclag: Synclag;

  const target = async () => (await synclag.report()).targets[0];
  const pageText = async () => await (await fetch(page)).text();

  beforeAll(async () => {
    anvil = await startAnvil(31_337, HISTORY);
    const port = await freePort();
    page = `http://127.0.0.1:${port}/metrics`;
    await startProgram({
      command: process.execPath,
      args: ["processor.mjs"],
      cwd: FOLDER,
      env: { RPC_URL: anvil.url, PROMETHEUS_PORT: String(port), STUCK_AT: String(STUCK_AT) },
    });
    synclag = await startSynclagOn("processor", chainsYaml(page, anvil.url));
  });

  afterAll(undoAll);

  it("says ok, with a height that Anvil has had, as the chain grows", async () => {
    await expect.poll(async () => (await target())?.status, SETTLE).toBe("ok");

    const height = (await target())?.block_number;

    expect(height).toBeGreaterThanOrEqual(HISTORY - 10);
    expect(height).toBeLessThanOrEqual(await anvil.blockNumber());
  });

  it("reports lagging, then stalled once the handler hangs, while the page still replies and shows no time to the head", async () => {
    await expect.poll(async () => (await target())?.status, SETTLE).toBe("stalled");

    const height = (await target())?.block_number;

    expect(height).toBeLessThan(STUCK_AT);
    expect(await pageText()).toMatch(new RegExp(`^sqd_processor_last_block ${height}$`, "m"));
  });
});

function chainsYaml(page: string, node: string): string {
  return `
version: 1
poll: { timeout: 2s, retries: 0, rpc_schedule: "* * * * * *" }
thresholds: { lagging: 15s, critical: 10m, stalled: 20s, stale: 30s }
chains:
  alpha: { id: 31337, name: Alpha, block_time: 1s, rpc: ["${node}"] }
protocols:
  ledger:
    - { variant: sqd, dialect: sqd-metrics, url: "${page}", schedule: "* * * * * *", chains: [alpha] }
`;
}
