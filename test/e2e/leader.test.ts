import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type SimulatedFleet, startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { getText } from "./support/loopback.ts";
import { eachSecond, type PrometheusServer, startPrometheus } from "./support/prometheus-server.ts";
import { type RedisServer, startRedis } from "./support/redis-server.ts";
import { Replicas, type Sight } from "./support/replicas.ts";
import { startSynclag } from "./support/synclag.ts";
import { startTcpGate, type TcpGate } from "./support/tcp-gate.ts";
import { temporaryFolder, undoAll, undoLater } from "./support/undo.ts";

/** One for each change; `LEADER_KILLS=20` each night, and then all the troubles of a store. */
const KILLS = Number(process.env["LEADER_KILLS"] ?? "1");
const IS_LONG = KILLS > 1;
/** A lease lasts 12 s: who takes longer by far never comes. */
const TAKE_OVER_MS = 60_000;
/** Sooner than any lease ends. */
const HAND_OVER_MS = 11_000;
const PATIENCE = { timeout: 60_000, interval: 100 };

const ALERT_RULES = fileURLToPath(new URL("../../dashboards/rules/synclag-alerts.yml", import.meta.url));

const CHAINS = ["base", "ethereum"] as const;

let redis: RedisServer;
let fleet: SimulatedFleet;
let replicas: Replicas;
let watching: AsyncDisposable;
let prometheus: PrometheusServer;
/** Each replica's own way to the store. */
const gates = new Map<string, TcpGate>();

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
  const folder = await temporaryFolder("leader");
  const [config, targets] = [join(folder, "chains.yaml"), join(folder, "targets.json")];
  await writeFile(config, chainsYaml(fleet));
  await writeFile(targets, "[]");
  prometheus = await startPrometheus({
    folder,
    config: eachSecond({ target: { file: targets }, ruleFiles: [ALERT_RULES] }),
  });
  replicas = new Replicas(async () => {
    const gate = await startTcpGate(redis.port);
    undoLater(() => gate[Symbol.asyncDispose]());
    const store = `redis://127.0.0.1:${gate.port}`;
    const replica = await startSynclag(config, ["--store", store, "--cluster", "blue"]);
    gates.set(replica.url, gate);
    return replica;
  }, targets);
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

    for (let kill = 0; kill < KILLS; kill += 1) {
      const { name } = await replicas.leader(TAKE_OVER_MS);
      await waitForFollower(name);
      const dead = replicas.drop(name);
      dead.signal("SIGKILL");
      await Promise.all([replicas.leader(TAKE_OVER_MS, name), dead.exit.then(() => replicas.add())]);
    }

    expectContinuity(replicas.sights.slice(from));
  });

  it("hand over at once, not at the end of a lease, when the leader stops in order", async () => {
    const from = replicas.sights.length;
    const { name } = await replicas.leader(TAKE_OVER_MS);
    await waitForFollower(name);

    const leaving = replicas.drop(name);
    leaving.signal("SIGTERM");
    await leaving.exit;
    const [{ tookMs }] = await Promise.all([replicas.leader(TAKE_OVER_MS, name), replicas.add()]);

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
    await seenTogether();

    const since = replicas.sights.slice(from);
    expectContinuity(since);
    expect(since.at(-1)).toMatchObject({ leaders: [next.name], exporters: [next.name] });
  });

  it("stay as they are when the store restarts empty", async () => {
    const from = replicas.sights.length;
    const { name } = await replicas.leader(TAKE_OVER_MS);

    await redis.kill();
    await redis.start();
    await waitForFollower(name);
    await seenTogether();

    const since = replicas.sights.slice(from);
    expectContinuity(since);
    expect(new Set(since.flatMap(({ leaders }) => leaders))).toEqual(new Set([name]));
  });
});

describe("Prometheus, which scrapes both", () => {
  it("has no series of the fleet twice, but for a second where one hands over to the other", async () => {
    const copies = "max(count by (protocol, variant, tier, chain) (synclag_up))";
    const doubled = await prometheus.query(`sum_over_time((${copies} > bool 1)[30m:1s])`);
    const most = await prometheus.query(`max_over_time((${copies})[30m:1s])`);
    console.log(`seconds with a series twice: ${doubled[0]?.value}`);

    expect(most).toHaveLength(1);
    expect(doubled[0]?.value).toBeLessThanOrEqual(2);
  });

  it("raised no alert about the fleet", async () => {
    const fired = await prometheus.query(
      'count by (alertname) (last_over_time(ALERTS{alertstate="firing", about="fleet"}[30m]))',
    );

    expect(fired).toEqual([]);
  });
});

