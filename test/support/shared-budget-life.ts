import fc from "fast-check";
import { Budgets } from "../../src/budgets/budgets.ts";
import type { Use } from "../../src/budgets/ledger.ts";
import type { Budget } from "../../src/core/model/fleet.ts";
import type { RedisStore } from "../../src/io/store/redis-store.ts";
import { type DrawingRight, SharedBudgets } from "../../src/io/store/shared-budgets.ts";
import { NOT_CONNECTED } from "../../src/io/store/store-reply.ts";
import { endpointOf, fleetOf } from "../budgets/fleet-builder.ts";

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
export interface StoreUnderTest extends Pick<RedisStore, "run"> {
  /** Forgets everything. */
  readonly empty: () => Promise<void>;
  readonly setLease: (token: number) => Promise<void>;
}

/** Two daemons, which take the lease from each other, and a `check`. */
type Who = 0 | 1 | 2;
const CHECK: Who = 2;

type Crash = "none" | "before sending" | "after sending";

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
      readonly loses: "request" | "reply" | "nothing";
    }
  | { readonly kind: "take over"; readonly who: Who }
  | { readonly kind: "clock of the store"; readonly errorMs: number }
  | { readonly kind: "429"; readonly who: Who; readonly retryAfterMs: number | null }
  | { readonly kind: "crash" | "stop" | "cut off" | "reconnect"; readonly who: Who }
  | {
      /** The store forgets everything, a moment after one process has drawn and before another does. */
      readonly kind: "empty";
      readonly before: Who;
      readonly after: Who;
      readonly endpoint: number;
      readonly times: number;
    };

const who = fc.constantFrom<Who[]>(0, 0, 0, 1, 1, 2);
/** Histories of steps. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("poll" as const),
      who,
      endpoint: fc.nat(ENDPOINTS.length - 1),
      use: fc.constantFrom<Use[]>("scheduled", "opportunistic"),
      times: fc.integer({ min: 1, max: 20 }),
      crash: fc.constantFrom<Crash[]>("none", "none", "before sending", "after sending"),
      loses: fc.constantFrom("nothing", "nothing", "reply", "request"),
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
  fc.record({ kind: fc.constant("take over" as const), who: fc.constantFrom<Who[]>(0, 1) }),
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
      before: who,
      after: who,
      endpoint: fc.nat(ENDPOINTS.length - 1),
      times: fc.integer({ min: 1, max: 30 }),
    }),
  },
);

interface Process {
  budgets: SharedBudgets;
  isCutOff: boolean;
  loses: "request" | "reply" | "nothing";
  right: DrawingRight;
}

/** Processes that share budgets, in simulated time. */
export class SharedLife {
  /** By the budget, when each request was sent, in true time. */
  readonly sent = new Map<string, number[]>();
  readonly #store: StoreUnderTest;
  readonly #processes: Process[] = [];
  #trueMs = T0;
  #storeErrorMs = 0;
  #token = 1;
  #started = 0;

  constructor(createStore: (nowMs: () => number) => StoreUnderTest) {
    this.#store = createStore(() => this.#trueMs + this.#storeErrorMs);
  }

