import { createClient } from "@redis/client";
import { afterAll, describe, expect, it, vi } from "vitest";
import { Spent } from "../../src/budgets/ledger.ts";
import {
  badRoutes,
  COUNTED,
  type DaemonOnStore,
  FREE,
  LIMIT,
  startOnStore,
} from "../support/daemon-on-store.ts";
import { scrape } from "../support/running-app.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { undoAll, undoLater } from "./support/undo.ts";

afterAll(undoAll);

/** How many daemons run at once. */
const AT_ONCE = 32;
const WAIT = { timeout: 60_000, interval: 250 };
/** The key and the field of the budget that is spent. */
const BUDGETS = "budgets";
const ACCOUNT = "account many";

const WRONG_TYPES: readonly (readonly string[])[] = [
  ["SET", "KEY", "garbage"],
  ["HSET", "KEY", "garbage", "garbage"],
  ["RPUSH", "KEY", "garbage"],
  ["SADD", "KEY", "garbage"],
  ["ZADD", "KEY", "1", "garbage"],
];
/** At once: a daemon that leads writes a key anew as soon as it is gone. */
const REPLACE = "redis.call('DEL', KEYS[1]) return redis.call(unpack(ARGV))";
const VALUES = ["1e308", "-99847", "NaN", "", '{"a":', "999999999999999", "7".repeat(100_000)];
const TEXTS = ["1e308", "", '{"a":'];
/** Fields of which any of these values but one is wrong. */
const NUMBERS = /^(token|until|since|#)$/;

/** A command that spoils one key of a cluster; `KEY` stands for the key. */
interface Mutation {
  readonly name: string;
  readonly key: string;
  readonly command: readonly string[];
  /** Whether this can never be right, so that the log must name the key. */
  readonly isWrong: boolean;
  /** Reads what must change, and what it must no longer be. */
  readonly found: readonly [command: readonly string[], value: string] | null;
}

interface Place {
  readonly server: RedisServer;
  readonly ask: Ask;
  readonly cluster: string;
}

type Ask = (command: readonly string[]) => Promise<unknown>;

describe("synclag run, on a real Redis that holds garbage", () => {
  it("starts, polls, keeps its budgets and replaces the garbage, whatever a running cluster wrote is spoilt", async () => {
    const server = await startRedis();
    const ask = await connect(server);
    const keys = await runCluster(server, ask);
    const mutations = (await Promise.all(keys.map((key) => mutationsOf(key, ask)))).flat();

    const left = [...mutations.entries()];
    const wrong: string[] = [];
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [index, mutation] = next;
        const place = { server, ask, cluster: `c${index}` };
        await copyCluster(keys, place);
        // All is spent: any request that is counted is one too many.
        await spendAll(place);
        await spoil(mutation, place);
        wrong.push(...(await failuresOf(mutation, place)));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));

    expect(wrong).toEqual([]);
    expect(mutations.length).toBeGreaterThan(100);
  });
});

/** What is wrong with a daemon that starts on a spoilt cluster, which is spoilt again while it leads. */
async function failuresOf(mutation: Mutation, place: Place): Promise<readonly string[]> {
  const { server, cluster, ask } = place;
  let daemon: DaemonOnStore;
  try {
    daemon = await startOnStore({ port: server.port, cluster });
  } catch (error) {
    return [`${mutation.name}: does not start: ${String(error)}`];
  }
  const polls = (): number => daemon.fleet.endpoint(FREE).requestCount;
  const isWell = async (before: number): Promise<void> =>
    vi.waitFor(async () => {
      expect(polls(), "polls").toBeGreaterThan(before + 1);
      const metrics = await scrape(daemon.app);
      expect(metrics.get("synclag_leader"), "leader").toBe(1);
      expect(metrics.get("synclag_store_up"), "store up").toBe(1);
      if (mutation.found !== null) {
        const [command, value] = mutation.found;
        const now = await ask(inCluster(command, mutation.key, cluster));
        expect(String(now).slice(0, 100), "garbage").not.toBe(value.slice(0, 100));
      }
    }, WAIT);
  const judge = async (): Promise<void> => {
    await isWell(0);
    if (isReadWhileLeading(mutation)) {
      await spoil(mutation, place);
      await isWell(polls());
    }
    expect(await badRoutes(daemon.app)).toEqual([]);
    expect(daemon.fleet.endpoint(COUNTED).requestCount, "requests of an empty budget").toBe(0);
    expect(await countedIn(place), "counted").toBeGreaterThanOrEqual(LIMIT);
    if (mutation.isWrong) {
      const warnings = JSON.stringify(daemon.lines.filter(({ level }) => Number(level) >= 40));
      expect(warnings).toContain(mutation.key);
    }
    await daemon[Symbol.asyncDispose]();
  };
  const wrong: unknown[] = [];
  await judge().catch((error: unknown) => wrong.push(error));
  return [...wrong, ...daemon.bugs].map((error) => `${mutation.name}: ${String(error).slice(0, 400)}`);
}

