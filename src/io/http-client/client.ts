import { createRequire } from "node:module";
import type { Dispatcher } from "undici";
import Agent from "undici/lib/dispatcher/agent.js";
import type { ProxySettings } from "../../config/config.ts";
import type {
  Post,
  PostFailure,
  PostRequest,
  PostResult,
  ReplyOrFailure,
} from "../../core/model/http-post.ts";
import { jsonOf, memoize } from "../../core/model/memoize.ts";
import type { FailureReason } from "../../core/model/observation.ts";
import { failureOf } from "./failure.ts";
import { skipInterimReplies } from "./skip-interim.ts";

export interface HttpClientOptions {
  /** One deadline over connect, headers and body. */
  readonly timeoutMs: number;
  /** The limit of a reply; if only some of its lines are kept, the limit of these lines. */
  readonly maxResponseBytes: number;
  readonly connectionsPerHost: number;
  readonly userAgent: string;
  readonly nowMs: () => number;
  readonly proxy?: ProxySettings | null;
}

export interface HttpClient extends AsyncDisposable {
  readonly post: Post;
}

/**
 * AWS load balancers close an idle connection after 60 s, nginx after 75 s. We close it first, so that no poll is sent on a
 * connection that is being closed. A shorter time named by the server has priority.
 */
const KEEP_ALIVE_MS = 45_000;
/**
 * After this time new connections are opened, because host names may resolve to other addresses by then. undici's `clientTtl`
 * is not used: if all connections of a host are too old at once, the next request waits forever.
 */
const CONNECTION_LIFETIME_MS = 180_000;
/** If only some lines are kept, at most this number of bytes is read. */
const MAX_TEXT_BYTES = 64 * 2 ** 20;
/** A reply has at most this number of chunks, because each costs a microsecond or two. 64 MiB usually come in 4,096. */
const MAX_CHUNKS = 100_000;
/**
 * A deadline consists of this number of timers, one after the other. While the process is suspended at most one of them
 * elapses, so the server gets the rest of the time.
 */
const DEADLINE_STEPS = 10;

/**
 * A client that keeps connections, does not follow redirects, and limits the size and the time of a reply. Disposing aborts
 * running requests (reason `aborted`).
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const underWay = new Set<ReplyReader>();
  const headersFor = memoize((headers: PostRequest["headers"]) => headersOf(headers, options.userAgent));
  const stopSkipping = skipInterimReplies();
  let dispatcher = openDispatcher(options);
  let openedMs = performance.now();
  let isDisposed = false;

  async function post({ url, headers, body, keep }: PostRequest): Promise<PostResult> {
    const startedMs = performance.now();
    const reader = new ReplyReader(options.maxResponseBytes, keep);
    const stopDeadline = startDeadline(options.timeoutMs, () =>
      reader.fail("timeout", `no complete reply within ${options.timeoutMs / 1000} s`),
    );
    underWay.add(reader);
    try {
      if (isDisposed) {
        reader.fail(...ABORTED);
      } else {
        const { origin, pathname, search } = new URL(url);
        const request = {
          origin,
          path: `${pathname}${search}`,
          headers: typeof body === "string" ? { ...headersFor(headers), ...PLAIN } : headersFor(headers),
          method: body === null ? ("GET" as const) : ("POST" as const),
          body: typeof body === "string" || body === null ? body : jsonOf(body),
        };
        // undici's request() makes a stream and a signal for each reply, which cost as much as the rest of a poll.
        freshDispatcher().dispatch(request, reader);
      }
      const result = await reader.result.catch((error) => reader.withStatus(failureOf(error)));
      // The server read the height before it sent the first byte, so the time of a slow body does not count.
      const endedMs = result.kind === "replied" ? reader.headAtMs : performance.now();
      // If the wall clock was set during the poll, the poll has times of the new clock, like all later polls.
      const sentAtMs = Math.round(options.nowMs() - (performance.now() - startedMs));
      return { sentAtMs, receivedAtMs: sentAtMs + Math.round(endedMs - startedMs), ...result };
    } finally {
      stopDeadline();
      underWay.delete(reader);
    }
  }

  function freshDispatcher(): Dispatcher {
    if (performance.now() - openedMs >= CONNECTION_LIFETIME_MS) {
      // Running requests keep their connections.
      void dispatcher.close();
      dispatcher = openDispatcher(options);
      openedMs = performance.now();
    }
    return dispatcher;
  }

  return {
    post,
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      for (const reader of underWay) {
        reader.fail(...ABORTED);
      }
      await dispatcher.destroy();
      stopSkipping();
    },
  };
}

/** Calls back after a time. Returns a function that stops the deadline. */
function startDeadline(timeoutMs: number, onEnd: () => void): () => void {
  let left = DEADLINE_STEPS;
  let timer = setTimeout(step, timeoutMs / DEADLINE_STEPS);
  function step(): void {
    left -= 1;
    if (left === 0) {
      onEnd();
    } else {
      timer = setTimeout(step, timeoutMs / DEADLINE_STEPS);
    }
  }
  return () => clearTimeout(timer);
}

const ABORTED = ["aborted", "cut off by shutdown or reload"] as const;
/** This machine itself, which is never reached through a proxy. */
const LOOPBACK = "localhost,127.0.0.1,[::1]";

