import { createClient } from "@redis/client";
import { describe, expect, it, vi } from "vitest";
import { Spent } from "../../src/budgets/ledger.ts";
import { FAULTS } from "../support/faults.ts";
import { startFleet } from "../support/fleet.ts";
import { configOf, scrape, startTestApp } from "../support/running-app.ts";
import { type RedisServer, startRedis, storeAddress } from "./support/redis-server.ts";
import { undoLater } from "./support/undo.ts";

/** How many daemons run at once. */
const AT_ONCE = 32;
const WAIT = { timeout: 60_000, interval: 250 };
/** More than a schedule of one request a second asks for in an hour. */
const LIMIT = 4_000;
/** Without a budget, with one of `LIMIT` an hour, and with one at a provider that refuses with 429. */
const [FREE, COUNTED, REFUSED] = [keyOfEndpoint("free"), keyOfEndpoint("counted"), keyOfEndpoint("refused")];
/** The key and the field of the budget that is spent. */
const BUDGETS = "budgets";
const ACCOUNT = "account many";
const ROUTES = ["/", "/chains/base", "/plan", "/metrics", "/api/v1/status", "/api/v1/history/free/base"];

const WRONG_TYPES: readonly (readonly string[])[] = [
  ["SET", "KEY", "garbage"],
  ["HSET", "KEY", "garbage", "garbage"],
  ["RPUSH", "KEY", "garbage"],
  ["SADD", "KEY", "garbage"],
  ["ZADD", "KEY", "1", "garbage"],
];
/** At once: a daemon that leads writes a key again as soon as it is gone. */
const REPLACE = "redis.call('DEL', KEYS[1]) return redis.call(unpack(ARGV))";
const VALUES = ["1e308", "-99847", "NaN", "", '{"a":', "999999999999999", "7".repeat(100_000)];
const TEXTS = ["1e308", "", '{"a":'];
/** Fields for which only one of `VALUES` is right. */
const NUMBERS = /^(token|until|since|#|#at)$/;
const SCORES = ["1e308", "-1", "-inf", "0.5"];

/** A command that spoils one key of a cluster; `KEY` is replaced by the key. */
interface Mutation {
  readonly key: string;
  readonly command: readonly string[];
}

type Ask = (command: readonly string[]) => Promise<unknown>;

describe("synclag run, on a real Redis that holds garbage", () => {
  it("starts, polls, leads and keeps its budgets, whichever value of a running cluster is damaged", async () => {
    const server = await startRedis();
    const ask = await connect(server);
    const keys = await runCluster(server, ask);
    const mutations = (await Promise.all(keys.map((key) => mutationsOf(key, ask)))).flat();

    const left = [...mutations.entries()];
    const wrong: string[] = [];
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [index, { key, command }] = next;
        const cluster = `c${index}`;
        for (const copied of keys) {
          await ask(["COPY", keyOf("seed", copied), keyOf(cluster, copied)]);
        }
        // All is spent: any request that is counted is one too many.
        await spendAll(cluster, ask);
        const spoil = () => ask(inCluster(command, key, cluster));
        await spoil();
        const said = await failuresOf(server, cluster, spoil).catch((error: unknown) => [String(error)]);
        wrong.push(...said.map((one) => `${key} by ${command.join(" ").slice(0, 60)}: ${one}`));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));

    expect(wrong).toEqual([]);
    expect(mutations.length).toBeGreaterThan(100);
  });
});

/** What is wrong with a daemon that starts on a spoilt cluster, which is spoilt again while it leads. */
async function failuresOf({ port }: RedisServer, cluster: string, spoil: () => Promise<unknown>) {
  await using daemon = await startOnStore(port, cluster);
  const { app, bugs, fleet } = daemon;
  const polls = (): number => fleet.endpoint(FREE).requestCount;
  const isWell = (before: number): Promise<void> =>
    vi.waitFor(async () => {
      expect(polls(), "polls").toBeGreaterThan(before + 1);
      const metrics = await scrape(app);
      expect(metrics.get("synclag_leader"), "leader").toBe(1);
      expect(metrics.get("synclag_store_up"), "store up").toBe(1);
    }, WAIT);
  await isWell(0);
  await spoil();
  await isWell(polls());
  const statuses = await Promise.all(ROUTES.map(async (route) => (await fetch(`${app.url}${route}`)).status));
  expect(statuses).toEqual(ROUTES.map(() => 200));
  expect(fleet.endpoint(COUNTED).requestCount, "requests of an empty budget").toBe(0);
  return bugs.map(String);
}