describe.runIf(IS_LONG)("two replicas on a store in trouble", () => {
  it.each<Trouble>([
    { trouble: "dies, and starts empty", begin: () => redis.kill(), end: () => redis.start() },
    {
      trouble: "is read-only",
      begin: () => ask(["REPLICAOF", "127.0.0.1", "1"]),
      end: () => ask(["REPLICAOF", "NO", "ONE"]),
    },
    { trouble: "hangs", begin: () => redisProcess("SIGSTOP"), end: () => redisProcess("SIGCONT") },
  ])("are watched by the last leader while it $trouble", async ({ begin, end }) => {
    const from = replicas.sights.length;
    const { name } = await replicas.leader(TAKE_OVER_MS);
    const indexer = fleet.endpoint("airdrops/subgraph/production/base");

    await begin();
    await vi.waitFor(() => expect(replicas.sights.at(-1)?.leaders).toEqual([]), PATIENCE);
    const polls = indexer.requestCount;
    await vi.waitFor(() => expect(indexer.requestCount).toBeGreaterThan(polls + 1), PATIENCE);
    const metrics = await getText(`${name}/metrics`);
    await end();
    await replicas.leader(TAKE_OVER_MS);

    expect(metrics).toContain("\nsynclag_store_up 0\n");
    const since = replicas.sights.slice(from);
    expectContinuity(since);
    expect(
      since.filter(({ exporters }) => exporters.join() !== name),
      replicas.logs(),
    ).toEqual([]);
  });

  it("have the leader again that had the lease, when the store evicts lease and state", async () => {
    const from = replicas.sights.length;
    const { name } = await replicas.leader(TAKE_OVER_MS);

    await ask(["DEL", "synclag:{blue}:lease", "synclag:{blue}:state"]);
    await seenTogether();
    const [state, lease] = [
      await ask(["HLEN", "synclag:{blue}:state"]),
      await ask(["HGET", "synclag:{blue}:lease", "token"]),
    ];

    expectContinuity(replicas.sights.slice(from));
    expect(new Set(replicas.sights.slice(from).flatMap(({ leaders }) => leaders))).toEqual(new Set([name]));
    expect(Number(state)).toBeGreaterThan(5);
    expect(Number(lease)).toBeGreaterThan(0);
  });

  it("have another leader when the leader alone loses the store, and one when it is back", async () => {
    const from = replicas.sights.length;
    const { name } = await replicas.leader(TAKE_OVER_MS);
    await waitForFollower(name);

    gates.get(name)?.cut();
    const other = (): string => replicas.sights.at(-1)?.leaders[0] ?? name;
    await vi.waitFor(() => expect(other()).not.toBe(name), PATIENCE);
    const [next, both] = [other(), replicas.sights.at(-1)];
    gates.get(name)?.join();
    await seenTogether();

    expect(both?.exporters).toHaveLength(2);
    expect(replicas.sights.slice(from).filter(({ leaders }) => leaders.length > 1)).toEqual([]);
    expect(replicas.sights.at(-1)).toMatchObject({ leaders: [next], exporters: [next] });
  });
});

interface Trouble {
  readonly trouble: string;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

async function redisProcess(signal: NodeJS.Signals): Promise<void> {
  process.kill(redis.pid(), signal);
}

/** One command to the store itself. */
async function ask(command: readonly string[]): Promise<unknown> {
  const client = await createClient({ url: redis.url }).connect();
  try {
    return await client.sendCommand([...command]);
  } finally {
    client.destroy();
  }
}

/** Until all have been looked at some times more, while each of them answered and one led: what may go wrong had its chance. */
async function seenTogether(): Promise<void> {
  const from = replicas.sights.length;
  const isTogether = ({ alive, leaders }: Sight): boolean => alive.length === 2 && leaders.length > 0;
  await vi.waitFor(() => {
    expect(replicas.sights.slice(from).filter(isTogether).length).toBeGreaterThan(15);
  }, PATIENCE);
}

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
