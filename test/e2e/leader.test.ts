import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { getText } from "./support/loopback.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { type Synclag, simulate, startSynclag } from "./support/synclag.ts";

/** A lease lasts 12 s, and an empty store grants none before an earlier one could have expired; after this time no leader comes. */
const PATIENCE = { timeout: 60_000, interval: 100 };
/** Less than the rest of any lease. */
const HAND_OVER_MS = 11_000;
const FLEET = `
version: 1
chains: { base: { id: 8453, block_time: 2s } }
protocols:
  airdrops: [{ variant: subgraph, dialect: graph, schedule: "*/2 * * * * *", url: "https://graph.example/", chains: [base] }]
`;

/** What all replicas said at one moment: which leads, which exports the series of the fleet, and which has an unknown target. */
interface Sight {
  readonly alive: readonly Synclag[];
  readonly leaders: readonly Synclag[];
  readonly exporters: readonly Synclag[];
  readonly unknown: readonly Synclag[];
}

const sights: Sight[] = [];
const replicas = new Set<Synclag>();
let config: string;
let redis: RedisServer;

// test/scenarios/hand-over.test.ts tests in virtual time what a hand-over keeps, and every failure of a store.
describe("two replicas on a real store", () => {
  let isOver = false;
  let watching: Promise<void>;

  beforeAll(async () => {
    redis = await startRedis();
    ({ config } = await simulate(FLEET));
    await Promise.all([add(), add()]);
    watching = watch();
    await vi.waitFor(() => expect(sights.at(-1)).toMatchObject({ exporters: [{}], unknown: [] }), PATIENCE);
    sights.length = 0;
  });

  afterAll(async () => {
    isOver = true;
    await watching;
  });

  it("have a leader again after one was killed", async () => {
    const former = await leaderWithFollower();

    replicas.delete(former);
    former.signal("SIGKILL");
    await add();

    expect(await leaderOtherThan(former)).not.toBe(former);
  });

  it("hand over at once, not at the end of a lease, when the leader shuts down", async () => {
    const former = await leaderWithFollower();

    replicas.delete(former);
    expect((await former.stop()).code).toBe(0);
    const stoppedMs = performance.now();
    await leaderOtherThan(former);
    const tookMs = performance.now() - stoppedMs;
    await add();

    expect(tookMs).toBeLessThan(HAND_OVER_MS);
  });

  it("have one leader when the former leader wakes from a pause", async () => {
    const former = await leaderWithFollower();

    former.signal("SIGSTOP");
    const next = await leaderOtherThan(former);
    former.signal("SIGCONT");
    await seenTogether();

    expect(sights.at(-1)).toMatchObject({ leaders: [next], exporters: [next] });
  });

  it("keep their leader when the store restarts empty", async () => {
    const leader = await leaderWithFollower();
    const from = sights.length;

    await redis.kill();
    await redis.start();
    await seenTogether();

    expect(new Set(sights.slice(from).flatMap(({ leaders }) => leaders))).toEqual(new Set([leader]));
  });

  it("never had two leaders, a duplicate series, or a known target that became unknown", () => {
    expect(sights.length).toBeGreaterThan(50);
    expect(
      sights.filter(
        ({ leaders, exporters, unknown }) => leaders.length > 1 || exporters.length > 1 || unknown.length > 0,
      ),
    ).toEqual([]);
  });

  async function watch(): Promise<void> {
    for (; !isOver; await sleep(200)) {
      sights.push(await look());
    }
  }
});

async function add(): Promise<void> {
  replicas.add(await startSynclag(config, ["--store", redis.url]));
}

async function look(): Promise<Sight> {
  const seen = await Promise.all(
    [...replicas].map(async (replica) => {
      // Empty if the replica does not reply: it was killed or stopped.
      const metrics = await Promise.race([replica.metrics(), sleep(1_500, "")]).catch(() => "");
      return { replica, metrics };
    }),
  );
  const saying = (pattern: RegExp) =>
    seen.filter(({ metrics }) => pattern.test(metrics)).map(({ replica }) => replica);
  return {
    alive: saying(/./),
    leaders: saying(/^synclag_leader 1$/m),
    exporters: saying(/^synclag_up\{/m),
    unknown: saying(/^synclag_status\{.*status="unknown".*\} 1$/m),
  };
}

/** The replica that leads and exports, once another one is ready to take over. */
async function leaderWithFollower(): Promise<Synclag> {
  return await vi.waitFor(async () => {
    const { leaders = [], exporters = [], alive = [] } = sights.at(-1) ?? {};
    const [leader] = leaders;
    if (leader === undefined || !exporters.includes(leader) || alive.length < 2) {
      throw new Error(`${leaders.length} lead, ${exporters.length} export, ${alive.length} answer`);
    }
    await Promise.all(alive.map(({ url }) => getText(`${url}/-/ready`)));
    return leader;
  }, PATIENCE);
}

async function leaderOtherThan(former: Synclag): Promise<Synclag> {
  return await vi.waitFor(() => {
    const { leaders = [], exporters = [] } = sights.at(-1) ?? {};
    const next = leaders.find((leader) => leader !== former && exporters.includes(leader));
    if (next === undefined) {
      throw new Error(`No leader: ${[...replicas].map(({ stderr }) => stderr().slice(-3_000)).join("\n")}`);
    }
    return next;
  }, PATIENCE);
}

/** Looks at all replicas some more times while both reply and one leads, so that a fault has time to appear. */
async function seenTogether(): Promise<void> {
  const from = sights.length;
  await vi.waitFor(() => {
    const together = sights.slice(from).filter((one) => one.alive.length === 2 && one.leaders.length > 0);
    expect(together.length).toBeGreaterThan(15);
  }, PATIENCE);
}
