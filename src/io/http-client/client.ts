import { createRequire } from "node:module";
import type { Dispatcher } from "undici";
import Agent from "undici/lib/dispatcher/agent.js";
import type { ProxySettings } from "../../config/config.ts";
import type { Post, PostRequest, PostResult, Reply } from "../../core/model/http-post.ts";
import { jsonOf, memoize } from "../../core/model/memoize.ts";
import type { FailureReason, PollTimes } from "../../core/model/observation.ts";
import { type CutOff, failureOf } from "./failure.ts";
import { LineFilter } from "./line-filter.ts";

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
  /** The next requests to this URL's origin open new connections; running requests keep theirs. */
  readonly renew: (url: string) => void;
}

/**
 * Shorter than the 60 s and 75 s after which the usual proxies close an idle connection (AWS' load balancers, nginx),
 * so that a poll doesn't meet one that is just being closed. A shorter time named by the server wins.
 */
const KEEP_ALIVE_MS = 45_000;
/** After this time new connections are opened, however busy the old ones are: the host name may lead elsewhere by now. */
const CONNECTION_LIFETIME_MS = 180_000;
/** The most that is read of a text when only some lines are kept. */
const MAX_TEXT_BYTES = 64 * 2 ** 20;
/** Connections younger than this are not renewed. */
const RENEWABLE_AFTER_MS = 10_000;

