import type { SavedBudgets } from "../budgets/saved-budgets.ts";
import type { Config } from "../config/config.ts";
import type { Report } from "../core/model/report.ts";
import { inSeconds } from "../core/model/text.ts";
import { Monitor } from "../daemon/monitor.ts";
import type { RedisStore } from "../io/store/redis-store.ts";
import type { World } from "../io/world.ts";
import { Leadership } from "../leader/leadership.ts";
import { openMaintenance } from "../schedule/maintenance.ts";
import { readHandover } from "./handover-parts.ts";
import { SharedParts } from "./parts.ts";
import { SharedBudgets } from "./shared-budgets.ts";

export interface StoreCheckOptions {
  readonly store: Pick<RedisStore, "run" | "name">;
  /** The counts from before the store was used. */
  readonly former: SavedBudgets | null;
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "logger" | "onBug">;
  /** Polls once, and counts the requests in these budgets. */
  readonly poll: (shared: SharedBudgets) => Promise<Report>;
  /** Called if a replica leads: its report is read, and nothing is polled. */
  readonly onLeader: (name: string) => void;
}

/** The name of a check as the holder of the lease. */
const NAME = "check";
/** How long a check leaves a free lease to standbys, which look for it twice in this time. */
const PATIENCE_MS = 1_000;
const LOOK_MS = 50;
/** The longest wait for another check. */
const MAX_WAIT_MS = 120_000;

/**
 * For `check` with a store: reads the report of the replica that leads. If none leads, it takes the lease and polls a round
 * itself. While the store is away, it polls only endpoints without a budget. Returns the report, or a sentence that says why
 * there is none.
 */
export async function checkInStore(config: Config, options: StoreCheckOptions): Promise<Report | string> {
  const { store, world } = options;
  await using leadership = new Leadership(store, world);
  leadership.start(NAME, PATIENCE_MS);
  const shared = new SharedBudgets({
    store,
    fleet: config.fleet,
    leadership,
    monotonicMs: world.monotonicMs,
    isDaemon: false,
    onInvalid: (subject) =>
      world.logger.warn({ subject }, "A part of the budgets in the store cannot be read"),
  });
  const untilMs = world.monotonicMs() + MAX_WAIT_MS;
  while (world.monotonicMs() < untilMs) {
    const leader = leadership.leader();
    if (leadership.role() === "leader" && (await shared.follow())) {
      shared.takeOver(options.former);
      const report = await options.poll(shared);
      await shared.release();
      return report;
    }
    if (leadership.isFailing()) {
      return await options.poll(shared);
    }
    if (leader !== null && leader !== NAME) {
      options.onLeader(leader);
      return await readReport(config, leader, shared, options);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return `Cannot use the store ${store.name}: another check has held the lease for two minutes`;
}

async function readReport(
  { fleet, maintenance }: Config,
  leader: string,
  shared: SharedBudgets,
  { store, world }: StoreCheckOptions,
): Promise<Report | string> {
  const reading = await new SharedParts(store, "state").read();
  if (reading.kind === "failed" || reading.value.ageMs === null || !(await shared.follow())) {
    return `Cannot check: ${leader} leads, but has not written its state to the store`;
  }
  const { parts, ageMs } = reading.value;
  const { learned } = readHandover(parts);
  if (Object.keys(learned.chains).length === 0) {
    return `Cannot check: another version of Synclag leads at ${leader}; ask it with --url`;
  }
  const monitor = new Monitor(fleet, {
    nowMs: world.nowMs,
    budgets: () => shared.budgets.report(shared.nowMs()),
    maintenance: (nowMs) => openMaintenance(maintenance, nowMs),
  });
  monitor.restore(learned);
  const age_seconds = inSeconds(ageMs);
  return { ...monitor.report(), replica: { role: "standby", name: NAME, leader, age_seconds } };
}
