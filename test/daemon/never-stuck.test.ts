import { describe, expect, it, vi } from "vitest";
import type { App } from "../../src/app/app.ts";
import { Daemon } from "../../src/daemon/daemon.ts";
import { EMPTY_STATE } from "../../src/daemon/state/restored-state.ts";
import type { StateStore } from "../../src/daemon/state/store.ts";
import { startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { recordLog } from "../support/log-recorder.ts";
import { configOf, scrape, startTestApp } from "../support/running-app.ts";

const KEY = "airdrops/subgraph/production/base";
const HOUR_MS = 3_600_000;

vi.setConfig({ testTimeout: 20_000 });

// Each waits for ticks of its own daemon: side by side.
describe.concurrent("a promise that never settles", () => {
  it("makes the daemon unhealthy once it takes longer than any poll may, and well again when it ends", async () => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "studio", key: KEY }] });
    let aheadMs = 0;
    const waiting: (() => void)[] = [];
    // A disk that hangs: the poll waits for its count to be written.
    const store: StateStore = {
      restored: EMPTY_STATE,
      touch: () => undefined,
      touchJournal: () => undefined,
      problem: () => null,
      flush: () => new Promise((resolve) => waiting.push(resolve)),
      publishUrl: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    const daemon = new Daemon(configOf(chainsYaml(fleet.endpoint(KEY).url)), {
      world: { ...WORLD, nowMs: Date.now, monotonicMs: () => performance.now() + aheadMs },
      store,
    });
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 10_000);

    const atFirst = daemon.healthy();
    aheadMs += 20 * 60_000;
    await vi.waitFor(
      () => expect(daemon.healthy().detail).toMatch(/^A poll has been in flight for \d+ s$/),
      5_000,
    );
    const stuck = daemon.healthy();
    waiting.shift()?.();

    await vi.waitFor(() => expect(daemon.healthy().ok).toBe(true), 5_000);
    expect([atFirst.ok, stuck.ok]).toEqual([true, false]);
    const stopped = daemon[Symbol.asyncDispose]();
    for (const release of waiting) {
      release();
    }
    await stopped;
  });
});

describe.concurrent("a blocked loop", () => {
  it("is told as soon as anybody can ask, and forgotten with the next tick", async () => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "studio", key: KEY }] });
    let aheadMs = 0;
    await using app = await startTestApp(configOf(chainsYaml(fleet.endpoint(KEY).url)), {
      monotonicMs: () => performance.now() + aheadMs,
    });
    const healthy = async () => await fetch(`${app.url}/-/healthy`);
    expect((await healthy()).status).toBe(200);
    await justTicked(app);

    aheadMs += 60_000;
    const blocked = await healthy();

    expect([blocked.status, await blocked.text()]).toEqual([
      503,
      expect.stringContaining("has not ticked for 6"),
    ]);
    await vi.waitFor(async () => expect((await healthy()).status).toBe(200), 5_000);
  });
});

describe.concurrent("a wall clock that jumps", () => {
  it.each([3 * HOUR_MS, -3 * HOUR_MS])(
    "by %i ms changes neither health nor durations, and every target is well again",
    async (jumpMs) => {
      await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "studio", key: KEY }] });
      let aheadMs = 0;
      await using app = await startTestApp(configOf(chainsYaml(fleet.endpoint(KEY).url)), {
        nowMs: () => Date.now() + aheadMs,
      });
      const requests = () => fleet.endpoint(KEY).requestCount;
      await vi.waitFor(() => expect(requests()).toBeGreaterThan(1), 10_000);
      const before = requests();

      aheadMs = jumpMs;
      await vi.waitFor(() => expect(requests()).toBeGreaterThan(before + 2), 10_000);
      const metrics = await scrape(app);

      const sumSec = metrics.get(
        'synclag_poll_duration_seconds_sum{protocol="airdrops",variant="subgraph",tier="production"}',
      );
      const lags = [...metrics]
        .filter(([series]) => series.startsWith("synclag_lag_"))
        .map(([, value]) => value);
      expect((await fetch(`${app.url}/-/healthy`)).status).toBe(200);
      expect(sumSec).toBeGreaterThan(0);
      expect(sumSec).toBeLessThan(20);
      expect(lags.every((lag) => lag >= 0)).toBe(true);
      // A slow chain may not have grown between the last look before and the first after: the next block settles it.
      await vi.waitFor(async () => expect(statusOf(await scrape(app))).not.toBe("stalled"), 20_000);
    },
  );
});

describe.concurrent("a machine that slept", () => {
  it("shows nothing of before for now, fails at /-/healthy until it polls again, and is well then", async () => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "studio", key: KEY }] });
    let asleepMs = 0;
    await using app = await startTestApp(configOf(chainsYaml(fleet.endpoint(KEY).url)), {
      nowMs: () => Date.now() + asleepMs,
      monotonicMs: () => performance.now() + asleepMs,
    });
    const healthy = async () => (await fetch(`${app.url}/-/healthy`)).status;
    await vi.waitFor(async () => expect(statusOf(await scrape(app))).toBe("ok"), 20_000);
    fleet.endpoint(KEY).fail("hang_before_headers");
    await justTicked(app);

    asleepMs = 3 * HOUR_MS;
    const [health, metrics] = await Promise.all([healthy(), scrape(app)]);

    expect(health).toBe(503);
    expect(statusOf(metrics)).toBe("unknown");
    expect([...metrics.keys()].filter((series) => series.startsWith("synclag_lag_"))).toEqual([]);
    await vi.waitFor(async () => expect(await healthy()).toBe(200), 10_000);
    fleet.endpoint(KEY).heal();
    await vi.waitFor(async () => expect(statusOf(await scrape(app))).not.toBe("unknown"), 20_000);
  });
});

const WORLD = {
  random: () => 0.5,
  logger: recordLog().logger,
  loadConfig: () => configOf(""),
  onBug: (error: unknown) => {
    throw error;
  },
  build: { version: "0.0.0-test", revision: "test", nodeVersion: process.version },
  isLifecycleEnabled: false,
  stateFile: null,
};

/** So that nearly a second is left until the next tick. */
async function justTicked(app: App): Promise<void> {
  const lastTick = async () => (await scrape(app)).get("synclag_scheduler_last_tick_timestamp_seconds");
  const before = await lastTick();
  await vi.waitFor(async () => expect(await lastTick()).not.toBe(before), { timeout: 10_000, interval: 10 });
}

function statusOf(metrics: ReadonlyMap<string, number>): string {
  const [series = ""] =
    [...metrics].find(([name, value]) => name.startsWith("synclag_status{") && value === 1) ?? [];
  return /status="(\w+)"/.exec(series)?.[1] ?? "none";
}

function chainsYaml(url: string): string {
  return `
version: 1
poll: { timeout: 1s }
budgets: { studio: { limit: 1000000, per: day, scope: endpoint } }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:
  airdrops:
    - { variant: subgraph, url: "${url}", schedule: "*/1 * * * * *", budget: studio, chains: [base] }
`;
}
