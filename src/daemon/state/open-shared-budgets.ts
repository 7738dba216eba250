import { randomUUID } from "node:crypto";
import { Budgets } from "../../budgets/budgets.ts";
import type { Fleet } from "../../core/model/fleet.ts";
import type { RedisStore } from "../../io/store/redis-store.ts";
import { type DrawingRight, SharedBudgets } from "../../io/store/shared-budgets.ts";
import type { World } from "../../io/world.ts";
import { spentInFile } from "./carry-over.ts";

/** The budgets in the store, and what this process knows of them. Disposing it returns what was drawn in advance. */
export interface OpenedBudgets extends AsyncDisposable {
  readonly budgets: Budgets;
  readonly shared: SharedBudgets;
}

export interface SharedBudgetsSource {
  readonly store: Pick<RedisStore, "run">;
  /** Under which requests are counted. */
  readonly name: string;
  readonly isDaemon: boolean;
  readonly right: () => DrawingRight;
  /** The state file that was used before there was a store. */
  readonly formerStateFile: string | null;
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "random">;
}

const SYNC_MS = 1_000;

/** Opens the budgets of a fleet. What its state file says was spent is carried over; a store that was empty takes five seconds. */
export async function openSharedBudgets(fleet: Fleet, source: SharedBudgetsSource): Promise<OpenedBudgets> {
  const { formerStateFile, world, store, name, isDaemon, right } = source;
  const { nowMs, monotonicMs, random } = world;
  const budgets = new Budgets(fleet);
  const options = { store, name, isDaemon, right, nowMs, monotonicMs, random, budgets };
  const shared = new SharedBudgets({ ...options, id: randomUUID() });
  if (formerStateFile !== null) {
    shared.carryOver(await spentInFile(formerStateFile, fleet));
  }
  await shared.open(sleep);
  let syncing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    syncing = syncing.then(() => shared.sync());
  }, SYNC_MS);
  return {
    budgets,
    shared,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await syncing;
      await shared.close();
    },
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