  /** Starts the processes; the first leads. */
  async start(): Promise<void> {
    await this.#store.setLease(this.#token);
    for (const index of [0, 1, 2] as const) {
      const right: DrawingRight =
        index === CHECK ? { kind: "free" } : { kind: "leader", token: index === 0 ? this.#token : 0 };
      this.#processes.push({ ...this.#newProcess(index), right });
      await this.#processes[index]?.budgets.open(this.#sleep);
    }
  }

  async live(one: Step): Promise<void> {
    switch (one.kind) {
      case "wait":
        return await this.#wait(one.ms);
      case "poll":
        return await this.#poll(one);
      case "take over":
        this.#token += 1;
        await this.#store.setLease(this.#token);
        this.#process(one.who).right = { kind: "leader", token: this.#token };
        return;
      case "clock of the store":
        this.#storeErrorMs = one.errorMs;
        return;
      case "429": {
        this.#process(one.who).budgets.backOff(endpoint(0), one.retryAfterMs);
        return await settle();
      }
      case "crash":
        return await this.#restart(one.who);
      case "stop":
        await this.#process(one.who).budgets.close();
        return await this.#restart(one.who);
      case "cut off":
        this.#process(one.who).isCutOff = true;
        return;
      case "reconnect":
        this.#process(one.who).isCutOff = false;
        return await this.#process(one.who).budgets.sync();
      case "empty":
        return await this.#empty(one);
    }
  }

  /** The most requests of a budget that any window held. */
  mostInAWindow({ name, windowMs }: { readonly name: string; readonly windowMs: number }): number {
    const sent = this.sent.get(name) ?? [];
    return Math.max(0, ...sent.map((atMs) => sent.filter((ms) => ms > atMs - windowMs && ms <= atMs).length));
  }

  /** What the docs promise: all that drew live on and are connected, and say within five seconds what they drew. */
  async #empty({ before, after, endpoint, times }: Extract<Step, { kind: "empty" }>): Promise<void> {
    for (const process of this.#processes) {
      process.isCutOff = false;
    }
    await this.#wait(5 * SECOND_MS);
    const poll = {
      kind: "poll",
      endpoint,
      use: "scheduled",
      times,
      crash: "none",
      loses: "nothing",
    } as const;
    await this.#poll({ ...poll, who: before });
    await this.#store.empty();
    await this.#store.setLease(this.#token);
    // Processes look each second, not at the instant at which something happens.
    for (let second = 0; second < 6; second += 1) {
      await this.#poll({ ...poll, who: after });
      await this.#wait(SECOND_MS / 2);
      this.#trueMs += SECOND_MS / 2;
    }
  }

  async #wait(ms: number): Promise<void> {
    // While nothing else happens all processes look at their accounts every five seconds; a few times will do.
    const pieces = ms > 2 * MINUTE_MS ? 4 : 1;
    for (let piece = 0; piece < pieces; piece += 1) {
      this.#trueMs += Math.floor(ms / pieces);
      await Promise.all(this.#processes.map(({ budgets }) => budgets.sync()));
    }
  }

  async #poll({ who: index, endpoint: asked, use, times, crash, loses }: Extract<Step, { kind: "poll" }>) {
    const process = this.#process(index);
    for (let left = times; left > 0; left -= 1) {
      process.loses = left === 1 ? loses : "nothing";
      const grant = await process.budgets.acquire(endpoint(asked), use);
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
      await this.#restart(index);
    }
  }

  async #restart(index: Who): Promise<void> {
    const { right } = this.#process(index);
    const process = { ...this.#newProcess(index), right };
    this.#processes[index] = process;
    await process.budgets.open(this.#sleep);
  }

  readonly #sleep = async (ms: number): Promise<void> => {
    this.#trueMs += ms;
  };

  #newProcess(index: Who): Process {
    this.#started += 1;
    const id = this.#started.toString();
    const isOwn = (): Process | undefined => this.#processes[index];
    const process: Process = {
      isCutOff: false,
      loses: "nothing",
      right: { kind: "none" },
      budgets: new SharedBudgets({
        store: {
          run: async (script, keys, args) => {
            const { isCutOff = false, loses = "nothing" } = isOwn() ?? {};
            if (isCutOff || loses === "request") {
              return NOT_CONNECTED;
            }
            const reply = await this.#store.run(script, keys, args);
            return loses === "reply" ? NOT_CONNECTED : reply;
          },
        },
        budgets: new Budgets(FLEET),
        name: `process ${index}`,
        id,
        isDaemon: index !== CHECK,
        right: () => isOwn()?.right ?? { kind: "none" },
        nowMs: () => this.#trueMs + (index - 1) * 30 * SECOND_MS,
        monotonicMs: () => this.#trueMs - T0 + Number(id),
        random: () => 0.5,
      }),
    };
    return process;
  }

  #process(index: Who): Process {
    const process = this.#processes[index];
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

/** What was started without waiting has ended: the stores under test answer within a few turns of the event loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
