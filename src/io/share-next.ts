import pLimit, { type LimitFunction } from "p-limit";

/**
 * Returns a function that runs a task, one run at a time. Calls during a run share the next run, so each call gets the result
 * of a run that began after it. `inTurn`: a limiter shared with tasks that must not overlap with this one.
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
