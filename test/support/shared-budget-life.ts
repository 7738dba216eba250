import fc from "fast-check";
import { BudgetGate } from "../../src/budgets/gate.ts";
import type { Budget } from "../../src/core/model/fleet.ts";
import type { ScriptRunner } from "../../src/io/store/redis-store.ts";
import { NOT_CONNECTED } from "../../src/io/store/store-script.ts";
import { SharedBudgets } from "../../src/replica/shared-budgets.ts";
import { endpointOf, fleetOf } from "../budgets/fleet-builder.ts";
import { StoreModel } from "./store-model.ts";

const T0 = Date.UTC(2026, 0, 31, 22, 37);
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** How long after its grant a request may still be sent. */
const LONGEST_SENDING_MS = 10 * SECOND_MS;

type Windowed = Budget & { readonly windowMs: number };
export const HOURLY: Windowed = {
  name: "hourly",
  limit: 24,
  per: "hour",
  scope: "shared",
  windowMs: HOUR_MS,
};
export const DAILY: Windowed = { name: "daily", limit: 50, per: "day", scope: "shared", windowMs: DAY_MS };

const ENDPOINTS = [
  endpointOf({ chain: "base", budget: "hourly", schedule: "0 */3 * * * *" }),
  endpointOf({ chain: "mode", budget: "daily", schedule: "0 0 * * * *" }),
] as const;
const FLEET = fleetOf(ENDPOINTS, [HOURLY, DAILY]);

/** Two daemons and a `check`, which take the lease from each other. */
type Who = 0 | 1 | 2;
const EVERYBODY: readonly Who[] = [0, 1, 2];
const CHECK: Who = 2;

function one<const Value>(...values: Value[]): fc.Arbitrary<Value> {
  return fc.constantFrom(...values);
}

const who = one(0, 0, 0, 1, 1, 2);
/** An index into `ENDPOINTS`. */
const endpoint = fc.nat(1).map((index) => (index === 0 ? 0 : 1));
const wait = fc.oneof(
  fc.integer({ min: 1, max: 10 * MINUTE_MS }),
  fc.integer({ min: MINUTE_MS, max: 2 * HOUR_MS }),
  one(HOUR_MS, DAY_MS, HOUR_MS - 1, 5 * MINUTE_MS, 5 * MINUTE_MS - 1, 7 * MINUTE_MS),
);
const poll = fc.record({
  kind: one("poll"),
  who,
  endpoint,
  use: one("scheduled", "opportunistic"),
  times: fc.integer({ min: 1, max: 20 }),
  /** In the last request. */
  crash: one("none", "none", "before sending", "after sending"),
  /** What gets lost of the last request. */
  loses: one("nothing", "nothing", "reply", "request"),
});
/** What happens to the processes and to the store. */
export const step = fc.oneof(
  { weight: 10, arbitrary: poll },
  { weight: 6, arbitrary: fc.record({ kind: one("wait"), ms: wait }) },
  { weight: 5, arbitrary: fc.record({ kind: one("take over"), who }) },
  fc.record({
    kind: one("clock of the store"),
    errorMs: fc.integer({ min: -30 * SECOND_MS, max: 30 * SECOND_MS }),
  }),
  fc.record({
    kind: one("429"),
    who,
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 2 * HOUR_MS })),
  }),
  { weight: 4, arbitrary: fc.record({ kind: one("crash", "stop", "cut off", "reconnect"), who }) },
  // The store forgets everything, a moment after the leader has counted; then another leads.
  {
    weight: 2,
    arbitrary: fc.record({ kind: one("empty"), who, endpoint, times: fc.integer({ min: 1, max: 30 }) }),
  },
);
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Poll = Extract<Step, { kind: "poll" }>;

/** A process on the store. */
class Process {
  readonly budgets: SharedBudgets;
  readonly gate: BudgetGate;
  isCutOff = false;
  loses: Poll["loses"] = "nothing";
  /** The token of the lease that it believes to hold. */
  token: number | null = null;

  constructor(life: SharedLife, id: number, isDaemon: boolean) {
    // By the last reply of the store.
    let storeErrorMs = 0;
    const store: ScriptRunner = {
      run: async (script, keys, args) => {
        if (this.isCutOff || this.loses === "request") {
          return NOT_CONNECTED;
        }
        const reply = await life.store.run(script, keys, args);
        ({ storeErrorMs } = life);
        return this.loses === "reply" ? NOT_CONNECTED : reply;
      },
    };
    this.budgets = new SharedBudgets({
      store,
      fleet: FLEET,
      leadership: {
        mayPoll: () => this.token !== null,
        token: () => this.token,
        isFailing: () => false,
        storeNowMs: () => life.trueMs + storeErrorMs,
      },
      monotonicMs: () => life.trueMs - T0 + id,
      isDaemon,
      onInvalid: () => undefined,
    });
    this.gate = new BudgetGate(this.budgets, () => 0.5);
  }
}

export type StoreUnderTest = Pick<StoreModel, "run" | "empty" | "setLease">;

