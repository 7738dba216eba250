import { AsyncLocalStorage } from "node:async_hooks";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Budgets, type Grant } from "../../src/budgets/budgets.ts";
import { BudgetGate } from "../../src/budgets/gate.ts";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import type { Report } from "../../src/core/model/report.ts";
import { Daemon } from "../../src/daemon/daemon.ts";
import { startReportLoop } from "../../src/daemon/report-loop.ts";
import { EventStore } from "../../src/daemon/state/event-store.ts";
import { HistoryStore } from "../../src/daemon/state/history-store.ts";
import { openStateStore } from "../../src/daemon/state/store.ts";
import type { HttpClient } from "../../src/io/http-client/client.ts";
import { spentInFile } from "../../src/io/state/file.ts";
import type { RedisStore } from "../../src/io/store/redis-store.ts";
import { NOT_CONNECTED, type StoreFailure } from "../../src/io/store/store-script.ts";
import { expositionText } from "../../src/metrics/exposition.ts";
import { METRIC_FAMILIES } from "../../src/metrics/families.ts";
import { checkInStore } from "../../src/replica/check-store.ts";
import { Replica } from "../../src/replica/replica.ts";
import { createScrape } from "../../src/replica/scrape.ts";
import { type LogLine, recordLog } from "../support/log-recorder.ts";
import { configOf, testWorld } from "../support/running-app.ts";
import { Scenario } from "../support/scenario.ts";
import { StoreModel } from "../support/store-model.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const FLEET = `
version: 1
poll: { retries: 0 }
budgets: { hourly: { limit: 100, per: hour, scope: endpoint } }
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  mode: { id: 34443, name: Mode, block_time: 2s }
protocols:
  airdrops:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", schedule: "0 * * * * *", budget: hourly, chains: [base, mode] }
    - { variant: multichain, dialect: squid, url: "https://{chain}.squid.example/", schedule: "*/5 * * * * *", chains: [base, mode] }
