import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { startFleetDaemon } from "../fleets/fleet-daemon.ts";
import type { Figure, Subject } from "../performance/subject.ts";
import { askModule } from "../programs/ask-module.ts";
import { playPackagedFleet } from "../programs/played-fleet.ts";
import { startSynclag } from "../programs/running-synclag.ts";
import { nodeOptionsOfCommand } from "../programs/synclag-args.ts";
import { startUpstream } from "../programs/upstream.ts";
import { featureOf } from "./features.ts";

const MB = 1e6;
const MODULE = join(import.meta.dirname, "allocations.mjs");
/** Some rounds of each endpoint, and scrapes. */
const RUN_MS = { whole: 30_000, quick: 5_000 };
const SCRAPE_MS = 15_000;
const TABLE = "In use, MB";

const heapSchema = z.object({
  folders: z.record(z.string(), z.number()),
  heapUsed: z.number(),
  external: z.number(),
  arrayBuffers: z.number(),
  rss: z.number(),
});

export const subject: Subject = {
  title: "What the heap holds",
  about: `
What is in use after a garbage collection, by the part of the program that allocated it, of the packaged fleet and of 10,000 endpoints (1,000 chains, every 15 s, with a
full day's history), 30 s after the start, scraped every 15 s. V8's sampling heap profiler counts one allocation in 16 kB from the first moment on (\`bench/heap/allocations.mjs\`).
What a package allocates counts for the part that called it. Arrays of numbers lie outside the heap. *RSS* is resident memory at that moment; what is above the rest is
garbage that was collected but not returned, the \`node\` executable, and the profiler itself.`,

  async measure(extent) {
    const runMs = RUN_MS[extent];
    const figures = await measurePackaged(runMs);
    return extent === "quick" ? figures : [...figures, ...(await measureLarge(runMs))];
  },
};

async function measurePackaged(runMs: number): Promise<readonly Figure[]> {
  await using fleet = await playPackagedFleet();
  await fleet.forgetState();
  await using synclag = await startSynclag(fleet, [...nodeOptionsOfCommand(), "--import", MODULE]);
  await synclag.untilReady();
  await scrapeFor(runMs, `${synclag.url}/metrics`);
  return figuresOf("packaged fleet", await askModule(synclag.process));
}

async function measureLarge(runMs: number): Promise<readonly Figure[]> {
  await using upstream = await startUpstream();
  const spec = { endpoints: 10_000, chains: 1_000, schedule: "*/15 * * * * *", concurrency: 64 };
  await using daemon = await startFleetDaemon({ ...spec, origin: upstream.http }, MODULE);
  await scrapeFor(runMs, daemon.metricsUrl);
  return figuresOf("10,000 endpoints", await askModule(daemon.process));
}

async function scrapeFor(durationMs: number, url: string): Promise<void> {
  const untilMs = performance.now() + durationMs;
  while (performance.now() < untilMs) {
    await (await fetch(url)).arrayBuffer();
    await sleep(Math.min(SCRAPE_MS, Math.max(0, untilMs - performance.now())));
  }
}

function figuresOf(column: string, told: unknown): readonly Figure[] {
  const { folders, heapUsed, external, arrayBuffers, rss } = heapSchema.parse(told);
  const features = new Map<string, number>();
  for (const [folder, bytes] of Object.entries(folders)) {
    const feature = featureOf(folder);
    features.set(feature, (features.get(feature) ?? 0) + bytes);
  }
  const sampled = Object.values(folders).reduce((sum, bytes) => sum + bytes, 0);
  const rows: readonly (readonly [row: string, bytes: number])[] = [
    ...[...features].toSorted(([, one], [, other]) => other - one),
    ["not sampled: made before the profiler was there", Math.max(0, heapUsed - sampled)],
    ["**heap, in all**", heapUsed],
    ["arrays outside the heap: history, buffers", arrayBuffers],
    ["other memory outside the heap that V8 knows of", external - arrayBuffers],
    ["**RSS**", rss],
  ];
  return rows.map(([row, bytes]) => ({ table: TABLE, row, column, value: bytes / MB }));
}
