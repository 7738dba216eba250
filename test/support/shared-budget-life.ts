import fc from "fast-check";
import { Budgets } from "../../src/budgets/budgets.ts";
import { BudgetGate } from "../../src/budgets/gate.ts";
import type { Use } from "../../src/budgets/ledger.ts";
import type { Budget } from "../../src/core/model/fleet.ts";
import type { ScriptRunner } from "../../src/io/store/redis-store.ts";
import { NOT_CONNECTED } from "../../src/io/store/store-script.ts";
import { SharedBudgets, SLACK_MS } from "../../src/replica/shared-budgets.ts";
import { endpointOf, fleetOf } from "../budgets/fleet-builder.ts";
import { StoreModel } from "./store-model.ts";

const T0 = Date.UTC(2026, 0, 31, 22, 37);
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** What the network allows a request that was granted. */
const LONGEST_SENDING_MS = 10 * SECOND_MS;

/** Its window, for the assertions. */
export const HOURLY: Budget & { readonly windowMs: number } = {
  name: "hourly",
  limit: 24,
  per: "hour",
  scope: "shared",
  windowMs: HOUR_MS,
};
export const DAILY: typeof HOURLY = {
  name: "daily",
  limit: 50,
  per: "day",
  scope: "shared",
  windowMs: DAY_MS,
};

const ENDPOINTS = [
  endpointOf({ chain: "base", budget: "hourly", schedule: "0 */3 * * * *" }),
  endpointOf({ chain: "mode", budget: "daily", schedule: "0 0 * * * *" }),
];
const FLEET = fleetOf(ENDPOINTS, [HOURLY, DAILY]);

/** A store with a clock that the history sets. */
export interface StoreUnderTest extends ScriptRunner {
  /** Forgets everything. */
  readonly empty: () => Promise<void>;
  readonly setLease: (token: number) => Promise<void>;
}

/** Two daemons and a `check`, which take the lease from each other. */
type Who = 0 | 1 | 2;
const EVERYBODY: readonly Who[] = [0, 1, 2];
const CHECK: Who = 2;

type Crash = "none" | "before sending" | "after sending";
type Loss = "request" | "reply" | "nothing";

/** What happens to the processes and to the store. */
export type Step =
  | { readonly kind: "wait"; readonly ms: number }
  | {
      readonly kind: "poll";
      readonly who: Who;
      readonly endpoint: number;
      readonly use: Use;
      readonly times: number;
      /** In the last of them. */
      readonly crash: Crash;
      /** The reply to the last of them is lost. */
      readonly loses: Loss;
    }
  | { readonly kind: "take over"; readonly who: Who }
  | { readonly kind: "clock of the store"; readonly errorMs: number }
  | { readonly kind: "429"; readonly who: Who; readonly retryAfterMs: number | null }
  | { readonly kind: "crash" | "stop" | "cut off" | "reconnect"; readonly who: Who }
  /** The store forgets everything, a moment after the leader has counted; then another leads. */
  | { readonly kind: "empty"; readonly next: Who; readonly endpoint: number; readonly times: number };

