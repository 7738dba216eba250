import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, it, vi } from "vitest";
import { Budgets, type Grant } from "../../src/budgets/budgets.ts";
import { BudgetGate } from "../../src/budgets/gate.ts";
import type { SavedBudgets } from "../../src/budgets/saved-budgets.ts";
import type { MetricsSource } from "../../src/core/model/metrics-source.ts";
import { formatCount } from "../../src/core/model/text.ts";
import { Daemon } from "../../src/daemon/daemon.ts";
import { Notifier } from "../../src/daemon/notify.ts";
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
import { recordLog } from "../support/log-recorder.ts";
import { configOf, testWorld } from "../support/running-app.ts";
import { listed, matching } from "../support/sayings.ts";
import { Scenario } from "../support/scenario.ts";
import { StoreModel } from "../support/store-model.ts";
import { expectTold } from "../support/tell.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { NOTIFY, Webhook } from "../support/webhook.ts";

const FLEET = readFileSync("test/fixtures/hand-over/fleet.yaml", "utf8");
const CONFIG = configOf(FLEET);
const [FIRST] = CONFIG.fleet.indexers[0]?.endpoints ?? [];
const SQUID_URL = "https://base.squid.example/";
const FAILURES: Readonly<Record<string, StoreFailure>> = {
  away: NOT_CONNECTED,
  unusable: { kind: "failed", reason: "unusable", detail: "unexpected reply" },
};

describe("what replicas with a store do is in test/fixtures/hand-over", () => {
  it.each(["leaders", "store", "checks", "clocks"])("%s.txt", async (name) => {
    await expectTold(`test/fixtures/hand-over/${name}.txt`, () => {
      vi.useFakeTimers({
        now: Date.parse("2026-11-20T03:00:02Z"),
        toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"],
      });
      holdTimersBack();
      return new Cluster();
    });
  });
});

/** A process, whose timers run only while it does. */
class SimulatedProcess {
  isCutOff = false;
  #runs = true;
  readonly #late = new Set<() => void>();

  /** The callback of a timer that is due. */
  run(callback: () => void): void {
    if (this.#runs) {
      callback();
    } else {
      this.#late.add(callback);
    }
  }

  setNetwork(state: string): void {
    this.isCutOff = state === "down";
  }

  /** Stops its timers until `resume()`. */
  suspend(): void {
    this.#runs = false;
  }

  resume(): void {
    this.#runs = true;
    for (const callback of this.#late) {
      this.#late.delete(callback);
      callback();
    }
  }
}

/** The simulated process that runs the present code. */
const processes = new AsyncLocalStorage<SimulatedProcess>();

/** Lets each timer that is started from now on run in its process. */
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
  vi.stubGlobal("setTimeout", (callback: (...args: unknown[]) => void, ms: number, ...args: unknown[]) =>
    startTimeout(
      held(() => callback(...args)),
      ms,
    ),
  );
  vi.stubGlobal("setInterval", (callback: () => void, ms: number) => startInterval(held(callback), ms));
}

type Started = Awaited<ReturnType<Cluster["startIn"]>>;

/** Simulated processes with one fleet and one store, in virtual time. `a` and `b` have run for half a minute when a story begins. */
class Cluster {
  readonly #play = new Scenario(FLEET, {});
  readonly #store = new StoreModel(() => Date.now());
  /** Every request, with the name of the replica that sent it. */
  readonly #sent: { readonly by: string; readonly url: string; readonly atMs: number }[] = [];
  /** What every call returns; null: the store works. */
  #storeFailure: StoreFailure | null = null;
  readonly #replicas = new Map<string, Started>();
  readonly #webhook = Webhook.start();

