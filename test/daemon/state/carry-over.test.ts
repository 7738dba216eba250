import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Budgets } from "../../../src/budgets/budgets.ts";
import { savedBudgetsToJson } from "../../../src/budgets/snapshot.ts";
import type { Budget } from "../../../src/core/model/fleet.ts";
import { spentInFile } from "../../../src/daemon/state/carry-over.ts";
import { SharedBudgets } from "../../../src/io/store/shared-budgets.ts";
import { endpointOf, fleetOf } from "../../budgets/fleet-builder.ts";
import { BudgetStoreModel } from "../../support/budget-store-model.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const T0 = Date.UTC(2026, 0, 31, 22, 37);
const MINUTE_MS = 60_000;
const BUDGET: Budget = { name: "provider", limit: 24, per: "hour", scope: "shared" };
const ENDPOINT = endpointOf({ budget: "provider" });
const FLEET = fleetOf([ENDPOINT], [BUDGET]);

describe("the first start with a store, beside a state file", () => {
  it("goes on from what the file says was spent, however often it is carried over", async () => {
    await using former = await formerFile((budgets) => spend(budgets, 20));
    const machine = sharedStore();

    const first = await machine.start(former.path);
    const granted = await grantsOf(first, 3);
    const again = await machine.start(former.path);

    expect(granted).toBe(3);
    expect(again.report()).toEqual([expect.objectContaining({ used: 23 })]);
    expect(await grantsOf(again, 3)).toBe(1);
    expect(again.report()[0]?.drawnBy).toEqual([
      { name: expect.stringMatching(/^file /), requests: 20 },
      { name: "check", requests: 4 },
    ]);
  });

  it("keeps the provider's back-off, for all processes", async () => {
    await using former = await formerFile((budgets) =>
      budgets.backOff(ENDPOINT, { nowMs: T0 + MINUTE_MS, untilMs: T0 + 30 * MINUTE_MS, random: 0 }),
    );
    const machine = sharedStore();

    const first = await machine.start(former.path);
    const other = await machine.start(null);

    const refused = { kind: "refused", reason: "rate_limited" };
    expect(await first.acquire(ENDPOINT, "scheduled")).toMatchObject(refused);
    expect(await other.acquire(ENDPOINT, "scheduled")).toMatchObject(refused);
  });

  it("does not bring a back-off again that has ended since", async () => {
    await using former = await formerFile((budgets) =>
      budgets.backOff(ENDPOINT, { nowMs: T0, untilMs: T0 + 30 * MINUTE_MS, random: 0 }),
    );
    const machine = sharedStore();
    const first = await machine.start(former.path);
    machine.pass(2 * MINUTE_MS);
    first.allowProbes();
    await settle();
    const probe = await first.acquire(ENDPOINT, "scheduled");
    first.accept(ENDPOINT);
    await settle();

    const again = await machine.start(former.path);

    expect(probe).toMatchObject({ kind: "granted" });
    expect(await again.acquire(ENDPOINT, "scheduled")).toMatchObject({ kind: "granted" });
  });

  it.each([{ text: "not JSON" }, { text: "{}" }, { text: null }])(
    "begins with nothing spent where the file is $text",
    async ({ text }) => {
      await using folder = await temporaryFolder();
      const path = join(folder.path, "state.json");
      if (text !== null) {
        await writeFile(path, text);
      }

      expect(await spentInFile(path, FLEET)).toEqual(new Map());
    },
  );
});

/** A state file of a process that did this with its budgets. */
async function formerFile(did: (budgets: Budgets) => void) {
  const folder = await temporaryFolder();
  const budgets = new Budgets(FLEET);
  did(budgets);
  const path = join(folder.path, "state.json");
  await writeFile(path, JSON.stringify({ budgets: savedBudgetsToJson(budgets.save(T0)) }));
  return { path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

function spend(budgets: Budgets, requests: number): void {
  for (let left = requests; left > 0; left -= 1) {
    budgets.acquire(ENDPOINT, "scheduled", T0);
  }
}

/** Processes on one store, in simulated time. */
function sharedStore() {
  let nowMs = T0 + MINUTE_MS;
  const store = new BudgetStoreModel(() => nowMs);
  let started = 0;
  return {
    pass(ms: number): void {
      nowMs += ms;
    },
    async start(formerStateFile: string | null): Promise<SharedBudgets> {
      started += 1;
      const shared = new SharedBudgets({
        store,
        budgets: new Budgets(FLEET),
        name: "check",
        id: started.toString(),
        isDaemon: false,
        right: () => ({ kind: "free" }),
        nowMs: () => nowMs,
        monotonicMs: () => nowMs - T0,
        random: () => 0.5,
      });
      if (formerStateFile !== null) {
        shared.carryOver(await spentInFile(formerStateFile, FLEET));
      }
      await shared.open(async (ms) => {
        nowMs += ms;
      });
      await settle();
      return shared;
    },
  };
}

async function grantsOf(shared: SharedBudgets, requests: number): Promise<number> {
  let granted = 0;
  for (let left = requests; left > 0; left -= 1) {
    granted += (await shared.acquire(ENDPOINT, "scheduled")).kind === "granted" ? 1 : 0;
  }
  return granted;
}

/** What was sent without waiting has arrived. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
