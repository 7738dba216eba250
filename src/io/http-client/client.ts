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
  /** Of the lines that are kept, where only some are. */
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
 * Shorter than the 60 s and 75 s after which the usual proxies close an idle connection (AWS' load balancers, nginx),
 * so that a poll doesn't meet one that is just being closed. A shorter time named by the server wins.
 */
const KEEP_ALIVE_MS = 45_000;
/**
 * After this time new connections are opened, however busy the old ones are: host names may lead elsewhere by now. Not by undici's
 * `clientTtl`: when all connections of a host are too old at once, it lets the next request wait forever.
 */
const CONNECTION_LIFETIME_MS = 180_000;
/** The most that is read of a text when only some lines are kept. */
const MAX_TEXT_BYTES = 64 * 2 ** 20;
/** A chunk costs a microsecond or two, however short; 64 MiB have 4,096 of the usual size. */
const MAX_CHUNKS = 100_000;
/** A deadline passes in as many steps, of which a process that stands still misses all but one. */
const DEADLINE_STEPS = 10;

/**
 * A client that keeps connections, follows no redirect, and reads a bounded reply within one deadline.
 * Disposing aborts what is under way (reason `aborted`).
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
      reader.fail("timeout", `no complete answer within ${options.timeoutMs / 1000} s`),
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
        // Not undici's request(): its stream and its signal for each reply cost as much as all the rest of a poll.
        freshDispatcher().dispatch(request, reader);
      }
      const result = await reader.result.catch((error) => reader.withStatus(failureOf(error)));
      // The height was read before the first byte of the reply came; a slow body says nothing about it.
      const endedMs = result.kind === "replied" ? reader.headAtMs : performance.now();
      // By the wall clock of now, so that a poll during which it was set has the times of what follows.
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

/**
 * Calls back after a time during which the event loop ran, so that a timeout is the fault of the server: a reply that came while
 * this process stood still is read first. Returns a way to stop it.
 */
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
/** Never reached through a proxy: this machine itself. */
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
  // Loaded only where there is a proxy, which needs all of it.
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

/** Ours win where the reply could not be read otherwise; names in lower case, so that none is sent twice. */
function headersOf(headers: PostRequest["headers"], userAgent: string): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    "user-agent": userAgent,
    accept: "application/json",
    ...Object.fromEntries(given),
    "content-type": "application/json",
    // Replies to polls are small, and without decompression no reply can be a bomb.
    "accept-encoding": "identity",
  };
}

type Controller = Dispatcher.DispatchController;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Reads one whole reply of at most `maxBytes`, as undici hands it over; lets go of the connection at the first byte beyond. With
 * `keep`, that is the limit of the lines that are kept and of the line that has not ended yet: all others are dropped as they arrive.
 */
class ReplyReader implements Dispatcher.DispatchHandler {
  /** Rejected with whatever ends it below HTTP. */
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
  /** The bytes to return, and with `keep` the line that has not ended yet, as texts with a character for each byte. */
  #kept = "";
  #lastLine = "";

  constructor(maxBytes: number, keep: PostRequest["keep"]) {
    this.#maxBytes = maxBytes;
    this.#keep = keep;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Gives up, whether there is a connection yet or not. The first reason counts. */
  fail(reason: FailureReason, detail: string): void {
    this.#resolve(this.withStatus({ kind: "failed", reason, detail }));
    this.#failure = new Error(detail);
    this.#controller?.abort(this.#failure);
  }

  /** With the HTTP status, if it came. */
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
    // An error says nothing in lines of metrics.
    this.#keep = status < 300 ? this.#keep : undefined;
    if (!/^(identity)?$/i.test(this.#header("content-encoding") ?? "")) {
      this.fail("malformed", "answered with a content-encoding, though none was asked for");
    }
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#readBytes += chunk.length;
    this.#chunks += 1;
    this.#take(chunk.toString("latin1"));
    if (this.#kept.length + this.#lastLine.length > this.#maxBytes) {
      this.fail("too_large", `answered with more than ${this.#maxBytes} bytes`);
    } else if (this.#keep !== undefined && this.#readBytes > MAX_TEXT_BYTES) {
      this.fail("too_large", `answered with more than ${MAX_TEXT_BYTES} bytes`);
    } else if (this.#chunks > MAX_CHUNKS) {
      this.fail("too_large", `answered in more than ${MAX_CHUNKS} chunks`);
    }
  }

  /**
   * The first line is kept too: it shows what kind of text it is. A line that has not ended is not looked at, which would take a time
   * that grows with its length for each chunk.
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

/** Unlike a Buffer's own, this decoding takes a byte order mark off. */
const UTF8 = new TextDecoder();