/** A leader reads no parts, and writes a part when it changes. */
function isReadWhileLeading({ key, command }: Mutation): boolean {
  return key === "lease" || command[0] === "EVAL";
}

/** Each key with a value of each type, and each of its fields with each of the values. */
async function mutationsOf(key: string, ask: Ask): Promise<readonly Mutation[]> {
  const of = (...command: readonly string[]): Promise<unknown> => ask(inCluster(command, key, "seed"));
  const type = String(await of("TYPE", "KEY"));
  const types = WRONG_TYPES.map((command) => ({
    name: `${key} by ${command.join(" ")}`,
    key,
    command: ["EVAL", REPLACE, "1", "KEY", ...command],
    isWrong: !isOfType(command, type) && key !== "probe",
    found: null,
  }));
  const fields = type === "hash" ? textsOf(await of("HKEYS", "KEY")) : [];
  return [
    ...types,
    ...fields
      .filter((field) => field !== "name" && field !== "id")
      .flatMap((field) =>
        (NUMBERS.test(field) ? VALUES : TEXTS).map((value) => fieldMutation(key, field, value)),
      ),
  ];
}

function isOfType([command = ""]: readonly string[], type: string): boolean {
  return { SET: "string", HSET: "hash", RPUSH: "list", SADD: "set", ZADD: "zset" }[command] === type;
}

function fieldMutation(key: string, field: string, value: string): Mutation {
  const isWrong = NUMBERS.test(field) && value !== "999999999999999";
  const name = `${key}, ${field} = ${value.slice(0, 20)}`;
  const found = isWrong ? ([["HGET", "KEY", field], value] as const) : null;
  return { name, key, command: ["HSET", "KEY", field, value], isWrong, found };
}

/** Runs a cluster called `seed` until it has written all of its keys, and returns them. */
async function runCluster({ port }: RedisServer, ask: Ask): Promise<readonly string[]> {
  await using daemon = await startOnStore({ port, cluster: "seed" });
  await vi.waitFor(() => expect(daemon.fleet.endpoint(COUNTED).requestCount).toBeGreaterThan(2), WAIT);
  await daemon.app[Symbol.asyncDispose]();
  const keys = textsOf(await ask(["KEYS", "*"])).map((key) => key.slice(keyOf("seed", "").length));
  expect(keys.sort()).toEqual([
    ...[BUDGETS, "budgets-order", "events", "events-order"],
    ...["lease", "probe", "state", "state-order"],
  ]);
  return keys;
}

async function copyCluster(keys: readonly string[], { cluster, ask }: Place): Promise<void> {
  for (const key of keys) {
    await ask(["COPY", keyOf("seed", key), keyOf(cluster, key)]);
  }
}

async function spendAll({ cluster, ask }: Place): Promise<void> {
  const key = keyOf(cluster, BUDGETS);
  const account = Spent.parse(JSON.parse(String(await ask(["HGET", key, ACCOUNT]))));
  const buckets = account.buckets.map(([endMs]) => [endMs, LIMIT, 0]);
  await ask(["HSET", key, ACCOUNT, JSON.stringify({ ...account, buckets })]);
}

async function spoil({ key, command }: Mutation, { cluster, ask }: Place): Promise<void> {
  await ask(inCluster(command, key, cluster));
}

/** What the store counts of the budget. */
async function countedIn({ cluster, ask }: Place): Promise<number> {
  const text = String(await ask(["HGET", keyOf(cluster, BUDGETS), ACCOUNT]));
  const { buckets } = Spent.parse(JSON.parse(text));
  return buckets.reduce((sum, [, scheduled, opportunistic]) => sum + scheduled + opportunistic, 0);
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