function openDispatcher({ connectionsPerHost, timeoutMs, proxy = null }: HttpClientOptions): Dispatcher {
  const settings = {
    connections: connectionsPerHost,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { timeout: timeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (proxy === null || proxy.noProxy === "*") {
    return new Agent(settings);
  }
  // A proxy needs all of undici, which is loaded only here.
  const { EnvHttpProxyAgent } = createRequire(import.meta.url)("undici") as typeof import("undici");
  // Plain HTTP is not tunnelled: many proxies allow CONNECT for port 443 alone.
  return new EnvHttpProxyAgent({
    ...settings,
    ...proxy,
    noProxy: `${proxy.noProxy},${LOOPBACK}`,
    proxyTunnel: false,
  });
}

const PLAIN = { "content-type": "text/plain; charset=utf-8" };

/**
 * The headers to send. Our content type and encoding win, because other values would make the reply unreadable. Names
 * are in lower case, so that none is sent twice.
 */
function headersOf(headers: PostRequest["headers"], userAgent: string): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    "user-agent": userAgent,
    accept: "application/json",
    ...Object.fromEntries(given),
    "content-type": "application/json",
    // Replies to polls are small, and a reply that is not decompressed cannot be a bomb.
    "accept-encoding": "identity",
  };
}

type Controller = Dispatcher.DispatchController;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Reads one reply from undici, and closes the connection if the reply has more than `maxBytes`. With `keep`, only the
 * kept lines count; the others are dropped as they arrive.
 */
class ReplyReader implements Dispatcher.DispatchHandler {
  /** Rejected with the error of the network, TLS or undici that ends the request. */
  readonly result: Promise<ReplyOrFailure>;
  /** When the head of the reply came, by `performance.now()`. */
  headAtMs = Number.NaN;
  readonly #maxBytes: number;
  #keep: PostRequest["keep"];
  #resolve: (result: ReplyOrFailure) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #controller: Controller | null = null;
  #failure: Error | null = null;
  #httpStatus = 0;
  #headers: Headers = {};
  #readBytes = 0;
  #chunks = 0;
  /** The bytes to return, as a text with a character for each byte. */
  #kept = "";
  /** With `keep`: the unfinished line, also with a character for each byte. */
  #lastLine = "";

  constructor(maxBytes: number, keep: PostRequest["keep"]) {
    this.#maxBytes = maxBytes;
    this.#keep = keep;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Ends the request with a failure, before or after it got a connection. The first reason counts. */
  fail(reason: FailureReason, detail: string): void {
    this.#resolve(this.withStatus({ kind: "failed", reason, detail }));
    this.#failure = new Error(detail);
    this.#controller?.abort(this.#failure);
  }

  /** The failure with the HTTP status, if there is one. */
  withStatus(failure: PostFailure): PostFailure {
    return this.#httpStatus === 0 ? failure : { ...failure, httpStatus: this.#httpStatus };
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#failure !== null) {
      controller.abort(this.#failure);
    }
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    this.headAtMs = performance.now();
    this.#httpStatus = status;
    this.#headers = headers;
    // The body of an error is kept whole.
    this.#keep = status < 300 ? this.#keep : undefined;
    if (!/^(identity)?$/i.test(this.#header("content-encoding") ?? "")) {
      this.fail("malformed", "replied with a content-encoding, though none was requested");
    }
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#readBytes += chunk.length;
    this.#chunks += 1;
    this.#take(chunk.toString("latin1"));
    if (this.#kept.length + this.#lastLine.length > this.#maxBytes) {
      this.fail("too_large", `replied with more than ${this.#maxBytes} bytes`);
    } else if (this.#keep !== undefined && this.#readBytes > MAX_TEXT_BYTES) {
      this.fail("too_large", `replied with more than ${MAX_TEXT_BYTES} bytes`);
    } else if (this.#chunks > MAX_CHUNKS) {
      this.fail("too_large", `replied in more than ${MAX_CHUNKS} chunks`);
    }
  }

  /**
   * Takes the next part of the reply. The first line is always kept: it shows the kind of text. A line is searched only once it is
   * complete: searching it for each chunk would take quadratic time.
   */
  #take(text: string): void {
    if (this.#keep === undefined) {
      this.#kept += text;
      return;
    }
    if (!text.includes("\n")) {
      this.#lastLine += text;
      return;
    }
    const lines = (this.#lastLine + text).split("\n");
    this.#lastLine = lines.pop() ?? "";
    for (const line of lines) {
      if (this.#kept === "" || this.#keep.some((name) => line.startsWith(name))) {
        this.#kept += `${line}\n`;
      }
    }
  }

  onResponseEnd(): void {
    this.#take(this.#keep === undefined ? "" : "\n");
    const location = this.#header("location");
    const isRedirect = this.#httpStatus >= 300 && this.#httpStatus < 400 && location !== null;
    const reply = {
      httpStatus: this.#httpStatus,
      retryAfter: this.#header("retry-after"),
      body: UTF8.decode(Buffer.from(this.#kept, "latin1")),
      ...(isRedirect ? { location } : {}),
    };
    this.#resolve({ kind: "replied", reply });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#reject(error);
  }

  #header(name: string): string | null {
    const value = this.#headers[name];
    return (Array.isArray(value) ? value[0] : value)?.trim() ?? null;
  }
}

/** Unlike `Buffer.toString`, this decoder removes a byte order mark. */
const UTF8 = new TextDecoder();
