import type { Logger } from "pino";

/** Counts and logs requests whose handler threw. Such a bug does not stop the polls. */
export class HttpErrors {
  count = 0;
  /** The last logged error by route. Its repetitions are not logged: an open page repeats its request every few seconds. */
  readonly #logged = new Map<string, string>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  add(error: unknown, route: string): void {
    this.count += 1;
    if (this.#logged.get(route) !== String(error)) {
      this.#logged.set(route, String(error));
      this.#logger.error({ err: error, route }, "HTTP request failed: this is a bug");
    }
  }
}
