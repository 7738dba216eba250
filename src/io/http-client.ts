import { Agent, request } from "undici";
import type { Post, PostRequest, PostResult } from "../post.ts";
import { type CutOff, failureOf } from "./http-failure.ts";
import { readReply } from "./read-reply.ts";

export interface HttpClientOptions {
  /** One deadline over connect, headers and body. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly connectionsPerHost: number;
  readonly userAgent: string;
  readonly nowMs: () => number;
}

export interface HttpClient extends AsyncDisposable {
  readonly post: Post;
}

/**
 * Shorter than the 60 s and 75 s after which the usual proxies close an idle connection (AWS' load balancers, nginx),
 * so that a poll doesn't meet one that is just being closed. A server that names a shorter time is heeded.
 */
const KEEP_ALIVE_MS = 45_000;

/**
 * A client that keeps connections, follows no redirect, and reads a bounded answer within one deadline.
 * Disposing aborts what is under way (reason `aborted`).
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const underWay = new Set<AbortController>();
  const agent = new Agent({
    connections: options.connectionsPerHost,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { timeout: options.timeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let isDisposed = false;

  async function post(what: PostRequest): Promise<PostResult> {
    const sentAtMs = options.nowMs();
    const startedMs = performance.now();
    const elapsed = (): number => performance.now() - startedMs;
    let cutOff: CutOff | null = null;
    // A timer of its own for each: combined signals may be collected before they fire (nodejs/node#54614, #57736).
    const abort = new AbortController();
    const deadline = setTimeout(() => {
      cutOff = "deadline";
      abort.abort();
    }, options.timeoutMs);
    underWay.add(abort);
    try {
      const asked = request(what.url, {
        method: "POST",
        dispatcher: agent,
        signal: abort.signal,
        headers: headersOf(what, options.userAgent),
        body: JSON.stringify(what.body),
      });
      const response = await Promise.race([asked, rejectedBy(abort.signal)]);
      // The height was read before the first byte of the answer came; a slow body says nothing about it.
      const receivedAtMs = sentAtMs + elapsed();
      return { sentAtMs, receivedAtMs, ...(await readReply(response, options.maxResponseBytes)) };
    } catch (error) {
      const failure = failureOf(error, isDisposed ? "shutdown" : cutOff, options.timeoutMs);
      return { sentAtMs, receivedAtMs: sentAtMs + elapsed(), kind: "failed", ...failure };
    } finally {
      clearTimeout(deadline);
      underWay.delete(abort);
    }
  }

  return {
    post,
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      for (const abort of underWay) {
        abort.abort();
      }
      await agent.destroy();
    },
  };
}

/** While undici waits for a connection, it does not hear of an abort until up to a second after its connect timeout. */
function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Ours win where the answer could not be read otherwise; names in lower case, so that none is sent twice. */
function headersOf({ headers }: PostRequest, userAgent: string): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    "user-agent": userAgent,
    accept: "application/json",
    ...Object.fromEntries(given),
    "content-type": "application/json",
    // A poll's answer is small, and what is never inflated can't be a bomb.
    "accept-encoding": "identity",
  };
}