/** Each key with a value of each type, and each of its fields with each of the values. */
async function mutationsOf(key: string, ask: Ask): Promise<readonly Mutation[]> {
  const of = (...command: readonly string[]): Promise<unknown> => ask(inCluster(command, key, "seed"));
  const type = String(await of("TYPE", "KEY"));
  const fields = type === "hash" ? textsOf(await of("HKEYS", "KEY")) : [];
  const members = type === "zset" ? textsOf(await of("ZRANGE", "KEY", "0", "-1")) : [];
  return [
    ...WRONG_TYPES.map((command) => ["EVAL", REPLACE, "1", "KEY", ...command]),
    ...fields
      .filter((field) => field !== "name" && field !== "id")
      .flatMap((field) =>
        (NUMBERS.test(field) ? VALUES : TEXTS).map((value) => ["HSET", "KEY", field, value]),
      ),
    ...members.flatMap((member) => SCORES.map((score) => ["ZADD", "KEY", score, member])),
  ].map((command) => ({ key, command }));
}

/** Runs a cluster called `seed` until it has written all of its keys, and returns them. */
async function runCluster({ port }: RedisServer, ask: Ask): Promise<readonly string[]> {
  await using daemon = await startOnStore(port, "seed");
  await vi.waitFor(() => expect(daemon.fleet.endpoint(COUNTED).requestCount).toBeGreaterThan(2), WAIT);
  await daemon.app[Symbol.asyncDispose]();
  const keys = textsOf(await ask(["KEYS", "*"])).map((key) => key.slice(keyOf("seed", "").length));
  expect(keys.sort()).toEqual([...[BUDGETS, "budgets-order", "lease", "probe", "state", "state-order"]]);
  return keys;
}

async function spendAll(cluster: string, ask: Ask): Promise<void> {
  const key = keyOf(cluster, BUDGETS);
  const account = Spent.parse(JSON.parse(String(await ask(["HGET", key, ACCOUNT]))));
  const buckets = account.buckets.map(([endMs]) => [endMs, LIMIT, 0]);
  await ask(["HSET", key, ACCOUNT, JSON.stringify({ ...account, buckets })]);
}

/** A daemon in this process with the real clock, on a store on loopback, with a fleet of its own that is polled each second. */
async function startOnStore(port: number, cluster: string) {
  const fleet = await startFleet({
    nowMs: Date.now,
    endpoints: [FREE, COUNTED, REFUSED].map((key) => ({ kind: "studio" as const, key })),
  });
  fleet.endpoint(REFUSED).fail(FAULTS.http_429);
  const indexer = (key: string, budget: string): string =>
    `[{ variant: subgraph, dialect: graph, url: "${fleet.endpoint(key).url}", schedule: "* * * * * *", chains: [base]${budget} }]`;
  const config = configOf(`version: 1
poll: { retries: 0 }
budgets:
  many: { limit: ${LIMIT}, per: hour, scope: shared }
  refused: { limit: ${LIMIT}, per: hour, scope: shared }
chains: { base: { id: 8453, name: base, block_time: 2s } }
protocols:
  free: ${indexer(FREE, "")}
  counted: ${indexer(COUNTED, ", budget: many")}
  refused: ${indexer(REFUSED, ", budget: refused")}
`);
  const bugs: unknown[] = [];
  const store = { address: storeAddress(port), cluster };
  const app = await startTestApp(config, { store, onBug: (error) => bugs.push(error) });
  return {
    app,
    fleet,
    bugs,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await fleet[Symbol.asyncDispose]();
    },
  };
}

function keyOfEndpoint(protocol: string): string {
  return `${protocol}/subgraph/production/base`;
}

function keyOf(cluster: string, key: string): string {
  return `synclag:{${cluster}}:${key}`;
}

function inCluster(command: readonly string[], key: string, cluster: string): readonly string[] {
  return command.map((word) => (word === "KEY" ? keyOf(cluster, key) : word));
}

function textsOf(reply: unknown): string[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}

async function connect({ url }: RedisServer): Promise<Ask> {
  const client = createClient({ url, RESP: 2 });
  // The server ends first.
  client.on("error", () => undefined);
  await client.connect();
  undoLater(() => client.destroy());
  return (command) => client.sendCommand([...command]);
}
