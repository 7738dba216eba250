import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SimulatedFleet, startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { getText } from "./support/loopback.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { Replicas, type Sight } from "./support/replicas.ts";
import { startSynclag } from "./support/synclag.ts";
import { temporaryFolder, undoAll, undoLater } from "./support/undo.ts";

/** Three in CI; `LEADER_KILLS=20` is what docs/HIGH-AVAILABILITY.md tells of. */
const KILLS = Number(process.env["LEADER_KILLS"] ?? "3");
/** From the death of a leader to the first series of the next one. */
const TAKE_OVER_MS = 20_000;
const HAND_OVER_MS = 2_000;
/** Longer than a lease. */
const OUTAGE_MS = 14_000;

const CHAINS = ["base", "ethereum"] as const;

let redis: RedisServer;
let fleet: SimulatedFleet;
let replicas: Replicas;
let watching: AsyncDisposable;

beforeAll(async () => {
  redis = await startRedis();
  fleet = await startFleet({
    nowMs: Date.now,
    endpoints: CHAINS.map((chain) => ({
      kind: "studio" as const,
      key: `airdrops/subgraph/production/${chain}`,
      chains: [chain],
      path: `/query/1/${chain}/version/latest`,
    })),
  });
  undoLater(() => fleet[Symbol.asyncDispose]());
  const config = join(await temporaryFolder("leader"), "chains.yaml");
  await writeFile(config, chainsYaml(fleet));
  replicas = new Replicas(() => startSynclag(config, ["--store", redis.url, "--cluster", "blue"]));
  await Promise.all([replicas.add(), replicas.add()]);
  watching = replicas.watch();
  undoLater(() => watching[Symbol.asyncDispose]());
  // A store without memory gives no lease before one could have expired.
  await replicas.leader(TAKE_OVER_MS);
  await waitForKnown();
});

afterAll(undoAll);

describe("two replicas on a store", () => {
  it(`have a leader again after each of ${KILLS} deaths, which knows all that the last one knew`, async () => {
    const from = replicas.sights.length;
    const took: number[] = [];

    for (let kill = 0; kill < KILLS; kill += 1) {
      const { name } = await replicas.leader(TAKE_OVER_MS);
      await waitForFollower(name);
      const dead = replicas.drop(name);
      dead.signal("SIGKILL");
      const [{ tookMs }] = await Promise.all([
        replicas.leader(TAKE_OVER_MS + 5_000, name),
        dead.exit.then(() => replicas.add()),
      ]);
      took.push(tookMs);
    }
    console.log(`took over after ${took.map((ms) => (ms / 1000).toFixed(1)).join(", ")} s`);

    expect(Math.max(...took)).toBeLessThan(TAKE_OVER_MS);
    expectContinuity(replicas.sights.slice(from));
  });

  it("hand over within two seconds when the leader stops in order", async () => {
    const from = replicas.sights.length;
    const { name } = await replicas.leader(TAKE_OVER_MS);
    await waitForFollower(name);

    const leaving = replicas.drop(name);
    leaving.signal("SIGTERM");
    await leaving.exit;
    const [{ tookMs }] = await Promise.all([replicas.leader(TAKE_OVER_MS, name), replicas.add()]);
    console.log(`handed over ${(tookMs / 1000).toFixed(1)} s after the end of the process`);

    expect(tookMs).toBeLessThan(HAND_OVER_MS);
    expectContinuity(replicas.sights.slice(from));
  });

  it("have one leader when the former one wakes from a pause, and poll once", async () => {
    const from = replicas.sights.length;
    const { name } = await replicas.leader(TAKE_OVER_MS);
    await waitForFollower(name);

    replicas.of(name).signal("SIGSTOP");
    const next = await replicas.leader(TAKE_OVER_MS, name);
    replicas.of(name).signal("SIGCONT");
    await sleep(3_000);

    const since = replicas.sights.slice(from);
    expectContinuity(since);
    expect(since.at(-1)).toMatchObject({ leaders: [next.name], exporters: [next.name] });
  });

  it("stay as they are when the store restarts empty", async () => {
    const from = replicas.sights.length;
    const { name } = await replicas.leader(TAKE_OVER_MS);

    await redis.kill();
    await redis.start();
    await sleep(5_000);

    const since = replicas.sights.slice(from);
    expectContinuity(since);
    expect(new Set(since.flatMap(({ leaders }) => leaders))).toEqual(new Set([name]));
    await waitForFollower(name);
  });

  it("are watched by the last leader while the store is away, and by it when the store is back", async () => {
    const from = replicas.sights.length;
    const { name } = await replicas.leader(TAKE_OVER_MS);

    await redis.kill();
    await sleep(OUTAGE_MS);
    const polls = fleet.endpoint("airdrops/subgraph/production/base").requestCount;
    await sleep(3_000);
    const later = fleet.endpoint("airdrops/subgraph/production/base").requestCount;
    const away = replicas.sights.at(-1);
    const metrics = await getText(`${name}/metrics`);
    await redis.start();
    await replicas.leader(TAKE_OVER_MS);

    expect(away).toMatchObject({ leaders: [], exporters: [name] });
    expect(metrics).toContain("\nsynclag_store_up 0\n");
    expect(later).toBeGreaterThan(polls);
    expectContinuity(replicas.sights.slice(from));
    const others = replicas.sights.slice(from).filter(({ exporters }) => exporters.join() !== name);
    expect(others, replicas.logs()).toEqual([]);
  });
});

/** Never two leaders, never a series twice, nothing unknown that was known, no counter that falls. */
function expectContinuity(sights: readonly Sight[]): void {
  expect(sights.filter(({ leaders }) => leaders.length > 1)).toEqual([]);
  expect(sights.filter(({ exporters }) => exporters.length > 1)).toEqual([]);
  expect(sights.filter(({ unknown }) => unknown > 0)).toEqual([]);
  expect(replicas.fallen).toEqual([]);
}

/** Until every target has a status, and two more rounds. */
async function waitForKnown(): Promise<void> {
  for (let known = 0; known < 10; ) {
    await sleep(200);
    known = (replicas.sights.at(-1)?.unknown ?? 1) === 0 ? known + 1 : 0;
  }
}

/** Until the others are ready to serve what the leader knows. */
async function waitForFollower(leader: string): Promise<void> {
  const others = replicas.sights.at(-1)?.alive.filter((name) => name !== leader) ?? [];
  for (const name of others) {
    for (let isReady = false; !isReady; ) {
      await sleep(100);
      isReady = await getText(`${name}/-/ready`).then(
        () => true,
        () => false,
      );
    }
  }
}

function chainsYaml(simulated: SimulatedFleet): string {
  const chains = CHAINS.map(
    (chain) =>
      `        ${chain}: { url: "${simulated.endpoint(`airdrops/subgraph/production/${chain}`).url}" }`,
  );
  return `
version: 1
chains:
  base:     { id: 8453, block_time: 2s }
  ethereum: { id: 1, block_time: 12s }
protocols:
  airdrops:
    - variant: subgraph
      dialect: graph
      schedule: "*/2 * * * * *"
      url: "http://127.0.0.1:9/"
      chains:
${chains.join("\n")}
`;
}
