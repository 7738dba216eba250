import {
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
} from "../../src/io/http-client/client.ts";

/** A client with the usual limits, except those in `options`. */
export function clientOf(options: Partial<HttpClientOptions> = {}): HttpClient {
  return createHttpClient({
    timeoutMs: 5_000,
    maxResponseBytes: 1_000_000,
    connectionsPerHost: 4,
    userAgent: "synclag/9.9.9",
    nowMs: Date.now,
    ...options,
  });
}
