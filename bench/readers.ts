import { Agent, request } from "undici";

/** Those who read what the daemon serves: Prometheus, and somebody with the page open. */
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

/** Reads until it is disposed, with gzip where it is offered, over connections that are kept. */
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

/** Reads /metrics to its end, compressed as Prometheus asks for it. */
export async function scrape(url: string): Promise<{ readonly tookMs: number; readonly bytes: number }> {
  const beganMs = performance.now();
  const bytes = await read(`${url}/metrics`);
  return { tookMs: performance.now() - beganMs, bytes };
}

/** @throws If the answer is not 200. */
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
