import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@redis/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { countedAtOnce, Spent } from "../../src/budgets/ledger.ts";
import { RedisStore } from "../../src/io/store/redis-store.ts";
import { type StoreScript, storeScript } from "../../src/io/store/store-script.ts";
import type { SimulatedFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { recordLog } from "../support/log-recorder.ts";
import { lived, type StoreUnderTest, step } from "../support/shared-budget-life.ts";
import { StoreModel } from "../support/store-model.ts";
import { type Program, runProgram, startProgram } from "./support/program.ts";
import { type RedisServer, startRedis, storeAddress } from "./support/redis-server.ts";
import { simulate, startSynclag } from "./support/synclag.ts";
import { temporaryFolder } from "./support/undo.ts";

const LIMIT = 200;
/** The share of the limit that must have been sent. A process that is killed while it polls loses requests that it has counted. */
const USED = 0.25;
/** How long processes are killed; five minutes each night. */
const KILLING_MS = Number(process.env["SHARED_BUDGET_SECONDS"] ?? 20) * 1_000;
/** Of a process that polls nothing: most stand by. */
const LONGEST_LIFE_MS = 15_000;
const PROTOCOLS = ["airdrops", "lockup", "flow", "staking", "vesting", "grants", "swaps", "loans"].map(
  (name) =>
    `  ${name}: [{ variant: subgraph, dialect: graph, url: "https://graph.example/${name}-{chain}", schedule: "0 0 * * * *", budget: provider, chains: [base, ethereum, arbitrum] }]`,
);
const FLEET = `
version: 1
poll: { retries: 0 }
budgets: { provider: { limit: ${LIMIT}, per: hour, scope: shared } }
chains:
  base: { id: 8453, block_time: 2s }
  ethereum: { id: 1, block_time: 2s }
  arbitrum: { id: 42161, block_time: 2s }
protocols:
${PROTOCOLS.join("\n")}
`;
const ENDPOINTS = 24;
/** What `check` leaves to the schedule, which polls each endpoint once an hour. */
const RESERVE = countedAtOnce({ per: "hour" }, ENDPOINTS);

describe("the scripts of budgets, on a real Redis with a clock that the test sets", () => {
  it("reply as the model does", async () => {
    const server = await startRedis();
    const settings = { address: storeAddress(server.port), cluster: "test" };
    await using redis = await RedisStore.open(settings, { logger: recordLog().logger, random: () => 0.5 });
    let histories = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const calls: Replay[] = [];
        await lived(steps, (nowMs) => recorded(nowMs, calls));
        // With other keys: the history before has left some.
        histories += 1;

        for (const replay of calls) {
          const { reply, expected } = await replay(redis, `${histories}:`);
          expect(reply).toEqual(expected);
        }
        expect(calls.length).toBeGreaterThan(5);
      }),
      { numRuns: 30 },
    );
  });
});

describe("a budget that three daemons and a cron of check share", () => {
  it("is used and never exceeded, although all processes are killed at random and the store restarts", async () => {
    const { fleet, config } = await simulate(FLEET);
    const folder = await temporaryFolder("shared-budget");
    const server = await startRedis(["--appendonly", "yes", "--dir", folder]);
    const check = {
      command: process.execPath,
      args: ["dist/main.js", "check", "--config", config, "--store", server.url],
    };
    const untilMs = Date.now() + KILLING_MS;
    const isOver = () => Date.now() >= untilMs;

    // At a random moment of the polls, whichever process makes them: a slow machine makes them later.
    async function startAndKill(start: () => Promise<Program>): Promise<void> {
      while (!isOver()) {
        const program = await start();
        const wanted = requestsOf(fleet) + Math.random() * 12;
        const untilGivenUpMs = Date.now() + LONGEST_LIFE_MS;
        const isTime = () => requestsOf(fleet) >= wanted || isOver() || Date.now() >= untilGivenUpMs;
        while (!isTime() && (await Promise.race([program.exit, delay(10)])) === undefined) {
          // Not yet the moment to kill it.
        }
        program.signal("SIGKILL");
        await program.exit;
      }
    }
    async function restartStore(): Promise<void> {
      await delay(KILLING_MS / 2);
      await server.kill();
      await delay(500);
      await server.start();
    }
    const daemon = () => startAndKill(() => startSynclag(config, ["--store", server.url]));
    await Promise.all([
      daemon(),
      daemon(),
      daemon(),
      startAndKill(() => startProgram(check)),
      restartStore(),
    ]);
    // Until then a check shows what the leader that was killed has written, and polls nothing.
    await leaseIsOver(server);
    // Each polls all, so that the rest of the limit is asked for.
    for (let asked = 0; asked < LIMIT + ENDPOINTS; asked += ENDPOINTS) {
      await runProgram(check);
    }

    const sent = requestsOf(fleet);
    const counted = await countedIn(server);
    expect(sent).toBeLessThanOrEqual(counted.scheduled + counted.people);
    expect(sent).toBeGreaterThanOrEqual(USED * LIMIT);
    // People get all but what the schedule asks for in a window, whether the daemons have sent it yet or not.
    expect(counted.people + Math.max(counted.scheduled, RESERVE)).toBe(LIMIT);
  });
});

