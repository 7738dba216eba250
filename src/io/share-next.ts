import pLimit, { type LimitFunction } from "p-limit";

/**
 * Runs a task one run at a time. Calls made before a run begins share it, so no call gets the result of a run that began before
 * it. `inTurn`: a limiter, shared with tasks that must not overlap.
 */
export function shareNext<Result>(
  run: () => Promise<Result>,
  inTurn: LimitFunction = pLimit(1),
): () => Promise<Result> {
  let next: Promise<Result> | null = null;
  return () => {
    next ??= inTurn(() => {
      next = null;
      return run();
    });
    return next;
  };
}
