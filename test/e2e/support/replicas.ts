import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Exposition } from "./exposition.ts";
import { sampleValue } from "./exposition.ts";
import type { Synclag } from "./synclag.ts";

/** What all replicas said within a moment. */
export interface Sight {
  readonly atMs: number;
  /** Names of those that say that they lead. */
  readonly leaders: readonly string[];
  /** Names of those that export the series of the fleet. */
  readonly exporters: readonly string[];
  /** Names of those that answered. */
  readonly alive: readonly string[];
  readonly unknown: number;
}

const EVERY_MS = 200;

/** Several Synclags on one store, looked at five times a second for as long as the test runs. */
export class Replicas {
  readonly #start: () => Promise<Synclag>;
  readonly #targetsFile: string;
  readonly #replicas = new Map<string, Synclag>();
  readonly #sights: Sight[] = [];
  /** The highest value of each counter, and where one was lower afterwards. */
  readonly #counters = new Map<string, number>();
  readonly #fallen: string[] = [];
  #isWatching = false;

  /** `targetsFile`: where Prometheus reads which there are. */
  constructor(start: () => Promise<Synclag>, targetsFile: string) {
    this.#start = start;
    this.#targetsFile = targetsFile;
  }

  get sights(): readonly Sight[] {
    return this.#sights;
  }

  /** Counters of the fleet that fell, from whichever replica they came. */
  get fallen(): readonly string[] {
    return this.#fallen;
  }

  async add(): Promise<string> {
    const replica = await this.#start();
    this.#replicas.set(replica.url, replica);
    await this.#writeTargets();
    return replica.url;
  }

  of(name: string): Synclag {
    const replica = this.#replicas.get(name);
    if (replica === undefined) {
      throw new Error(`Cannot find a replica ${name}`);
    }
    return replica;
  }

  /** No longer looked at, except by Prometheus until the next one is added. */
  drop(name: string): Synclag {
    const replica = this.of(name);
    this.#replicas.delete(name);
    return replica;
  }

  /** The one that leads and exports, once there is one; and how long that took. */
  async leader(withinMs: number, except = ""): Promise<{ readonly name: string; readonly tookMs: number }> {
    const startedMs = performance.now();
    for (;;) {
      const tookMs = performance.now() - startedMs;
      const last = this.#sights.at(-1);
      const [name] = last === undefined || last.atMs < startedMs ? [] : last.exporters;
      if (name !== undefined && name !== except && last?.leaders.includes(name) === true) {
        return { name, tookMs };
      }
      if (tookMs > withinMs) {
        throw new Error(`No leader within ${withinMs} ms: ${JSON.stringify(last)}\n${this.logs()}`);
      }
      await sleep(20);
    }
  }

  logs(): string {
    return [...this.#replicas].map(([name, { stderr }]) => `${name}\n${stderr().slice(-3_000)}`).join("\n");
  }

  /** Begins to look; disposing ends it. */
  watch(): AsyncDisposable {
    this.#isWatching = true;
    const watching = this.#watch();
    return {
      [Symbol.asyncDispose]: async () => {
        this.#isWatching = false;
        await watching;
      },
    };
  }

  async #writeTargets(): Promise<void> {
    const targets = [...this.#replicas.keys()].map((url) => new URL(url).host);
    await writeFile(this.#targetsFile, JSON.stringify([{ targets }]));
  }

  async #watch(): Promise<void> {
    while (this.#isWatching) {
      await this.#look();
      await sleep(EVERY_MS);
    }
  }

  async #look(): Promise<void> {
    const atMs = performance.now();
    const seen = await Promise.all(
      [...this.#replicas].map(async ([name, replica]) => [name, await metricsOf(replica)] as const),
    );
    const answered = seen.flatMap(([name, metrics]) => (metrics === null ? [] : [{ name, metrics }]));
    const exporting = answered.filter(({ metrics }) =>
      metrics.samples.some(({ name }) => name === "synclag_up"),
    );
    for (const { name, metrics } of exporting) {
      this.#compareCounters(name, metrics);
    }
    this.#sights.push({
      atMs,
      leaders: answered
        .filter(({ metrics }) => sampleValue(metrics, "synclag_leader", {}) === 1)
        .map(({ name }) => name),
      exporters: exporting.map(({ name }) => name),
      alive: answered.map(({ name }) => name),
      unknown: exporting.flatMap(({ metrics }) => metrics.samples.filter(isUnknown)).length,
    });
  }

  #compareCounters(replica: string, { families, samples }: Exposition): void {
    for (const { name, labels, value } of samples.filter(({ name }) => isFleetCounter(name, families))) {
      const key = `${name} ${JSON.stringify(labels)}`;
      const highest = this.#counters.get(key) ?? 0;
      if (value < highest) {
        this.#fallen.push(`${key}: ${highest} to ${value} at ${replica}`);
      }
      this.#counters.set(key, Math.max(highest, value));
    }
  }
}

function isFleetCounter(name: string, families: Exposition["families"]): boolean {
  const type = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ""));
  const isOfProcess = name === "synclag_log_lines_lost_total" || name === "synclag_http_errors_total";
  const isOfFleet = name.startsWith("synclag_") && !isOfProcess;
  return isOfFleet && (type === "counter" || type === "histogram");
}

function isUnknown({ name, labels, value }: Exposition["samples"][number]): boolean {
  return name === "synclag_status" && labels["status"] === "unknown" && value === 1;
}

/** Null where it does not answer: killed, or stopped. */
async function metricsOf(replica: Synclag): Promise<Exposition | null> {
  try {
    return await Promise.race([replica.metrics(), sleep(1_500, null)]);
  } catch {
    return null;
  }
}
