import { describe, expect, it } from "vitest";
import { endpointsOf, type Fleet, sourceKeysOf } from "../../../src/core/model/fleet.ts";
import { Monitor } from "../../../src/daemon/monitor.ts";
import { createRandom } from "../../../src/sim/model/random.ts";
import { fleetOf } from "../head/packaged-cadences.ts";

const T0 = Date.UTC(2026, 10, 20);
const START_BLOCK = 40_000_000;
const MINUTE_MS = 60_000;
const HALT_MS = 20 * MINUTE_MS;

/** The thresholds of the packaged fleet, and those of the demo, where `lagging` comes before `stalled`. */
const THRESHOLDS = [
  { laggingMs: 600_000, criticalMs: 1_800_000, stalledMs: 600_000, staleMs: 300_000, batchMs: 60_000 },
  { laggingMs: 60_000, criticalMs: 300_000, stalledMs: 90_000, staleMs: 300_000, batchMs: 30_000 },
];
const CASES = THRESHOLDS.flatMap((thresholds) =>
  [250, 2_000].map((intervalMs) => ({ ...thresholds, intervalMs })),
);

describe("a chain that halts", () => {
  it.each(CASES)(
    "has no target `lagging` before `chain_halted`: lagging $laggingMs ms, a block each $intervalMs ms",
    ({ batchMs, intervalMs, ...thresholds }) => {
      const fleet = fleetOf(intervalMs, true);
      const chains = fleet.chains.map((chain) => ({ ...chain, thresholds }));

      const said = ["a", "b", "c"].flatMap((seed) =>
        playHalt({ ...fleet, chains }, { batchMs, intervalMs, seed }),
      );

      expect(said.filter((status) => status === "lagging" || status === "syncing")).toEqual([]);
      expect(said.at(-1)).toBe("chain_halted");
    },
  );
});

/** All statuses of the targets from the halt on; some indexers write blocks in batches and keep the last one incomplete. */
function playHalt(
  fleet: Fleet,
  {
    batchMs,
    intervalMs,
    seed,
  }: { readonly batchMs: number; readonly intervalMs: number; readonly seed: string },
): readonly string[] {
  const random = createRandom(seed);
  const sources = endpointsOf(fleet).flatMap((endpoint) =>
    sourceKeysOf(endpoint).map((key) => ({
      key,
      everyMs: endpoint.pollIntervalMs,
      batch: key.startsWith("rpc/") ? 1 : 1 + Math.floor((random() * batchMs) / intervalMs),
    })),
  );
  let nowMs = T0;
  const monitor = new Monitor(fleet, { nowMs: () => nowMs, budgets: () => [] });
  const said: string[] = [];
  for (let atMs = 0; atMs < HALT_MS + 15 * MINUTE_MS; atMs += 5_000) {
    for (const { batch, key } of sources.filter((source) => atMs % source.everyMs === 0)) {
      nowMs += random() * 500;
      const made = Math.floor(Math.min(nowMs - T0, HALT_MS) / intervalMs);
      const block = START_BLOCK + made - (made % batch);
      const timestampSec = Math.floor((T0 + (block - START_BLOCK) * intervalMs) / 1_000);
      const head = { block, timestampSec: key.includes("multichain") ? null : timestampSec, hash: null };
      const unknown = { deployment: null, indexingErrors: null };
      const times = { sentAtMs: nowMs - 50, receivedAtMs: nowMs };
      monitor.observe([{ kind: "head", source: key, ...times, head: { ...head, ...unknown } }]);
    }
    nowMs = T0 + atMs + 5_000;
    const statuses = monitor.report().chains.flatMap(({ targets }) => targets.map(({ status }) => status));
    said.push(...(atMs < HALT_MS ? [] : statuses));
  }
  return said;
}