const who = fc.constantFrom<Who[]>(0, 0, 0, 1, 1, 2);
/** Histories of steps. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant("poll" as const),
      who,
      endpoint: fc.nat(ENDPOINTS.length - 1),
      use: fc.constantFrom<Use[]>("scheduled", "opportunistic"),
      times: fc.integer({ min: 1, max: 20 }),
      crash: fc.constantFrom<Crash[]>("none", "none", "before sending", "after sending"),
      loses: fc.constantFrom<Loss[]>("nothing", "nothing", "reply", "request"),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.oneof(
        fc.integer({ min: 1, max: 10 * MINUTE_MS }),
        fc.integer({ min: MINUTE_MS, max: 2 * HOUR_MS }),
        fc.constantFrom(HOUR_MS, DAY_MS, HOUR_MS - 1, 5 * MINUTE_MS, 5 * MINUTE_MS - 1, 7 * MINUTE_MS),
      ),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("take over" as const), who }) },
  fc.record({
    kind: fc.constant("clock of the store" as const),
    errorMs: fc.integer({ min: -30 * SECOND_MS, max: 30 * SECOND_MS }),
  }),
  fc.record({
    kind: fc.constant("429" as const),
    who,
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 2 * HOUR_MS })),
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("crash" as const, "stop" as const, "cut off" as const, "reconnect" as const),
      who,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("empty" as const),
      next: who,
      endpoint: fc.nat(ENDPOINTS.length - 1),
      times: fc.integer({ min: 1, max: 30 }),
    }),
  },
);

/** A process on the store. */
class Process {
  readonly budgets: SharedBudgets;
  readonly gate: BudgetGate;
  isCutOff = false;
  loses: Loss = "nothing";
  /** Of the lease that it believes to hold. */
  token: number | null = null;
  /** The store's clock as of the last reply, minus the true one. */
  #storeErrorMs = 0;

  constructor(
    id: number,
    isDaemon: boolean,
    life: {
      readonly store: ScriptRunner;
      readonly trueMs: () => number;
      readonly storeErrorMs: () => number;
    },
  ) {
    const store: ScriptRunner = {
      run: async (script, keys, args) => {
        if (this.isCutOff || this.loses === "request") {
          return NOT_CONNECTED;
        }
        const reply = await life.store.run(script, keys, args);
        this.#storeErrorMs = life.storeErrorMs();
        return this.loses === "reply" ? NOT_CONNECTED : reply;
      },
    };
    this.budgets = new SharedBudgets({
      store,
      budgets: new Budgets(FLEET, { slackMs: SLACK_MS }),
      leadership: {
        role: () => (this.token === null ? "standby" : "leader"),
        token: () => this.token,
        isFailing: () => false,
        storeNowMs: () => life.trueMs() + this.#storeErrorMs,
      },
      monotonicMs: () => life.trueMs() - T0 + id,
      isDaemon,
      onInvalid: () => undefined,
    });
    this.gate = new BudgetGate(this.budgets, () => 0.5);
  }
}

/** Processes that share budgets, in simulated time. */
export class SharedLife {
  /** By the budget, when each request was sent, in true time. */
  readonly sent = new Map<string, number[]>();
  readonly #store: StoreUnderTest;
  readonly #processes = new Map<Who, Process>();
  #trueMs = T0;
  #storeErrorMs = 0;
  #token = 0;
  #started = 0;

  constructor(createStore: (nowMs: () => number) => StoreUnderTest) {
    this.#store = createStore(() => this.#trueMs + this.#storeErrorMs);
  }