/** Waits until no replica leads, by the store's clock. */
async function leaseIsOver({ url }: RedisServer): Promise<void> {
  const client = await createClient({ url }).connect();
  const untilMs = async () => Number((await client.hGet("synclag:{default}:lease", "until")) ?? 0);
  const nowMs = async () => Number((await client.sendCommand<string[]>(["TIME"]))[0]) * 1_000;
  while ((await untilMs()) > (await nowMs())) {
    await delay(100);
  }
  client.destroy();
}

/** The count of the store. */
async function countedIn({ url }: RedisServer) {
  const client = await createClient({ url }).connect();
  const text = await client.hGet("synclag:{default}:budgets", "account provider");
  client.destroy();
  const { buckets } = Spent.parse(JSON.parse(text ?? ""));
  const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
  return {
    scheduled: sum(buckets.map(([, scheduled]) => scheduled)),
    people: sum(buckets.map(([, , opportunistic]) => opportunistic)),
  };
}

/** Repeats a call on a Redis, on keys of its own; what that replied, and what the model did. */
type Replay = (redis: RedisStore, prefix: string) => Promise<{ reply: string; expected: string }>;

/** A model whose calls are kept. */
function recorded(nowMs: () => number, calls: Replay[]): StoreUnderTest {
  const model = new StoreModel(nowMs);
  function keep(...[script, keys, args, expected]: [...Parameters<RedisStore["run"]>, Promise<unknown>?]) {
    calls.push(async (redis, prefix) => {
      const own = keys.map((key) => `${prefix}${key}`);
      const reply = await redis.run(script, own, args);
      return { reply: JSON.stringify(reply), expected: JSON.stringify((await expected) ?? reply) };
    });
  }
  return {
    run(script, keys, args) {
      const expected = model.run(script, keys, args);
      keep(withClock(script, nowMs()), keys, args, expected);
      return expected;
    },
    empty() {
      keep(FORGET, ["budgets", "budgets-order", "lease"], []);
      return model.empty();
    },
    setLease(token) {
      keep(SET_LEASE, ["lease"], [token]);
      return model.setLease(token);
    },
  };
}

const FORGET = storeScript("return redis.call('DEL', unpack(KEYS))", z.number());
const SET_LEASE = storeScript("return redis.call('HSET', KEYS[1], 'token', ARGV[1])", z.number());

function withClock<Value>(script: StoreScript<Value>, nowMs: number): StoreScript<Value> {
  const seconds = Math.floor(nowMs / 1_000);
  const clock = `{ ${seconds}, ${(nowMs - seconds * 1_000) * 1_000} }`;
  return { ...script, lua: script.lua.replace("redis.call('TIME')", clock) };
}

function requestsOf(fleet: SimulatedFleet): number {
  return fleet.endpoints("*/*/*/*").reduce((total, { requestCount }) => total + requestCount, 0);
}
