import type { World } from "./world.ts";

/** The wall clock was set if it and the uptime drift apart by more than this. */
export const DRIFT_MS = 2_000;

/**
 * Returns a function that tells by how many milliseconds the wall clock was set since the last call, or 0. The uptime advances
 * while the machine sleeps, so a suspend does not look like a step.
 */
export function stepReader({ nowMs, uptimeMs }: Pick<World, "nowMs" | "uptimeMs">): () => number {
  let offsetMs = nowMs() - uptimeMs();
  return () => {
    const beforeMs = offsetMs;
    offsetMs = nowMs() - uptimeMs();
    return Math.abs(offsetMs - beforeMs) > DRIFT_MS ? Math.round(offsetMs - beforeMs) : 0;
  };
}