/** Processes that share budgets, in simulated time. */
export class SharedLife {
  /** For each budget, when each request was sent, in true time. */
  readonly sent = new Map<string, number[]>();
  readonly store: StoreUnderTest;
  trueMs = T0;
  /** The error of the store's clock. */
  storeErrorMs = 0;
  #token = 0;
  #started = 0;
  readonly #processes = [this.#start(0), this.#start(1), this.#start(2)] as [Process, Process, Process];

  constructor(createStore: (nowMs: () => number) => StoreUnderTest) {
    this.store = createStore(() => this.trueMs + this.storeErrorMs);
  }

  async live(one: Step): Promise<void> {
    switch (one.kind) {
      case "wait":
        return await this.#wait(one.ms);
      case "poll":
        return await this.#poll(one);
      case "take over":
        return await this.#takeOver(one.who);
      case "clock of the store":
        this.storeErrorMs = one.errorMs;
        return;
      case "429":
        this.#processes[one.who].gate.backOff(ENDPOINTS[0], one.retryAfterMs, "slow down");
        return;
      case "crash":
        return this.#restart(one.who);
      case "stop":
        await this.#processes[one.who].budgets.release();
        return this.#restart(one.who);
      case "cut off":
        this.#processes[one.who].isCutOff = true;
        return;
      case "reconnect":
        this.#processes[one.who].isCutOff = false;
        return await this.#sync(one.who);
      case "empty":
        return await this.#empty(one);
    }
  }

  /** The most requests of a budget that any window held. */
  mostInAWindow({ name, windowMs }: Windowed): number {
    const sent = this.sent.get(name) ?? [];
    return Math.max(0, ...sent.map((atMs) => sent.filter((ms) => ms > atMs - windowMs && ms <= atMs).length));
  }

  /** How many requests of the first budget a process counts. */
  usedBy(index: Who): number {
    const { budgets } = this.#processes[index];
    return budgets.budgets.report(budgets.nowMs())[0]?.used ?? 0;
  }

  /** The promise of the documents holds if the leader lives, is connected, and writes what it knows within a second. */
  async #empty({ who: next, endpoint: asked, times }: Extract<Step, { kind: "empty" }>): Promise<void> {
    const leader = EVERYBODY.find((index) => this.#leads(index));
    if (leader === undefined) {
      return;
    }
    const polled = { endpoint: asked, use: "scheduled", times, crash: "none", loses: "nothing" } as const;
    await this.#sync(leader);
    await this.#poll({ kind: "poll", who: leader, ...polled });
    await this.store.empty();
    await this.#poll({ kind: "poll", who: leader, ...polled });
    await this.store.setLease(this.#token);
    await this.#wait(SECOND_MS);
    await this.#takeOver(next);
    await this.#poll({ kind: "poll", who: next, ...polled });
  }

  /** Whether it holds the lease and can reach the store. */
  #leads(index: Who): boolean {
    const { token, isCutOff } = this.#processes[index];
    return token === this.#token && !isCutOff;
  }

  async #wait(ms: number): Promise<void> {
    // Every process calls the store each second; a few calls are enough.
    const pieces = ms > 2 * MINUTE_MS ? 4 : 1;
    for (let piece = 0; piece < pieces; piece += 1) {
      this.trueMs += Math.floor(ms / pieces);
      await Promise.all(EVERYBODY.map((index) => this.#sync(index)));
    }
  }

  /** As each second: the leader writes, the others read, and a process that has lost the lease notices it. */
  async #sync(index: Who): Promise<void> {
    const process = this.#processes[index];
    if (this.#leads(index)) {
      await process.budgets.flush().catch(() => undefined);
    } else if (!process.isCutOff) {
      process.token = null;
      await process.budgets.follow();
    }
  }

  async #takeOver(index: Who): Promise<void> {
    const process = this.#processes[index];
    if (!process.isCutOff) {
      this.#token += 1;
      await this.store.setLease(this.#token);
      await process.budgets.follow();
      process.token = this.#token;
      process.budgets.takeOver(null);
    }
  }

  async #poll({ who: index, endpoint: asked, use, times, crash, loses }: Poll): Promise<void> {
    const process = this.#processes[index];
    const { budget } = ENDPOINTS[asked];
    const sent = this.sent.get(budget ?? "") ?? [];
    this.sent.set(budget ?? "", sent);
    for (let left = times; left > 0; left -= 1) {
      process.loses = left === 1 ? loses : "nothing";
      const grant = await process.gate.acquire(ENDPOINTS[asked], use);
      process.loses = "nothing";
      if (grant.kind === "granted" && !(left === 1 && crash === "before sending")) {
        sent.push(this.trueMs + (left % 3) * (LONGEST_SENDING_MS / 2));
      }
    }
    if (crash !== "none") {
      this.#restart(index);
    }
  }

  #restart(index: Who): void {
    this.#processes[index] = this.#start(index);
  }

  #start(index: Who): Process {
    this.#started += 1;
    return new Process(this, this.#started, index !== CHECK);
  }
}

/** A life on stores that are models; the first process leads. */
export async function lived(
  steps: readonly Step[],
  createStore: (nowMs: () => number) => StoreUnderTest = (nowMs) => new StoreModel(nowMs),
): Promise<SharedLife> {
  const life = new SharedLife(createStore);
  for (const one of [{ kind: "take over", who: 0 } as const, ...steps]) {
    await life.live(one);
  }
  return life;
}
