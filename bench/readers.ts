import { Agent, request } from "undici";

/** The clients of a daemon: Prometheus, and browsers with a page open. */
export interface Readers extends AsyncDisposable {
  /** Throws the error of the first read that failed. */
  readonly assertServed: () => void;
}

/** The time between two reads: scrapes, refreshes of the status page, and of the plots of a chain's page. */
const PERIODS_MS: Readonly<Record<string, number>> = {
  "/metrics": 15_000,
  "/": 5_000,
  "/api/v1/history/airdrops/base?points=240&hours=6": 15_000,
};

/** Reads with gzip, over kept connections, until disposed. */
export function startReaders(url: string): Readers {
  const dispatcher = new Agent();
  let failure: Error | null = null;
  const timers = Object.entries(PERIODS_MS).map(([path, periodMs]) =>
    setInterval(() => {
      read(`${url}${path}`, dispatcher).catch((error: Error) => {
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
      await dispatcher.close();
    },
  };
}

/** Reads /metrics once, compressed as for Prometheus. */
export async function scrape(url: string): Promise<{ readonly tookMs: number; readonly bytes: number }> {
  const beganMs = performance.now();
  const bytes = await read(`${url}/metrics`);
  return { tookMs: performance.now() - beganMs, bytes };
}

/** @throws If the HTTP status is not 200. */
async function read(url: string, dispatcher?: Agent): Promise<number> {
  const { statusCode, body } = await request(url, {
    headers: { "accept-encoding": "gzip" },
    ...(dispatcher === undefined ? {} : { dispatcher }),
  });
  const { byteLength } = await body.arrayBuffer();
  if (statusCode !== 200) {
    throw new Error(`Cannot read ${url}: ${statusCode}`);
  }
  return byteLength;
}
