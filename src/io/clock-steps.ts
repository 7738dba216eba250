import type { World } from "./world.ts";

/** The wall clock was set if it has parted from the uptime by more. */
export const DRIFT_MS = 2_000;

/**
 * Reads by how much the wall clock was set since the last reading; 0: it was not. The uptime counts while the machine sleeps, so
 * a suspended machine takes no step.
 */
export function stepReader({ nowMs, uptimeMs }: Pick<World, "nowMs" | "uptimeMs">): () => number {
  let offsetMs = nowMs() - uptimeMs();
  return () => {
    const beforeMs = offsetMs;
    offsetMs = nowMs() - uptimeMs();
    return Math.abs(offsetMs - beforeMs) > DRIFT_MS ? Math.round(offsetMs - beforeMs) : 0;
  };
}
