import { gunzipSync } from "node:zlib";
import { Agent, request } from "undici";

/** Those who read what a program serves: Prometheus, and somebody with the page open. */
export interface Readers extends AsyncDisposable {
  /** Throws what the first read that failed threw. */
  readonly assertServed: () => void;
}

/** The scrape; the page as often as it renews itself, and the plots of a chain's page likewise. */
const PERIODS_MS: Readonly<Record<string, number>> = {
  "/metrics": 15_000,
  "/": 5_000,
  "/api/v1/history/airdrops/base?points=240&hours=6": 15_000,
};

/** What is read. */
export const PATHS: readonly string[] = Object.keys(PERIODS_MS);

/** Reads until it is disposed, with gzip where it is offered, over connections that are kept. */
export function startReaders(url: string): Readers {
  const dispatcher = new Agent();
  let failure: Error | null = null;
  const timers = Object.entries(PERIODS_MS).map(([path, periodMs]) =>
    setInterval(() => {
      readText(`${url}${path}`, dispatcher).catch((error: Error) => {
        failure ??= error;
      });
    }, periodMs),
  );
  return {
    assertServed() {
      if (failure !== null) {
        throw failure;
      }
    },
    async [Symbol.asyncDispose]() {
      for (const timer of timers) {
        clearInterval(timer);
      }
      // Disposing twice is allowed.
      if (!dispatcher.closed) {
        await dispatcher.close();
      }
    },
  };
}

/** @throws If the answer is not 200. */
export async function readText(url: string, dispatcher?: Agent): Promise<string> {
  const { statusCode, headers, body } = await request(url, {
    headers: { "accept-encoding": "gzip" },
    ...(dispatcher === undefined ? {} : { dispatcher }),
  });
  const bytes = Buffer.from(await body.arrayBuffer());
  if (statusCode !== 200) {
    throw new Error(`Cannot read ${url}: ${statusCode}`);
  }
  return (headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString("utf8");
}
