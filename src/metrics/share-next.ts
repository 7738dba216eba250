/**
 * Runs a task one run at a time. Calls made during a run share the next one, so no call gets the result of a run that began
 * before it.
 */
export function shareNext<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<Result> | null = null;
  let next: Promise<Result> | null = null;

  function start(): Promise<Result> {
    next = null;
    current = run().finally(() => {
      current = null;
    });
    return current;
  }

  return () => {
    if (current === null) {
      return next ?? start();
    }
    next ??= current.then(start, start);
    return next;
  };
}
