/** The resources to stop, last in first out; Node 20 has no AsyncDisposableStack. */
export interface Cleanup extends AsyncDisposable {
  /** Takes charge of `resource` and hands it back. */
  readonly use: <T extends Disposable | AsyncDisposable>(resource: T) => T;
}

/**
 * If a resource fails to stop, disposal continues with the others and throws at the end. A second disposal
 * does nothing.
 */
export function createCleanup(): Cleanup {
  const resources: (Disposable | AsyncDisposable)[] = [];
  return {
    use(resource) {
      resources.push(resource);
      return resource;
    },
    async [Symbol.asyncDispose]() {
      const errors: unknown[] = [];
      for (const resource of resources.splice(0).reverse()) {
        try {
          await (Symbol.asyncDispose in resource
            ? resource[Symbol.asyncDispose]()
            : resource[Symbol.dispose]());
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) {
        throw new AggregateError(errors, "Cannot stop everything");
      }
    },
  };
}