`;
const CONFIG = configOf(FLEET);
const SQUID_URL = "https://base.squid.example/";
const UNUSABLE: StoreFailure = { kind: "failed", reason: "unusable", detail: "unexpected reply" };
const POLLS = `synclag_polls_total{protocol="airdrops",variant="multichain",tier="production",endpoint="base"}`;

let cluster: Cluster;

beforeEach(async () => {
  vi.useFakeTimers({
    now: Date.parse("2026-11-20T03:00:02Z"),
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"],
  });
  holdTimersBack();
  cluster = new Cluster();
  await cluster.start("a");
  await cluster.start("b");
  await cluster.run("30s");
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("two replicas with a store", () => {
  it("poll once: the first leads, the other says the same a moment later and serves no series of the fleet", async () => {
    const [leader, standby] = [await cluster.scrape("a"), await cluster.scrape("b")];

    expect(cluster.pollers()).toEqual(["a"]);
    expect(leader).toMatch(/^synclag_leader 1$/m);
    expect(leader).toMatch(/^synclag_status\{/m);
    expect(standby).toMatch(/^synclag_leader 0$/m);
    expect(standby).not.toMatch(/^synclag_(status|polls_total|block_number|poll_duration_seconds)/m);
    expect(cluster.replica("b").report().replica).toMatchObject({ role: "standby", leader: "a" });
    expect(cluster.replica("b").report().replica?.age_seconds).toBeLessThan(3);
    expect(statusesOf(cluster.replica("b"))).toEqual(statusesOf(cluster.replica("a")));
    expect(cluster.replica("b").lines.map(({ msg }) => msg)).not.toContain("Status changed");
    expect(cluster.longestPauseMs()).toBeLessThan(6_000);
  });

  it("hand over at once when the leader stops in order: nothing is polled twice, and all state continues", async () => {
    await cluster.run("2m");
    const before = pollsIn(await cluster.scrape("a"));
    const stoppedMs = Date.now();
    await cluster.stop("a");
    await cluster.run("10s");
    const after = await cluster.scrape("b");

    expect(cluster.pollers()).toEqual(["a", "b"]);
    expect(cluster.longestPauseMs()).toBeLessThan(7_000);
    expect(pollsIn(after)).toBeGreaterThanOrEqual(before);
    expect(statusesOf(cluster.replica("b"))).toEqual(Array(4).fill("ok"));
    // A standby has recorded the plots itself.
    expect(cluster.replica("b").timesOf("base")[0]).toBeLessThan(stoppedMs - 60_000);
    expect(
      cluster.replica("b").lines.filter(({ msg }) => msg === "Leading: polling from now on"),
    ).toHaveLength(1);
  });

  it("go on within 15 s when the leader is killed, with its counters, statuses and incidents", async () => {
    cluster.play.setHost("graph.example", "down");
    await cluster.run("150s");
    const counted = pollsIn(await cluster.scrape("a"));
    const { incidents } = cluster.replica("a").report();

    cluster.replica("a").process.kill();
    await cluster.run("30s");
    const after = await cluster.scrape("b");

    expect(cluster.pollers()).toEqual(["a", "b"]);
    expect(cluster.longestPauseMs()).toBeLessThan(20_000);
    expect(pollsIn(after)).toBeGreaterThanOrEqual(counted);
    expect(pollsIn(after)).toBeLessThan(counted + 10);
    expect(incidents).toHaveLength(1);
    expect(cluster.replica("b").report().incidents).toMatchObject([
      { scope: "endpoint", since: incidents[0]?.since },
    ]);
    expect(statusesOf(cluster.replica("b"))).toEqual(["unreachable", "ok", "unreachable", "ok"]);
    // What the leader has logged is not logged again.
    expect(cluster.replica("b").lines.map(({ msg }) => msg)).not.toContain("Incident began");
  });

  it("tell what happened, whichever of them led then", async () => {
    cluster.play.setHost("graph.example", "down");
    await cluster.run("150s");
    const [onLeader, onStandby] = [cluster.replica("a").events(), cluster.replica("b").events()];
    cluster.replica("a").process.kill();
    await cluster.run("1m");
    cluster.play.setHost("graph.example", "up");
    await cluster.run("2m");
    await cluster.start("c");
    await cluster.run("5s");
    const after = cluster.replica("b").events();

    expect(onLeader).toContain("status airdrops/subgraph/production/base ok → unreachable");
    expect(onStandby).toEqual(onLeader);
    expect(after.slice(0, onLeader.length)).toEqual(onLeader);
    expect(after.slice(onLeader.length)).toContain("process b null → started");
    expect(after.slice(onLeader.length)).toContain(
      "status airdrops/subgraph/production/base unreachable → ok",
    );
    expect(after).toHaveLength(new Set(after).size);
    expect(cluster.replica("c").events()).toEqual(after);
  });

  it("never poll both when the leader is suspended and resumed", async () => {
    cluster.replica("a").process.suspend();
    await cluster.run("1m");
    cluster.replica("a").process.resume();
    await cluster.run("1m");

    expect(cluster.pollers()).toEqual(["a", "b"]);
    expect(cluster.replica("a").report().replica).toMatchObject({ role: "standby", leader: "b" });
    const [former, leader] = [await cluster.scrape("a"), await cluster.scrape("b")];
    expect(former).not.toMatch(/^synclag_status/m);
    expect(leader).toMatch(/^synclag_status/m);
  });

  it.each([
    { failure: NOT_CONNECTED, what: "is away" },
    { failure: UNUSABLE, what: "gives replies that cannot be used" },
  ])("go on with the last leader alone while the store $what, and say so", async ({ failure }) => {
    cluster.storeFailure = failure;
    await cluster.run("45s");
    const [a, b] = [await cluster.scrape("a"), await cluster.scrape("b")];
    const pollers = cluster.pollers();
    cluster.storeFailure = null;
    await cluster.run("30s");

    expect(pollers).toEqual(["a"]);
    expect(cluster.pollers()).toEqual(["a"]);
    expect(cluster.longestPauseMs()).toBeLessThan(20_000);
    expect([a, b].map((text) => /^synclag_store_up (\d)$/m.exec(text)?.[1])).toEqual(["0", "0"]);
    expect(a).toMatch(/^synclag_status/m);
    expect(b).not.toMatch(/^synclag_status/m);
    expect(cluster.replica("a").lines).toContainEqual(
      expect.objectContaining({
        level: 40,
        msg: expect.stringContaining("Store unreachable: polling continues"),
      }),
    );
    expect(statusesOf(cluster.replica("a"))).toEqual(Array(4).fill("ok"));
    expect(cluster.replica("a").report().replica).toMatchObject({ role: "leader", age_seconds: 0 });
  });

  it("keep the leader and its state when the store loses its memory", async () => {
    const before = cluster
      .replica("a")
      .report()
      .budgets.map(({ used }) => used);

    await cluster.store.empty();
    await cluster.run("1m");
    cluster.replica("a").process.kill();
    await cluster.run("1m");

    expect(cluster.pollers()).toEqual(["a", "b"]);
    expect(cluster.longestPauseMs()).toBeLessThan(20_000);
    const after = cluster
      .replica("b")
      .report()
      .budgets.map(({ used }) => used);
    expect(after.every((used, index) => used >= (before[index] ?? 0))).toBe(true);
    expect(statusesOf(cluster.replica("b"))).toEqual(Array(4).fill("ok"));
  });

  it("get a new leader if the leader alone loses the store; the former one stands by once it is back", async () => {
    cluster.replica("a").process.isCutOff = true;
    await cluster.run("1m");
    cluster.replica("a").process.isCutOff = false;
    await cluster.run("1m");

    expect(cluster.replica("b").report().replica).toMatchObject({ role: "leader" });
    expect(cluster.replica("a").report().replica).toMatchObject({ role: "standby", leader: "b" });
  });

  it("go on from what a state file of before says was spent, however many have it", async () => {
    await using folder = await temporaryFolder();
    const formerStateFile = join(folder.path, "synclag.state.json");
    const budgets = new Budgets(CONFIG.fleet);
    const [spent] = CONFIG.fleet.indexers[0]?.endpoints ?? [];
    for (let request = 0; request < 40 && spent !== undefined; request += 1) {
      budgets.acquire(spent, "scheduled", Date.now());
    }
    await writeFile(formerStateFile, JSON.stringify({ budgets: budgets.save(Date.now()) }));
    const usedBefore = cluster.replica("a").report().budgets[0]?.used ?? 0;

    await cluster.stop("b");
    await cluster.start("c", { formerStateFile });
    await cluster.stop("a");
    await cluster.run("10s");
    await cluster.start("d", { formerStateFile });
    await cluster.stop("c");
    await cluster.run("10s");

    const [budget] = cluster.replica("d").report().budgets;
    expect(cluster.pollers()).toEqual(["a", "c", "d"]);
    expect(budget?.used).toBeGreaterThanOrEqual(40 + usedBefore);
    expect(budget?.used).toBeLessThan(40 + usedBefore + 10);
  });

  it("give check the leader's report without a poll, or the lease for one round if no replica leads", async () => {
    const asked = await cluster.check();
    await cluster.stop("b");
    await cluster.stop("a");
    const alone = await cluster.check();
    await cluster.start("c");

    expect(asked).toMatchObject({ polled: false, result: { replica: { leader: "a" } } });
    expect(asked.statuses).toEqual(Array(4).fill("ok"));
    expect(alone).toMatchObject({ polled: true, result: { targets: expect.any(Array) } });
    expect(cluster.replica("c").report().budgets[0]?.used).toBe(alone.used);
    expect(cluster.replica("c").report().replica).toMatchObject({ role: "leader" });
  });

  it("let a check poll only endpoints without a budget while the store is unreachable", async () => {
    cluster.storeFailure = NOT_CONNECTED;

    const { polled, grant } = await cluster.check();

    expect({ polled, grant }).toEqual({
      polled: true,
      grant: {
        kind: "refused",
        reason: "budget",
        detail: "not sent: cannot record budget usage: the store is unreachable",
      },
    });
  });

  it.each([30_000, -30_000])("keep all statuses where their clocks differ by %i ms", async (aheadMs) => {
    await cluster.stop("b");
    await cluster.start("c", { aheadMs });
    await cluster.run("1m");
    const following = statusesOf(cluster.replica("c"));
    await cluster.stop("a");
    await cluster.run("2m");

    expect(following).toEqual(Array(4).fill("ok"));
    expect(statusesOf(cluster.replica("c"))).toEqual(Array(4).fill("ok"));
    expect(cluster.replica("c").lines.map(({ msg }) => msg)).not.toContain("Status changed");
  });
});

function statusesOf(replica: { readonly report: () => Report }): readonly string[] {
  return replica.report().targets.map(({ status }) => status);
}

function pollsIn(metrics: string): number {
  const line = metrics.split("\n").find((text) => text.startsWith(POLLS));
  return Number(line?.slice(POLLS.length));
}

async function* render(source: MetricsSource): AsyncIterable<string> {
  yield expositionText(METRIC_FAMILIES, source);
}

/** A process, whose timers run only while it does. */
class SimulatedProcess {
  isCutOff = false;
  #state: "runs" | "is suspended" | "is dead" = "runs";
  readonly #late = new Set<() => void>();

  /** The callback of a timer that is due. */
  run(callback: () => void): void {
    if (this.#state === "runs") {
      callback();
    } else {
      this.#late.add(callback);
    }
  }

  suspend(): void {
    this.#state = "is suspended";
  }

  resume(): void {
    this.#state = "runs";
    for (const callback of this.#late) {
      this.#late.delete(callback);
      callback();
    }
  }

  kill(): void {
    this.#state = "is dead";
  }
}

/** Which process code belongs to. */
const processes = new AsyncLocalStorage<SimulatedProcess>();

/** Has each timer started from now on run in its process. */
function holdTimersBack(): void {
  const { setTimeout: startTimeout, setInterval: startInterval } = globalThis;
  const held = (callback: () => void): (() => void) => {
    const process = processes.getStore();
    if (process === undefined) {
      return callback;
    }
    const call = () => processes.run(process, callback);
    return () => process.run(call);
  };
  vi.stubGlobal("setTimeout", (callback: () => void, ms: number) => startTimeout(held(callback), ms));
  vi.stubGlobal("setInterval", (callback: () => void, ms: number) => startInterval(held(callback), ms));
}

interface ReplicaSettings {
  /** How far its clock is ahead of the store's. */
  readonly aheadMs?: number;
  readonly formerStateFile?: string | null;
}

interface Started {
  readonly process: SimulatedProcess;
  readonly lines: readonly LogLine[];
  readonly report: () => Report;
  readonly scrape: () => Promise<Buffer>;
  /** The instants of the plots of a chain. */
  readonly timesOf: (chain: string) => readonly number[];
  readonly events: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** Daemons as processes of their own on one fleet and one store, in virtual time. */
class Cluster {
  readonly play = new Scenario(FLEET, {});
  readonly store = new StoreModel(() => Date.now());
  /** Every request, with the name of the replica that sent it. */
  readonly sent: { readonly by: string; readonly url: string; readonly atMs: number }[] = [];
  /** What every call returns; null: the store works. */
  storeFailure: StoreFailure | null = null;
  readonly #replicas = new Map<string, Started>();

  async start(name: string, options: ReplicaSettings = {}): Promise<void> {
    const process = new SimulatedProcess();
    const starting = processes.run(process, () => this.#start(name, process, options));
    this.#replicas.set(name, await this.#runWhile(starting, "10s"));
  }

  run(duration: string): Promise<void> {
    return this.play.run(duration);
  }

  /** Runs on for so long, which is enough for something to be done but for its compression, for which time stands still. */
  async #runWhile<T>(work: Promise<T>, duration: string): Promise<T> {
    const [result] = await Promise.all([work, this.run(duration)]);
    return result;
  }

  replica(name: string): Started {
    const found = this.#replicas.get(name);
    if (found === undefined) {
      throw new RangeError(`Cannot find replica ${name}`);
    }
    return found;
  }

  /** As SIGTERM does. */
  async stop(name: string): Promise<void> {
    const { process, stop } = this.replica(name);
    await this.#runWhile(processes.run(process, stop), "2s");
  }

  /** As `synclag check --store`; its round is one request of the first endpoint. */
  async check() {
    const { logger } = recordLog();
    const world = { ...testWorld(CONFIG), logger };
    const grants: Grant[] = [];
    let used = 0;
    const [first] = CONFIG.fleet.indexers[0]?.endpoints ?? [];
    const checking = checkInStore(CONFIG, {
      store: this.#storeFor(new SimulatedProcess()),
      former: null,
      world,
      onLeader: () => undefined,
      poll: async (shared) => {
        const gate = new BudgetGate(shared, () => 0.5);
        grants.push(...(first === undefined ? [] : [await gate.acquire(first, "opportunistic")]));
        used = shared.budgets.report(shared.nowMs())[0]?.used ?? 0;
        return this.replica("a").report();
      },
    });
    const result = await this.#runWhile(checking, "5s");
    const statuses = typeof result === "string" ? [] : statusesOf({ report: () => result });
    return { result, statuses, polled: grants.length > 0, grant: grants[0], used };
  }

  /** The text of `/metrics`. */
  async scrape(name: string): Promise<string> {
    const { process, scrape } = this.replica(name);
    return gunzipSync(await this.#runWhile(processes.run(process, scrape), "1s")).toString();
  }

  /** The replicas that polled, in order. */
  pollers(): readonly string[] {
    const names = this.sent.map(({ by }) => by);
    return names.filter((name, index) => name !== names[index - 1]);
  }

  /** The longest time for which an endpoint of every five seconds was not polled. */
  longestPauseMs(): number {
    const times = this.sent.filter(({ url }) => url === SQUID_URL).map(({ atMs }) => atMs);
    return Math.max(...times.map((atMs, index) => atMs - (times[index - 1] ?? atMs)));
  }

  async #start(
    name: string,
    process: SimulatedProcess,
    { aheadMs = 0, formerStateFile = null }: ReplicaSettings,
  ): Promise<Started> {
    const { logger, lines } = recordLog();
    const world = { ...testWorld(CONFIG), logger, nowMs: () => Date.now() + aheadMs };
    const store = this.#storeFor(process);
    const former = formerStateFile === null ? null : await spentInFile(formerStateFile);
    const replica = new Replica(CONFIG.fleet, { store, former, world });
    const state = await openStateStore(null, CONFIG.fleet, {
      world,
      state: () => daemon.save(),
      onLockLost: () => undefined,
    });
    const daemon: Daemon = new Daemon(CONFIG, {
      world,
      store: state,
      shared: replica.shared,
      mayPoll: () => replica.mayPoll(),
      openClient: (settings) => this.#clientOf(name, this.play.openClient(settings)),
    });
    const history = await HistoryStore.open(world);
    const events = await EventStore.open(world);
    replica.start(name, { daemon, events });
    const reports = startReportLoop(daemon, history, events, { note: () => undefined }, world);
    const scrape = createScrape(daemon, {
      prometheus: { render, contentType: "" },
      reloader: { state: { successful: true, lastSuccessMs: 0 } },
      httpErrors: { count: 0 },
      notifier: { counts: { sent: 0, failed: 0, dropped: 0 } },
      events,
      replica,
    });
    return {
      process,
      lines,
      report: () => ({ ...daemon.report(), replica: replica.state() }),
      scrape: async () => (await scrape()).gzipped,
      timesOf: (chain) => history.past(chain, [], { fromMs: 0, toMs: Date.now(), points: 1_000 }).timesMs,
      events: () =>
        events.log.all().map(({ kind, subject, from: former, to }) => `${kind} ${subject} ${former} → ${to}`),
      async stop() {
        daemon.drain();
        await reports[Symbol.asyncDispose]();
        await replica[Symbol.asyncDispose]();
        await daemon[Symbol.asyncDispose]();
      },
    };
  }

  #clientOf(by: string, client: HttpClient): HttpClient {
    return {
      ...client,
      post: (request) => {
        this.sent.push({ by, url: request.url, atMs: performance.now() });
        return client.post(request);
      },
    };
  }

  /** The store over a network: each way takes two milliseconds. */
  #storeFor(process: SimulatedProcess): Pick<RedisStore, "run" | "isUp" | "name"> {
    const failure = (): StoreFailure | null => (process.isCutOff ? NOT_CONNECTED : this.storeFailure);
    const takeTime = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));
    return {
      name: "store",
      isUp: () => failure() === null,
      run: async (...call) => {
        await takeTime();
        const reply = failure() ?? (await this.store.run(...call));
        await takeTime();
        return reply;
      },
    };
  }
}
