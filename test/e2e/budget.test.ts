import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { NO_BACK_OFF } from "../../src/budgets/back-off.ts";
import type { SavedBudgets } from "../../src/budgets/saved-budgets.ts";
import { writeBudgetJournal } from "../../src/io/state/journal.ts";
import { FAULTS } from "../support/faults.ts";
import { type Synclag, simulate, startSynclag } from "./support/synclag.ts";

const HOUR_MS = 3_600_000;
const LIMIT = 3_600;
const SPENT_BEFORE = LIMIT - 12;
const DEATHS = 6;
const FLEET = `
version: 1
budgets: { provider: { limit: ${LIMIT}, per: hour, scope: shared } }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:
  airdrops: [{ variant: subgraph, dialect: graph, url: "https://graph.example/", schedule: "* * * * * *", budget: provider, chains: [base] }]
`;

describe("a budget", () => {
  it("holds although the process is killed repeatedly, equals the provider's count, and is used by one process at a time", async () => {
    const { fleet, config } = await simulate(FLEET);
    const provider = fleet.endpoint("airdrops/subgraph/production/all");
    await writeBudgetJournal(join(dirname(config), "synclag.state.json"), spentBefore());
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
    history.push(await compare(provider, last));

    await expect(startSynclag(config)).rejects.toThrow(
      new RegExp(`it ended with 1, .*another synclag holds it \\(pid ${last.pid}, .*${last.url}`),
    );
    expect((await last.stop()).code).toBe(0);
    await startSynclag(config);
    expect(provider.requestCount).toBeGreaterThan(6);
    expect(provider.requestCount).toBeLessThanOrEqual(LIMIT - SPENT_BEFORE);
    expect(history.at(-1)?.used).toBeLessThanOrEqual(LIMIT);
    expect(history.filter(({ used, asked }) => used - SPENT_BEFORE < asked)).toEqual([]);
  });
});

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
