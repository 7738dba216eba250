import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { NO_BACK_OFF } from "../../src/budgets/back-off.ts";
import type { SavedBudgets } from "../../src/budgets/saved-budgets.ts";
import { writeBudgetJournal } from "../../src/io/state/journal.ts";
import type { SimulatedFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { FAULTS } from "../support/faults.ts";
import { startFleet } from "../support/fleet.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Synclag, startSynclag } from "./support/synclag.ts";

const SUBGRAPH = "airdrops/subgraph/production/base";
const HOUR_MS = 3_600_000;
const LIMIT = 3_600;
const SPENT_BEFORE = LIMIT - 12;
const DEATHS = 6;

describe("a budget", () => {
  it("holds although the process is killed repeatedly, and equals the provider's count", async () => {
    await using fleet = await startFleet({
      nowMs: Date.now,
      endpoints: [{ kind: "studio", key: SUBGRAPH }],
    });
    await using folder = await temporaryFolder();
    const config = join(folder.path, "chains.yaml");
    await writeFile(config, chainsYaml(fleet));
    await writeBudgetJournal(join(folder.path, "synclag.state.json"), spentBefore());
    const provider = fleet.endpoint(SUBGRAPH);
    // Each failure has a retry, which draws on the same budget.
    provider.fail(FAULTS.http_500);
    const history: Comparison[] = [];

    for (let death = 0; death < DEATHS; death += 1) {
      const synclag = await startSynclag(config);
      await delay(1_000);
      history.push(await compare(provider, synclag));
      synclag.signal("SIGKILL");
      await synclag.exit;
    }
    const last = await startSynclag(config);
    const { asked, used } = await compare(provider, last);
    await last.stop();

    expect(provider.requestCount).toBeGreaterThan(6);
    expect(provider.requestCount).toBeLessThanOrEqual(LIMIT - SPENT_BEFORE);
    expect(used).toBeLessThanOrEqual(LIMIT);
    expect(used - SPENT_BEFORE).toBeGreaterThanOrEqual(asked);
    for (const { used: usedThen, asked } of history) {
      expect(usedThen - SPENT_BEFORE).toBeGreaterThanOrEqual(asked);
    }
  });

  it("is spent by one process at a time: a second on the same state file refuses, and names the first", async () => {
    await using fleet = await startFleet({
      nowMs: Date.now,
      endpoints: [{ kind: "studio", key: SUBGRAPH }],
    });
    await using folder = await temporaryFolder();
    const config = join(folder.path, "chains.yaml");
    await writeFile(config, chainsYaml(fleet));
    const first = await startSynclag(config);

    await expect(startSynclag(config)).rejects.toThrow(
      new RegExp(`it ended with 1, .*another synclag holds it \\(pid ${first.pid}, .*${first.url}`),
    );

    expect((await first.stop()).code).toBe(0);
    const second = await startSynclag(config);
    expect((await second.stop()).code).toBe(0);
  });
});

function chainsYaml(fleet: SimulatedFleet): string {
  return `
version: 1
budgets:
  provider: { limit: ${LIMIT}, per: hour, scope: shared }
chains:
  base: { id: 8453, name: Base, block_time: 2s }
protocols:
  airdrops:
    - variant: subgraph
      url: "${fleet.endpoint(SUBGRAPH).url}"
      schedule: "* * * * * *"
      budget: provider
      chains: [base]
`;
}

function spentBefore(): SavedBudgets {
  const endMs = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
  const provider = { buckets: [[endMs, SPENT_BEFORE, 0] as const], backOff: NO_BACK_OFF, sentTo: "" };
  return { accounts: { provider }, atMs: Date.now() };
}

interface Comparison {
  /** Requests that the provider has had. */
  readonly asked: number;
  /** What Synclag counts in a report that was made after that. */
  readonly used: number;
}

async function compare(provider: { readonly requestCount: number }, synclag: Synclag): Promise<Comparison> {
  const asked = provider.requestCount;
  const sinceMs = Date.now();
  const used = await vi.waitFor(
    async () => {
      const { generated_at, budgets } = await synclag.report();
      expect(Date.parse(generated_at)).toBeGreaterThan(sinceMs);
      return budgets[0]?.used ?? 0;
    },
    { timeout: 30_000, interval: 100 },
  );
  return { asked, used };
}
