import type { Logger } from "pino";

/** Counts and logs requests whose handler threw. Such a bug does not end the polls. */
export class HttpErrors {
  #count = 0;
  /** By route: the last error that was logged. An open page repeats its request every few seconds. */
  readonly #logged = new Map<string, string>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get count(): number {
    return this.#count;
  }

  add(error: unknown, route: string): void {
    this.#count += 1;
    // The message and the line that threw: the frames above it differ from one request to the next.
    const place = String(error instanceof Error ? error.stack : error)
      .split("\n", 2)
      .join();
    if (this.#logged.get(route) !== place) {
      this.#logged.set(route, place);
      this.#logger.error({ err: error, route }, "HTTP request failed: this is a bug");
    }
  }
}
