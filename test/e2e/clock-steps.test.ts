import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type SimulatedFleet, startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { freePort } from "./support/free-port.ts";
import { getJson } from "./support/loopback.ts";
import { startProgram, stopAllPrograms } from "./support/program.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const POLL_MS = 2_000;
/** What is right after so many polls. */
const POLLS = 3;
/** For so long the clock is wrong, at a random moment of the cadence. */
const WRONG_MS = 8_000;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PRELOAD = pathToFileURL(join(ROOT, "test/e2e/support/wrong-clock.mjs")).href;
const ENDPOINTS = [
  { kind: "envio", key: "airdrops/multichain/production/all" },
  { kind: "studio", key: "airdrops/subgraph/production/base" },
  { kind: "ponder", key: "airdrops/ponder/production/base" },
] as const;

const statusSchema = z.object({
  targets: z.array(z.object({ status: z.string(), lag_blocks: z.number().nullable() })),
  chains: z.array(z.object({ reference: z.object({ block_number: z.number() }).nullable() })),
});

/** The wall clock of a running daemon is set, and after a while is right again; its monotonic clock goes on. */
describe("a daemon whose wall clock is set", () => {
  const folder = mkdtempSync(join(tmpdir(), "synclag-clock-"));
  const clockFile = join(folder, "clock");
  let fleet: SimulatedFleet;
  let url: string;

  const setClock = (byMs: number): void => writeFileSync(clockFile, String(byMs));
  const status = async () => statusSchema.parse(await getJson(`${url}/api/v1/status`));
  const statuses = async () => (await status()).targets.map((target) => target.status);

  beforeAll(async () => {
    setClock(0);
    fleet = await startFleet({
      nowMs: Date.now,
      endpoints: ENDPOINTS.map((endpoint) => ({ ...endpoint, chains: ["base"] })),
    });
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const config = join(folder, "chains.yaml");
    writeFileSync(config, configOf(fleet));
    const daemon = await startProgram({
      command: process.execPath,
      args: ["--import", PRELOAD, "dist/main.js", "run", "--config", config, "--listen", `127.0.0.1:${port}`],
      cwd: ROOT,
      env: { WRONG_CLOCK_FILE: clockFile },
    });
    await vi.waitFor(async () => expect(await statuses(), daemon.stderr()).toEqual(["ok", "ok", "ok"]), {
      timeout: 60_000,
      interval: 500,
    });
    // Until it has measured the pace of the chain.
    await sleep(70_000);
  });

  afterAll(async () => {
    await stopAllPrograms();
    await fleet[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it.each([
    { by: "a minute forwards", byMs: MINUTE_MS },
    { by: "a minute backwards", byMs: -MINUTE_MS },
    { by: "ten minutes forwards", byMs: 10 * MINUTE_MS },
    { by: "ten minutes backwards", byMs: -10 * MINUTE_MS },
    { by: "an hour forwards", byMs: HOUR_MS },
    { by: "an hour backwards", byMs: -HOUR_MS },
    { by: "a day forwards", byMs: 24 * HOUR_MS },
    { by: "a day backwards", byMs: -24 * HOUR_MS },
    { by: "thirty days forwards", byMs: 720 * HOUR_MS },
    { by: "thirty days backwards", byMs: -720 * HOUR_MS },
  ])(
    "by $by calls nobody diverged, and is right within three polls of being right again",
    async ({ byMs }) => {
      const seen = new Set<string>();
      const look = async (forMs: number) => {
        for (const untilMs = performance.now() + forMs; performance.now() < untilMs; await sleep(200)) {
          for (const one of await statuses()) {
            seen.add(one);
          }
        }
      };

      await sleep(Math.random() * POLL_MS);
      setClock(byMs);
      await look(WRONG_MS + Math.random() * POLL_MS);
      setClock(0);
      // A poll more, for the last of the three may just have been sent.
      await look((POLLS + 1) * POLL_MS);
      const { chains, targets } = await status();

      expect([...seen]).not.toContain("diverged");
      expect(targets).toEqual(targets.map(() => ({ status: "ok", lag_blocks: expect.any(Number) })));
      expect(Math.max(...targets.map(({ lag_blocks }) => lag_blocks ?? Number.NaN))).toBeLessThan(5);
      expect(chains[0]?.reference).not.toBeNull();
    },
  );
});

function configOf(fleet: SimulatedFleet): string {
  const indexers = ENDPOINTS.map(({ key }) => {
    const variant = key.split("/")[1] ?? "";
    const dialect = { multichain: "envio", subgraph: "graph", ponder: "ponder" }[variant];
    return `    - { variant: ${variant}, dialect: ${dialect}, url: "${fleet.endpoint(key).url}", schedule: "*/${POLL_MS / 1_000} * * * * *", chains: [base] }`;
  });
  return `
version: 1
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:
  airdrops:
${indexers.join("\n")}
`;
}
