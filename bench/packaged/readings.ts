import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { MeasuredProcess } from "../performance/measured-process.ts";
import type { Program } from "./programs.ts";

/** What a program has used since its start, and its memory now. */
export interface Reading {
  readonly atMs: number;
  readonly cpuMs: number;
  readonly writtenBytes: number;
  readonly requests: number;
  readonly connections: number;
  /** Resident memory: all of it, and the part that no file backs. */
  readonly rssMb: number;
  readonly anonymousMb: number;
  /** Of a Node process. */
  readonly counts: Counts | null;
}

const countsSchema = z.object({
  collections: z.number(),
  collectionMs: z.number(),
  opens: z.number(),
  /** The least that the heap held after a collection since the reading before; null: there was none. */
  heapBytes: z.number().nullable(),
});

type Counts = z.infer<typeof countsSchema>;

const LOOK_MS = 20;

export async function readProgram({ process, fleet, isNode }: Program): Promise<Reading> {
  const { simulated } = fleet;
  const counts = isNode ? await askCounts(process) : null;
  return {
    atMs: performance.now(),
    cpuMs: await process.cpuMs(),
    writtenBytes: await process.writtenBytes(),
    requests: fleet.endpoints.reduce((sum, { key }) => sum + simulated.endpoint(key).requestCount, 0),
    connections: simulated.origins.reduce((sum, { connectionCount }) => sum + connectionCount, 0),
    ...(await process.residentMb()),
    counts,
  };
}

/** By `counters.mjs`: each line has a number, since only the end of what a program writes is kept. */
async function askCounts({ pid, stderr, hasEnded }: MeasuredProcess): Promise<Counts> {
  const before = lastLine(stderr())?.number ?? 0;
  process.kill(pid, "SIGUSR2");
  for (;;) {
    const line = lastLine(stderr());
    if (line !== null && line.number > before) {
      return line.counts;
    }
    if (hasEnded()) {
      throw new Error(`Cannot measure what has ended: ${stderr()}`);
    }
    await sleep(LOOK_MS);
  }
}

function lastLine(text: string): { readonly number: number; readonly counts: Counts } | null {
  const [, number, counts] = [...text.matchAll(/^counted (\d+) (\{.*\})\n/gm)].at(-1) ?? [];
  return counts === undefined
    ? null
    : { number: Number(number), counts: countsSchema.parse(JSON.parse(counts)) };
}