/**
 * A client that keeps connections, follows no redirect, and reads a bounded answer within one deadline.
 * Disposing aborts what is under way (reason `aborted`).
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const underWay = new Set<ReplyReader>();
  const connections = new Map<string, { readonly dispatcher: Dispatcher; readonly openedMs: number }>();
  const headersFor = memoize((headers: PostRequest["headers"]) => headersOf(headers, options.userAgent));
  let isDisposed = false;

  async function post({ url, headers, body, keep }: PostRequest): Promise<PostResult> {
    const startedMs = performance.now();
    let cutOff: CutOff | null = null;
    const reader = new ReplyReader(options.maxResponseBytes, keep);
    const deadline = setTimeout(() => {
      cutOff = "deadline";
      reader.stop();
    }, options.timeoutMs);
    underWay.add(reader);
    try {
      const { origin, pathname, search } = new URL(url);
      const request = { origin, path: `${pathname}${search}`, headers: headersFor(headers) };
      // Not undici's request(): its stream and its signal for each answer cost as much as all the rest of a poll.
      dispatcherOf(origin).dispatch({ ...request, ...methodAndBody(body) }, reader);
      const reply = await reader.reply;
      // The height was read before the first byte of the answer came; a slow body says nothing about it.
      return { ...timesOf(startedMs, reader.headAtMs), ...reply };
    } catch (error) {
      const failure = failureOf(error, isDisposed ? "shutdown" : cutOff, options.timeoutMs);
      return { ...timesOf(startedMs, performance.now()), kind: "failed", ...failure };
    } finally {
      clearTimeout(deadline);
      underWay.delete(reader);
    }
  }

  /** By the wall clock of now, so that a poll during which it was set has the times of what follows. */
  function timesOf(startedMs: number, endedMs: number): PollTimes {
    const sentAtMs = Math.round(options.nowMs() - (performance.now() - startedMs));
    return { sentAtMs, receivedAtMs: sentAtMs + Math.round(endedMs - startedMs) };
  }

  function dispatcherOf(origin: string): Dispatcher {
    renew(origin, CONNECTION_LIFETIME_MS);
    const known = connections.get(origin);
    if (known !== undefined) {
      return known.dispatcher;
    }
    if (isDisposed) {
      throw new Error("disposed");
    }
    const dispatcher = openDispatcher(origin, options);
    connections.set(origin, { dispatcher, openedMs: performance.now() });
    return dispatcher;
  }

  /**
   * The next requests open new connections if the current ones are this old; old ones close when they are
   * idle.
   */
  function renew(origin: string, ageMs: number): void {
    const known = connections.get(origin);
    if (known !== undefined && performance.now() - known.openedMs >= ageMs) {
      connections.delete(origin);
      void known.dispatcher.close();
    }
  }

  return {
    post,
    renew: (url) => renew(new URL(url).origin, RENEWABLE_AFTER_MS),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      for (const reader of underWay) {
        reader.stop();
      }
      const open = [...connections.values()];
      connections.clear();
      await Promise.all(open.map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

/** Through the proxy if there is one for it, but never to this machine itself. */
function openDispatcher(
  origin: string,
  { connectionsPerHost, timeoutMs, proxy = null }: HttpClientOptions,
): Dispatcher {
  const settings = {
    connections: connectionsPerHost,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: { timeout: timeoutMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (proxy === null || LOOPBACK.test(new URL(origin).hostname)) {
    return new Agent(settings);
  }
  // Loaded only where there is a proxy, which needs all of it.
  const { EnvHttpProxyAgent } = createRequire(import.meta.url)("undici") as typeof import("undici");
  // Plain HTTP is not tunnelled: many proxies allow CONNECT for port 443 alone.
  return new EnvHttpProxyAgent({ ...settings, ...proxy, proxyTunnel: false });
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

function methodAndBody(body: PostRequest["body"]): Pick<Dispatcher.DispatchOptions, "method" | "body"> {
  return body === null ? { method: "GET", body: null } : { method: "POST", body: jsonOf(body) };
}

/** Ours win where the answer could not be read otherwise; names in lower case, so that none is sent twice. */
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

type ReplyOrFailure =
  | { readonly kind: "replied"; readonly reply: Reply }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly detail: string };

type Controller = Dispatcher.DispatchController;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Unlike a Buffer's own, this decoding takes a byte order mark off. */
const UTF8 = new TextDecoder();

/**
 * Reads one whole answer of at most `maxBytes`, as undici hands it over; lets go of the connection at the first byte beyond. With
 * `keep`, that is the limit of the lines that are kept, and of each line.
 */
class ReplyReader implements Dispatcher.DispatchHandler {
  /** Rejected with whatever ends it below HTTP. */
  readonly reply: Promise<ReplyOrFailure>;
  /** When the head of the answer came, by `performance.now()`. */
  headAtMs = Number.NaN;
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #resolve: (reply: ReplyOrFailure) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #controller: Controller | null = null;
  #isStopped = false;
  #httpStatus = 0;
  #headers: Headers = {};
  #bytes = 0;
  #readBytes = 0;
  #lines: LineFilter | null;

  constructor(maxBytes: number, keep: PostRequest["keep"]) {
    this.#maxBytes = maxBytes;
    this.#lines = keep === undefined ? null : new LineFilter(keep);
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Gives up, whether there is a connection yet or not. */
  stop(): void {
    this.#isStopped = true;
    const reason = new Error("stopped");
    this.#controller?.abort(reason);
    this.#reject(reason);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#isStopped) {
      this.stop();
    }
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    if (status < 200) {
      return;
    }
    this.headAtMs = performance.now();
    this.#httpStatus = status;
    this.#headers = headers;
    // An error says nothing in lines of metrics.
    this.#lines = status < 300 ? this.#lines : null;
    const encoding = this.#header("content-encoding")?.toLowerCase() ?? "identity";
    if (encoding !== "identity") {
      // Anything else may be a key that is echoed back, and is not to be told.
      const name = /^(gzip|x-gzip|br|deflate|zstd)$/.test(encoding) ? encoding : "of an unknown kind";
      this.#refuse("malformed", `answered with content-encoding ${name}, though none was asked for`);
    }
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#readBytes += chunk.length;
    this.#add(this.#lines?.take(chunk) ?? [chunk]);
    const excess = this.#excess();
    if (excess !== null) {
      this.#refuse("too_large", `answered with ${excess} bytes`);
    }
  }

  #add(parts: readonly Buffer[]): void {
    for (const part of parts) {
      this.#bytes += part.length;
      this.#chunks.push(part);
    }
  }

  #excess(): string | null {
    if (this.#bytes > this.#maxBytes) {
      return `more than ${this.#maxBytes}`;
    }
    if ((this.#lines?.pendingBytes ?? 0) > this.#maxBytes) {
      return `a line of more than ${this.#maxBytes}`;
    }
    return this.#lines !== null && this.#readBytes > MAX_TEXT_BYTES ? `more than ${MAX_TEXT_BYTES}` : null;
  }

  onResponseEnd(): void {
    this.#add(this.#lines?.end() ?? []);
    const [only, ...others] = this.#chunks;
    const bytes = only === undefined || others.length > 0 ? Buffer.concat(this.#chunks) : only;
    const location = this.#header("location");
    const isRedirect = this.#httpStatus >= 300 && this.#httpStatus < 400 && location !== null;
    const reply = {
      httpStatus: this.#httpStatus,
      retryAfter: this.#header("retry-after"),
      body: UTF8.decode(bytes),
      ...(isRedirect ? { location } : {}),
    };
    this.#resolve({ kind: "replied", reply });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#reject(error);
  }

  /** The first word counts: what comes of the abort is not heard any more. */
  #refuse(reason: FailureReason, detail: string): void {
    this.#resolve({ kind: "failed", reason, detail });
    this.stop();
  }

  #header(name: string): string | null {
    const value = this.#headers[name];
    return (Array.isArray(value) ? value[0] : value)?.trim() ?? null;
  }
}
