import { Agent, request } from "undici";
import type { Post, PostRequest, PostResult } from "../post.ts";
import { failureOf } from "./http-failure.ts";
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

/** Longer than the default poll interval, so that the next poll finds the connection open. */
const KEEP_ALIVE_MS = 75_000;

/**
 * A client that keeps connections, follows no redirect, and reads a bounded answer within one deadline.
 * Disposing aborts what is under way (reason `aborted`).
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const shutdown = new AbortController();
  // Identity: a poll's answer is small, and what is never inflated can't be a bomb.
  const ownHeaders = {
    "user-agent": options.userAgent,
    "accept-encoding": "identity",
    accept: "application/json",
  };
  const agent = new Agent({
    connections: options.connectionsPerHost,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { timeout: options.timeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  async function post(what: PostRequest): Promise<PostResult> {
    const sentAtMs = options.nowMs();
    const startedMs = performance.now();
    const elapsed = (): number => performance.now() - startedMs;
    const deadline = AbortSignal.timeout(options.timeoutMs);
    try {
      const response = await request(what.url, {
        method: "POST",
        dispatcher: agent,
        signal: AbortSignal.any([deadline, shutdown.signal]),
        headers: { ...ownHeaders, ...what.headers, "content-type": "application/json" },
        body: JSON.stringify(what.body),
      });
      // The height was read before the first byte of the answer came; a slow body says nothing about it.
      const receivedAtMs = sentAtMs + elapsed();
      return { sentAtMs, receivedAtMs, ...(await readReply(response, options.maxResponseBytes)) };
    } catch (error) {
      const failure = failureOf(error, { shutdown: shutdown.signal, deadline, timeoutMs: options.timeoutMs });
      return { sentAtMs, receivedAtMs: sentAtMs + elapsed(), kind: "failed", ...failure };
    }
  }

  return {
    post,
    async [Symbol.asyncDispose]() {
      shutdown.abort();
      await agent.destroy();
    },
  };
}
