import type { Subject } from "./subject.ts";

interface SubjectEntry {
  /** Each is loaded only by the process that measures it. */
  readonly load: () => Promise<{ readonly subject: Subject }>;
  /** How often it is measured; what is measured once varies little, or says how much its parts vary. */
  readonly runs: number;
  /** Whether it is measured only where it is named, because it takes long, or much memory. */
  readonly isLong?: true;
}

/** What `npm run bench` measures, in this order. */
export const SUBJECTS: Readonly<Record<string, SubjectEntry>> = {
  packaged: { load: () => import("../packaged/packaged.ts"), runs: 1, isLong: true },
  huge: { load: () => import("../fleets/huge.ts"), runs: 1, isLong: true },
  fleet: { load: () => import("../fleets/fleet.ts"), runs: 5 },
  start: { load: () => import("./start.ts"), runs: 5 },
  poll: { load: () => import("../polls/poll.ts"), runs: 5 },
  metrics: { load: () => import("../scrapes/metrics.ts"), runs: 5 },
  memory: { load: () => import("./memory.ts"), runs: 5 },
  heap: { load: () => import("../heap/heap.ts"), runs: 1 },
};
