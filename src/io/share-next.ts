import pLimit, { type LimitFunction } from "p-limit";

/**
 * Runs a task one run at a time. All calls that wait for the next run share it, so no call gets the result of a run that began
 * before the call. `inTurn`: a limiter that is shared with other tasks that must not overlap.
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
