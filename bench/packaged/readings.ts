import { z } from "zod";
import { askModule } from "../programs/ask-module.ts";
import type { ResidentMb } from "../programs/measured-process.ts";
import type { Program } from "./programs.ts";

/** What a program has used since its start, and its memory now. */
export interface Reading extends ResidentMb {
  readonly atMs: number;
  readonly cpuMs: number;
  readonly writtenBytes: number;
  readonly requests: number;
  readonly connections: number;
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

export async function readProgram({ process, fleet, isNode }: Program): Promise<Reading> {
  const { simulated } = fleet;
  const counts = isNode ? countsSchema.parse(await askModule(process)) : null;
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