  readonly #verbs: Readonly<Record<string, (name: string, text: string) => unknown>> = {
    run: (duration) => this.#play.run(duration),
    host: (host, state) => this.#play.setHost(host, state === "down" ? "down" : "up"),
    store: (state) => {
      this.#storeFailure = FAILURES[state] ?? null;
      return state === "empty" ? this.#store.empty() : undefined;
    },
    /** `start NAME [30000|spent]`: its clock is 30,000 ms ahead of that of the store; `spent`: with a state file of an earlier process. */
    start: async (name, how) => {
      const process = new SimulatedProcess();
      const starting = processes.run(process, () => this.startIn(process, name, how));
      this.#replicas.set(name, await this.#runWhile(starting, "10s"));
    },
    /** Stops the replica as SIGTERM does. */
    stop: (name) =>
      this.#runWhile(
        this.#in(name, ({ stop }) => stop()),
        "2s",
      ),
    kill: (name) => this.#replica(name).process.suspend(),
    suspend: (name) => this.#replica(name).process.suspend(),
    resume: (name) => this.#replica(name).process.resume(),
    /** `network NAME down|up`: its way to the store. */
    network: (name, state) => this.#replica(name).process.setNetwork(state),
    check: () => this.#check(),
    /** The replicas that polled, in order. */
    pollers: () => {
      const names = this.#sent.map(({ by }) => by);
      return names.filter((name, index) => name !== names[index - 1]).join(", ");
    },
    /** The longest pause between two polls of the endpoint that is polled every five seconds. */
    pause: () => {
      const times = this.#sent.filter(({ url }) => url === SQUID_URL).map(({ atMs }) => atMs);
      const longestMs = Math.max(...times.map((atMs, index) => atMs - (times[index - 1] ?? atMs)));
      return `${Math.round(longestMs / 1_000)} s`;
    },
    metrics: async (name, pattern) => {
      const gzipped = await this.#runWhile(
        this.#in(name, ({ scrape }) => scrape()),
        "1s",
      );
      return matching(gunzipSync(gzipped.gzipped).toString(), pattern);
    },
    role: (name) => {
      const { age_seconds: age, leader, role } = this.#replica(name).report().replica;
      return `${role}; ${leader} leads; its report is ${(age ?? 9) < 3 ? "new" : `${age} s old`}`;
    },
    json: (name, path) => {
      const steps = path.split(".");
      return JSON.stringify(
        steps.reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), this.#replica(name).report()),
      );
    },
    statuses: (name) =>
      this.#replica(name)
        .report()
        .targets.map(({ chain, status, variant }) => `${variant}/${chain} ${status}`)
        .join(", "),
    /** When the plots of the replica begin, which may be before it led. */
    plotted: (name) => `from ${new Date(this.#replica(name).plotted()[0] ?? 0).toISOString()}`,
    events: (name) => this.#replica(name).events(),
    /** `posted COUNT`: waits for this number of messages to the webhook; sorted, because messages of two replicas may overtake each other. */
    posted: async (count) => {
      const received = await (await this.#webhook).untilReceived(Number(count));
      return received.map(({ body }) => [body?.["event"], body?.["id"]].join(" ")).toSorted();
    },
    log: (name, pattern) =>
      matching(
        this.#replica(name)
          .lines.map(({ msg }) => String(msg))
          .join("\n"),
        pattern,
      ),
  };

  async do(line: string): Promise<readonly string[]> {
    for (const before of this.#replicas.size === 0 && line !== "start a"
      ? ["start a", "start b", "run 30s"]
      : []) {
      await this.do(before);
    }
    const [verb = "", name = "", ...words] = line.split(" ");
    const act = this.#verbs[verb];
    if (act === undefined) {
      throw new RangeError(`Cannot do ${verb}: test/STORIES.md has the verbs`);
    }
    const told = await act(name, words.join(" "));
    return Array.isArray(told) || typeof told === "string" ? listed(told) : [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#webhook)[Symbol.asyncDispose]();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  }

  /** Runs for this time, in which the work is done; compression takes real time, in which virtual time does not advance. */
  async #runWhile<T>(work: Promise<T>, duration: string): Promise<T> {
    const [result] = await Promise.all([work, this.#play.run(duration)]);
    return result;
  }

  #replica(name: string): Started {
    const found = this.#replicas.get(name);
    if (found === undefined) {
      throw new RangeError(`Cannot find replica ${name}`);
    }
    return found;
  }

  #in<T>(name: string, work: (started: Started) => T): T {
    const started = this.#replica(name);
    return processes.run(started.process, () => work(started));
  }

  /** As `synclag check --store`; its round is one request of the first endpoint. */
  async #check(): Promise<string> {
    const grants: Grant[] = [];
    let used = 0;
    const checking = checkInStore(CONFIG, {
      store: this.#storeFor(new SimulatedProcess()),
      former: null,
      world: testWorld(CONFIG),
      onLeader: () => undefined,
      poll: async (shared) => {
        const gate = new BudgetGate(shared, () => 0.5);
        grants.push(...(FIRST === undefined ? [] : [await gate.acquire(FIRST, "opportunistic")]));
        used = shared.budgets.report(shared.nowMs())[0]?.used ?? 0;
        return this.#replica("a").report();
      },
    });
    const result = await this.#runWhile(checking, "5s");
    const [grant] = grants;
    if (grant !== undefined) {
      return grant.kind === "granted"
        ? `a poll of its own: ${formatCount(used, "request")} used`
        : grant.detail;
    }
    return typeof result === "string"
      ? result
      : `the report of ${result.replica?.leader}: ${formatCount(result.targets.length, "target")}`;
  }

  async startIn(process: SimulatedProcess, name: string, how: string) {
    const { logger, lines } = recordLog();
    const aheadMs = Number(how) || 0;
    const world = { ...testWorld(CONFIG), logger, nowMs: () => Date.now() + aheadMs };
    const replica = new Replica(CONFIG.fleet, {
      store: this.#storeFor(process),
      former: how === "spent" ? await spentBefore() : null,
      world,
    });
    const state = await openStateStore(null, CONFIG.fleet, {
      world,
      state: () => daemon.save(),
      onLockLost: () => undefined,
    });
    const notify = { ...NOTIFY, url: (await this.#webhook).url };
    const daemon: Daemon = new Daemon(
      { ...CONFIG, notify },
      {
        world,
        store: state,
        shared: replica.shared,
        mayPoll: () => replica.mayPoll(),
        openClient: (settings) => this.#clientOf(name, this.#play.openClient(settings)),
      },
    );
    const history = await HistoryStore.open(world);
    const events = await EventStore.open(world);
    const notifier = new Notifier(daemon, { ...world, pageUrl: () => "http://synclag.test" });
    replica.start(name, { daemon, events, notifier });
    const reports = startReportLoop(daemon, history, events, notifier, world);
    const scrape = createScrape(daemon, {
      prometheus: { render, contentType: "" },
      reloader: { state: { error: null, lastSuccessMs: 0 } },
      httpErrors: { count: 0 },
      notifier,
      events,
      replica,
    });
    return {
      process,
      lines,
      scrape,
      report: () => ({ ...daemon.report(), replica: replica.state() }),
      plotted: () => history.past("base", [], { fromMs: 0, toMs: Date.now(), points: 1_000 }).timesMs,
      events: () =>
        events.log.all().map(({ kind, subject, from, to }) => `${kind} ${subject} ${from} → ${to}`),
      async stop() {
        daemon.drain();
        await reports[Symbol.asyncDispose]();
        await notifier[Symbol.asyncDispose]();
        await replica[Symbol.asyncDispose]();
        await daemon[Symbol.asyncDispose]();
      },
    };
  }

  #clientOf(by: string, client: HttpClient): HttpClient {
    return {
      ...client,
      post: (request) => {
        this.#sent.push({ by, url: request.url, atMs: performance.now() });
        return client.post(request);
      },
    };
  }

  /** The store over a network: each way takes two milliseconds. */
  #storeFor(process: SimulatedProcess): Pick<RedisStore, "run" | "isUp" | "name"> {
    const failure = (): StoreFailure | null => (process.isCutOff ? NOT_CONNECTED : this.#storeFailure);
    const takeTime = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2));
    return {
      name: "store",
      isUp: () => failure() === null,
      run: async (...call) => {
        await takeTime();
        const reply = failure() ?? (await this.#store.run(...call));
        await takeTime();
        return reply;
      },
    };
  }
}

/** The state file of an earlier process: forty requests of an endpoint were spent. */
async function spentBefore(): Promise<SavedBudgets | null> {
  const budgets = new Budgets(CONFIG.fleet);
  for (let request = 0; request < 40 && FIRST !== undefined; request += 1) {
    budgets.acquire(FIRST, "scheduled", Date.now());
  }
  await using folder = await temporaryFolder();
  const file = join(folder.path, "synclag.state.json");
  await writeFile(file, JSON.stringify({ budgets: budgets.save(Date.now()) }));
  return await spentInFile(file);
}

async function* render(source: MetricsSource): AsyncIterable<string> {
  yield expositionText(METRIC_FAMILIES, source);
}
