/**
 * Runs a task for all who ask for it, one run at a time. Who asks while one is under way gets the next one, and shares it with
 * all others who ask meanwhile: a result is never older than its question.
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