  /** Starts the processes; the first leads. */
  async start(): Promise<void> {
    for (const index of EVERYBODY) {
      this.#restart(index);
    }
    await this.#takeOver(0);
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
        this.#storeErrorMs = one.errorMs;
        return;
      case "429":
        return this.#process(one.who).gate.backOff(endpoint(0), one.retryAfterMs);
      case "crash":
        return this.#restart(one.who);
      case "stop":
        await this.#process(one.who).budgets.release();
        return this.#restart(one.who);
      case "cut off":
        this.#process(one.who).isCutOff = true;
        return;
      case "reconnect":
        this.#process(one.who).isCutOff = false;
        return await this.#sync(one.who);
      case "empty":
        return await this.#empty(one);
    }
  }

  /** The most requests of a budget that any window held. */
  mostInAWindow({ name, windowMs }: { readonly name: string; readonly windowMs: number }): number {
    const sent = this.sent.get(name) ?? [];
    return Math.max(0, ...sent.map((atMs) => sent.filter((ms) => ms > atMs - windowMs && ms <= atMs).length));
  }

  /** How many requests of the first budget a process counts. */
  usedBy(index: Who): number {
    const { budgets } = this.#process(index);
    return budgets.budgets.report(budgets.nowMs())[0]?.used ?? 0;
  }

  /** What the docs promise: the leader lives on and is connected, and writes within a second what it knows. */
  async #empty({ next, endpoint, times }: Extract<Step, { kind: "empty" }>): Promise<void> {
    const leader = EVERYBODY.find((index) => this.#leads(index));
    if (leader === undefined) {
      return;
    }
    await this.#sync(leader);
    const poll = {
      kind: "poll",
      endpoint,
      use: "scheduled",
      times,
      crash: "none",
      loses: "nothing",
    } as const;
    await this.#poll({ ...poll, who: leader });
    await this.#store.empty();
    await this.#poll({ ...poll, who: leader });
    await this.#store.setLease(this.#token);
    await this.#wait(SECOND_MS);
    await this.#takeOver(next);
    await this.#poll({ ...poll, who: next });
  }

  /** Whether it holds the lease and can reach the store. */
  #leads(index: Who): boolean {
    const { token, isCutOff } = this.#process(index);
    return token === this.#token && !isCutOff;
  }

  async #wait(ms: number): Promise<void> {
    // While nothing else happens every process turns to the store each second; a few times will do.
    const pieces = ms > 2 * MINUTE_MS ? 4 : 1;
    for (let piece = 0; piece < pieces; piece += 1) {
      this.#trueMs += Math.floor(ms / pieces);
      await Promise.all(EVERYBODY.map((index) => this.#sync(index)));
    }
  }

  /** As a replica does each second: the leader writes, all others read, and who has lost the lease notices. */
  async #sync(index: Who): Promise<void> {
    const process = this.#process(index);
    if (this.#leads(index)) {
      await process.budgets.flush().catch(() => undefined);
    } else if (!process.isCutOff) {
      process.token = null;
      await process.budgets.follow();
    }
  }

  async #takeOver(index: Who): Promise<void> {
    const process = this.#process(index);
    if (!process.isCutOff) {
      this.#token += 1;
      await this.#store.setLease(this.#token);
      await process.budgets.follow();
      process.token = this.#token;
      process.budgets.takeOver(null);
    }
  }

  async #poll({ who: index, endpoint: asked, use, times, crash, loses }: Extract<Step, { kind: "poll" }>) {
    const process = this.#process(index);
    for (let left = times; left > 0; left -= 1) {
      process.loses = left === 1 ? loses : "nothing";
      const grant = await process.gate.acquire(endpoint(asked), use);
      process.loses = "nothing";
      if (grant.kind === "granted" && !(left === 1 && crash === "before sending")) {
        const name = endpoint(asked).budget ?? "";
        this.sent.set(name, [
          ...(this.sent.get(name) ?? []),
          this.#trueMs + (left % 3) * (LONGEST_SENDING_MS / 2),
        ]);
      }
    }
    if (crash !== "none") {
      this.#restart(index);
    }
  }

  #restart(index: Who): void {
    this.#started += 1;
    const life = {
      store: this.#store,
      trueMs: () => this.#trueMs,
      storeErrorMs: () => this.#storeErrorMs,
    };
    this.#processes.set(index, new Process(this.#started, index !== CHECK, life));
  }

  #process(index: Who): Process {
    const process = this.#processes.get(index);
    if (process === undefined) {
      throw new RangeError(`Cannot find process ${index}: start() first`);
    }
    return process;
  }
}

function endpoint(index: number) {
  const found = ENDPOINTS[index];
  if (found === undefined) {
    throw new RangeError(`Cannot find endpoint ${index}`);
  }
  return found;
}

/** A life on stores that are models, unless others are named. */
export async function lived(
  steps: readonly Step[],
  storeAt: ConstructorParameters<typeof SharedLife>[0] = (nowMs) => new StoreModel(nowMs),
): Promise<SharedLife> {
  const life = new SharedLife(storeAt);
  await life.start();
  for (const one of steps) {
    await life.live(one);
  }
  return life;
}
