import type { Subject } from "./subject.ts";

interface SubjectModule {
  readonly subject: Subject;
}

/** What `npm run bench` measures, in this order. Each is loaded only by the process that measures it. */
export const SUBJECTS: Readonly<Record<string, () => Promise<SubjectModule>>> = {
  poll: () => import("./poll.ts"),
  fleet: () => import("./fleet.ts"),
  metrics: () => import("./metrics.ts"),
  start: () => import("./start.ts"),
  memory: () => import("./memory.ts"),
};

/** Measured once and by name only: each takes an hour, and its parts tell how much the figures vary. */
export const LONG_SUBJECTS: typeof SUBJECTS = {
  packaged: () => import("../packaged/packaged.ts"),
};
