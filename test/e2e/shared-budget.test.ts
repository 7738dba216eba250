import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@redis/client";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { countedAtOnce, Spent } from "../../src/budgets/ledger.ts";
import { RedisStore } from "../../src/io/store/redis-store.ts";
import { type StoreScript, storeScript } from "../../src/io/store/store-script.ts";
import type { SimulatedFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { startFleet } from "../support/fleet.ts";
import { recordLog } from "../support/log-recorder.ts";
import { DAILY, HOURLY, lived, type StoreUnderTest, step } from "../support/shared-budget-life.ts";
import { StoreModel } from "../support/store-model.ts";
import { type Program, runProgram, startProgram } from "./support/program.ts";
import { type RedisServer, startRedis, storeAddress } from "./support/redis-server.ts";
import { startSynclag } from "./support/synclag.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

afterAll(undoAll);

const LIMIT = 200;
/** The share of the limit that must have been sent: a process that is killed while it polls loses what it has counted. */
const USED = 0.25;
/** How long processes are killed; five minutes each night. */
const KILLING_MS = Number(process.env["SHARED_BUDGET_SECONDS"] ?? 20) * 1_000;
/** Of a process that polls nothing: most stand by. */
const LONGEST_LIFE_MS = 15_000;
const CHAINS = { base: 8453, ethereum: 1, arbitrum: 42161 };
const PROTOCOLS = ["airdrops", "lockup", "flow", "staking", "vesting", "grants", "swaps", "loans"];
const KEYS = PROTOCOLS.flatMap((protocol) => Object.keys(CHAINS).map((chain) => keyOf(protocol, chain)));
/** What `check` leaves to the schedule, which polls each endpoint once an hour. */
const RESERVE = countedAtOnce({ per: "hour" }, KEYS.length);

describe("the scripts of budgets, on a real Redis with a clock that the test sets", () => {
  it("reply as the model does, and never let more through than the limit", async () => {
    const server = await startRedis();
    const address = storeAddress(server.port);
    const options = { logger: recordLog().logger, random: () => 0.5 };
    await using store = await RedisStore.open({ address, cluster: "test" }, options);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const stores: ReturnType<typeof bothStores>[] = [];
        const life = await lived(steps, (nowMs) => {
          const both = bothStores(store, nowMs);
          stores.push(both);
          return both;
        });

        // What is still under way would find the store closed.
        await Promise.all(stores.map((one) => one.settled()));
        expect(life.mostInAWindow(HOURLY)).toBeLessThanOrEqual(HOURLY.limit);
        expect(life.mostInAWindow(DAILY)).toBeLessThanOrEqual(DAILY.limit);
      }),
      { numRuns: 30 },
    );
  });
});

describe("a budget that three daemons and a cron of check share", () => {
  it("is used but never exceeded, although all processes are killed at random and the store restarts", async () => {
    await using fleet = await startFleet({
      nowMs: Date.now,
      endpoints: KEYS.map((key) => ({ kind: "studio", key, chains: [key.split("/")[3] ?? ""] })),
    });
    const folder = await temporaryFolder("shared-budget");
    const config = join(folder, "chains.yaml");
    await writeFile(config, chainsYaml(fleet));
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
          // Not yet.
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
    for (let asked = 0; asked < LIMIT + KEYS.length; asked += KEYS.length) {
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

/** Waits until nobody leads, by the store's clock. */
async function leaseIsOver({ url }: RedisServer): Promise<void> {
  const client = await createClient({ url }).connect();
  const untilMs = async () => Number((await client.hGet("synclag:{default}:lease", "until")) ?? 0);
  const nowMs = async () => Number((await client.sendCommand<string[]>(["TIME"]))[0]) * 1_000;
  while ((await untilMs()) > (await nowMs())) {
    await delay(100);
  }
  client.destroy();
}

/** What the store counts. */
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

/** Each has keys of its own: calls of the one before may still be under way. */
let histories = 0;

/** Runs each script on both, and compares the replies. */
function bothStores(
  redis: RedisStore,
  nowMs: () => number,
): StoreUnderTest & { readonly settled: () => Promise<void> } {
  histories += 1;
  const own = `${histories}:`;
  let atMs = 0;
  const model = new StoreModel(() => atMs);
  // One after the other: a script whose text has to be sent first would be overtaken.
  let latest: Promise<unknown> = Promise.resolve();
  let isOver = false;
  async function inTurn<T>(call: () => Promise<T>): Promise<T> {
    if (isOver) {
      // A call that nobody waited for: its reply never comes.
      return await new Promise<T>(() => undefined);
    }
    const turn = latest.then(call);
    latest = turn.catch(() => undefined);
    return await turn;
  }
  return {
    async settled() {
      for (let seen: unknown; seen !== latest; ) {
        seen = latest;
        await latest;
      }
      isOver = true;
    },
    run: (script, keys, args) =>
      inTurn(async () => {
        atMs = nowMs();
        const expected = await model.run(script, keys, args);
        const reply = await redis.run(
          withClock(script, atMs),
          keys.map((key) => `${own}${key}`),
          args,
        );
        expect(comparable(reply)).toEqual(comparable(expected));
        return reply;
      }),
    empty: () =>
      inTurn(async () => {
        await model.empty();
        const keys = ["budgets", "budgets-order", "lease"].map((key) => `${own}${key}`);
        await redis.run(FORGET, keys, []);
      }),
    setLease: (token) =>
      inTurn(async () => {
        await model.setLease(token);
        await redis.run(SET_LEASE, [`${own}lease`], [token]);
      }),
  };
}

const FORGET = storeScript("return redis.call('DEL', unpack(KEYS))", z.number());
const SET_LEASE = storeScript("return redis.call('HSET', KEYS[1], 'token', ARGV[1])", z.number());

function withClock<Value>(script: StoreScript<Value>, nowMs: number): StoreScript<Value> {
  const seconds = Math.floor(nowMs / 1_000);
  const clock = `{ ${seconds}, ${(nowMs - seconds * 1_000) * 1_000} }`;
  const lua = script.lua.replace("redis.call('TIME')", clock);
  return { ...script, lua, sha: createHash("sha1").update(lua).digest("hex") };
}

/** Numbers as text. */
function comparable(reply: unknown): unknown {
  return JSON.stringify(reply, (_key, value: unknown) =>
    typeof value === "number" ? value.toString() : value,
  );
}

function keyOf(protocol: string, chain: string): string {
  return `${protocol}/subgraph/production/${chain}`;
}

function requestsOf(fleet: SimulatedFleet): number {
  return KEYS.reduce((total, key) => total + fleet.endpoint(key).requestCount, 0);
}

function chainsYaml(fleet: SimulatedFleet): string {
  const protocols = PROTOCOLS.map((protocol) => {
    const chains = Object.keys(CHAINS).map(
      (chain) => `${chain}: { url: "${fleet.endpoint(keyOf(protocol, chain)).url}", budget: provider }`,
    );
    return `  ${protocol}: [{ variant: subgraph, schedule: "0 0 * * * *", chains: { ${chains.join(", ")} } }]`;
  });
  const chains = Object.entries(CHAINS).map(([slug, id]) => `  ${slug}: { id: ${id}, block_time: 2s }`);
  return `
version: 1
poll: { retries: 0 }
budgets: { provider: { limit: ${LIMIT}, per: hour, scope: shared } }
chains:
${chains.join("\n")}
protocols:
${protocols.join("\n")}
`;
}
