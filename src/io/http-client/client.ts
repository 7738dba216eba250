import type { Dispatcher } from "undici";
import type { ProxySettings } from "../../config/config.ts";
import type { Post, PostRequest, PostResult } from "../../core/model/http-post.ts";
import { jsonOf, memoize } from "../../core/model/memoize.ts";
import type { PollTimes } from "../../core/model/observation.ts";
import { createDispatcher } from "./dispatcher.ts";
import { type CutOff, failureOf } from "./failure.ts";
import { ReplyReader } from "./reply-reader.ts";

export interface HttpClientOptions {
  /** One deadline over connect, headers and body. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly connectionsPerHost: number;
  readonly userAgent: string;
  readonly nowMs: () => number;
  readonly proxy?: ProxySettings | null;
}

export interface HttpClient extends AsyncDisposable {
  readonly post: Post;
  /** Has the next requests to this URL's origin open new connections; those under way keep theirs. */
  readonly renew: (url: string) => void;
}

/**
 * Shorter than the 60 s and 75 s after which the usual proxies close an idle connection (AWS' load balancers, nginx),
 * so that a poll doesn't meet one that is just being closed. A server that names a shorter time is heeded.
 */
const KEEP_ALIVE_MS = 45_000;
/** After this time new connections are opened, however busy the old ones are: the host name may lead elsewhere by now. */
const CONNECTION_LIFETIME_MS = 180_000;
/** Connections younger than this are not renewed. */
const RENEWABLE_AFTER_MS = 10_000;

/**
 * A client that keeps connections, follows no redirect, and reads a bounded answer within one deadline.
 * Disposing aborts what is under way (reason `aborted`).
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const underWay = new Set<ReplyReader>();
  const origins = createOrigins(options);
  const headersFor = memoize((headers: PostRequest["headers"]) => headersOf(headers, options.userAgent));
  const placeOf = createPlaces();
  let isDisposed = false;

  async function post({ url, headers, body }: PostRequest): Promise<PostResult> {
    const startedMs = performance.now();
    let cutOff: CutOff | null = null;
    const reader = new ReplyReader(options.maxResponseBytes);
    const deadline = setTimeout(() => {
      cutOff = "deadline";
      reader.stop();
    }, options.timeoutMs);
    underWay.add(reader);
    try {
      const { origin, path } = placeOf(url);
      // Not undici's request(): its stream and its signal for each answer cost as much as all the rest of a poll.
      origins
        .dispatcherOf(origin)
        .dispatch({ origin, path, ...methodAndBody(body), headers: headersFor(headers) }, reader);
      const reply = await reader.reply;
      // The height was read before the first byte of the answer came; a slow body says nothing about it.
      const times = timesOf(startedMs, reader.headAtMs);
      return reply.kind === "replied"
        ? { ...times, kind: "replied", reply: reply.reply }
        : { ...times, ...reply };
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

  return {
    post,
    renew: (url) => origins.renew(placeOf(url).origin),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      for (const reader of underWay) {
        reader.stop();
      }
      await origins.destroy();
    },
  };
}

interface Origins {
  readonly dispatcherOf: (origin: string) => Dispatcher;
  readonly renew: (origin: string) => void;
  readonly destroy: () => Promise<void>;
}

/** Keeps connections by origin. */
function createOrigins({ connectionsPerHost, timeoutMs, proxy = null }: HttpClientOptions): Origins {
  const known = new Map<string, { readonly dispatcher: Dispatcher; readonly openedMs: number }>();
  const retired = new Set<Dispatcher>();
  let isDestroyed = false;

  function dispatcherOf(origin: string): Dispatcher {
    renewAfter(origin, CONNECTION_LIFETIME_MS);
    const open = known.get(origin);
    if (open !== undefined) {
      return open.dispatcher;
    }
    const settings = {
      connections: connectionsPerHost,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: { timeout: timeoutMs },
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const dispatcher = createDispatcher(origin, settings, proxy);
    known.set(origin, { dispatcher, openedMs: performance.now() });
    return dispatcher;
  }

  function renewAfter(origin: string, ageMs: number): void {
    const open = known.get(origin);
    // What was destroyed cannot be closed, and is not opened anew: a poll may end after the client.
    if (!isDestroyed && open !== undefined && performance.now() - open.openedMs >= ageMs) {
      known.delete(origin);
      void retire(open.dispatcher);
    }
  }

  async function retire(dispatcher: Dispatcher): Promise<void> {
    retired.add(dispatcher);
    await dispatcher.close();
    retired.delete(dispatcher);
  }

  return {
    dispatcherOf,
    renew: (origin) => renewAfter(origin, RENEWABLE_AFTER_MS),
    async destroy() {
      isDestroyed = true;
      const open = [...known.values()].map(({ dispatcher }) => dispatcher);
      await Promise.all([...open, ...retired].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** Takes each URL apart once: those of a client are the fleet's. */
function createPlaces(): (url: string) => Place {
  const known = new Map<string, Place>();
  return (url) => {
    const place = known.get(url);
    if (place !== undefined) {
      return place;
    }
    const found = placeIn(url);
    known.set(url, found);
    return found;
  };
}

interface Place {
  readonly origin: string;
  readonly path: string;
}

function placeIn(url: string): Place {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: `${pathname}${search}` };
}

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
    // A poll's answer is small, and what is never inflated can't be a bomb.
    "accept-encoding": "identity",
  };
}
