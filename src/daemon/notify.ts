import { setTimeout as sleep } from "node:timers/promises";
import {
  decideMessages,
  endOf,
  type News,
  type NotifiedIncident,
  shiftNotified,
} from "../core/events/decide-messages.ts";
import type { PostRequest } from "../core/model/http-post.ts";
import type { Report } from "../core/model/report.ts";
import { stepReader } from "../io/clock-steps.ts";
import { createHttpClient, type HttpClient } from "../io/http-client/client.ts";
import type { World } from "../io/world.ts";
import { type Message, messageOf, NOTIFY_BODIES } from "../views/wording/notification.ts";
import type { Daemon } from "./daemon.ts";

type NotifyingDaemon = Pick<Daemon, "config" | "healthy" | "isPolling" | "keepNotified" | "notified">;
interface NotifyingWorld
  extends Pick<World, "build" | "logger" | "monotonicMs" | "nowMs" | "onBug" | "proxy" | "uptimeMs"> {
  /** The address of the HTTP server, once it runs. */
  readonly pageUrl: () => string;
}

const NOTHING = { news: [], notified: [] } as const;
const TICK_MS = 1_000;
/** Two connections: a ping does not wait for a message that hangs at the same host. */
const CLIENT = { timeoutMs: 10_000, maxResponseBytes: 65_536, connectionsPerHost: 2 };
const MAX_QUEUED = 100;
/** Each delay is twice the one before, up to the longest; a message is given up after about twenty minutes. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 300_000;
const MAX_ATTEMPTS = 12;

/** Posts incidents to a webhook, and pings a dead man's switch while polls make progress. Polls wait for neither. */
export class Notifier implements AsyncDisposable {
  /** Messages since the start. `dropped`: the queue was full. */
  readonly counts = { sent: 0, failed: 0, dropped: 0 };
  readonly #daemon: NotifyingDaemon;
  readonly #world: NotifyingWorld;
  readonly #readStep: () => number;
  readonly #firstDelayMs: number;
  readonly #client: HttpClient;
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  /** The incidents as this replica has reported them. If another replica leads now, that one may have reported others. */
  #notified: readonly NotifiedIncident[] = [];
  /** The first message is being sent. */
  readonly #queue: Message[] = [];
  #isSending = false;
  #pingedMs = Number.NEGATIVE_INFINITY;
  #isPingAccepted = true;

  constructor(daemon: NotifyingDaemon, world: NotifyingWorld, firstDelayMs = FIRST_DELAY_MS) {
    this.#daemon = daemon;
    this.#world = world;
    this.#readStep = stepReader(world);
    this.#firstDelayMs = firstDelayMs;
    this.#client = openNotifyClient(world);
    this.#timer = setInterval(() => void this.#pingIfDue().catch(world.onBug), TICK_MS);
  }

  /** Sends the messages that the report requires. Only the replica that polls sends messages. */
  note(report: Report): void {
    const stepMs = this.#readStep();
    if (!this.#daemon.isPolling()) {
      return;
    }
    const { notify } = this.#daemon.config;
    const before = stepMs === 0 ? this.#daemon.notified : shiftNotified(this.#daemon.notified, stepMs);
    const { news, notified } = notify === null ? NOTHING : decideMessages(before, report, notify);
    this.#daemon.keepNotified(notified);
    this.#notified = notified;
    this.#post(news, report);
  }

  /** Posts the end of incidents that this replica has posted and the present leader has not. */
  handOver(report: Report): void {
    const known = new Set(this.#daemon.notified.map(({ id }) => id));
    const own = this.#notified.filter(
      ({ ended, id, said }) => said !== "no" && ended === null && !known.has(id),
    );
    this.#notified = [];
    this.#post(own.map(endOf), report);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#queue.length = 0;
    this.#stopping.abort();
    await this.#client[Symbol.asyncDispose]();
  }

  #post(news: readonly News[], report: Report): void {
    const page = this.#daemon.config.notify?.link ?? this.#world.pageUrl();
    this.#queue.push(...news.map((one) => messageOf(one, report, page)));
    const dropped = this.#queue.splice(1, this.#queue.length - MAX_QUEUED).length;
    if (dropped > 0) {
      this.counts.dropped += dropped;
      this.#world.logger.warn({ dropped }, "Notifications dropped: too many wait");
    }
    void this.#sendAll().catch(this.#world.onBug);
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) {
      return;
    }
    this.#isSending = true;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      this.counts[(await this.#send(next)) ? "sent" : "failed"] += 1;
      this.#queue.shift();
    }
    this.#isSending = false;
  }

  /**
   * Sends a message, and repeats it while the receiver may accept it later; returns whether it was accepted. Once another
   * replica leads, only the end of an incident is still sent, because that replica may have posted newer messages.
   */
  async #send(message: Message): Promise<boolean> {
    const { event, id } = message;
    const { signal } = this.#stopping;
    const maySend = (): boolean => !signal.aborted && (this.#daemon.isPolling() || isEnd(message));
    for (let attempt = 1; maySend() && this.#daemon.config.notify !== null; attempt += 1) {
      const { chatId, format, headers, url } = this.#daemon.config.notify;
      const body = NOTIFY_BODIES[format](message, chatId);
      const { isAccepted, isTransient, detail } = await deliver(this.#client, { url, headers, body });
      if (isAccepted) {
        return true;
      }
      if (!isTransient || attempt === MAX_ATTEMPTS) {
        this.#world.logger.warn({ event, id, detail }, "Notification given up");
        break;
      }
      if (attempt === 1) {
        this.#world.logger.warn({ event, id, detail }, "Notification not accepted yet; trying again");
      }
      const delayMs = Math.min(this.#firstDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS);
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    }
    return false;
  }

  async #pingIfDue(): Promise<void> {
    const { heartbeat } = this.#daemon.config;
    const nowMs = this.#world.monotonicMs();
    const isDue = heartbeat !== null && nowMs - this.#pingedMs >= heartbeat.everyMs;
    if (!isDue || !this.#daemon.isPolling() || !this.#daemon.healthy().ok) {
      return;
    }
    this.#pingedMs = nowMs;
    const { isAccepted, detail } = await deliver(this.#client, { ...heartbeat, body: null });
    if (isAccepted !== this.#isPingAccepted && !this.#stopping.signal.aborted) {
      this.#isPingAccepted = isAccepted;
      this.#world.logger[isAccepted ? "info" : "warn"](
        { detail },
        isAccepted ? "Heartbeat ping accepted" : "Heartbeat ping failed",
      );
    }
  }
}

/** Sends a request once. `isTransient`: the same request may be accepted later. */
export async function deliver(client: HttpClient, request: PostRequest) {
  const result = await client.post(request);
  // The status alone counts: a receiver that has accepted a message may compress its reply, or break it off. 0: no reply came.
  const { httpStatus: status = 0 } = result.kind === "failed" ? result : result.reply;
  const isAccepted = status >= 200 && status < 300;
  const isTransient = status === 0 || status === 408 || status === 429 || status >= 500;
  const isSilent = result.kind === "failed" && status === 0;
  return {
    isAccepted,
    isTransient,
    detail: isSilent ? `${result.reason}: ${result.detail}` : `HTTP ${status}`,
  };
}

/** A client for messages and pings. */
export function openNotifyClient({ build, nowMs, proxy = null }: Pick<World, "build" | "nowMs" | "proxy">) {
  return createHttpClient({ ...CLIENT, userAgent: `synclag/${build.version}`, nowMs, proxy });
}

function isEnd({ event }: Message): boolean {
  return event === "incident_ended";
}
