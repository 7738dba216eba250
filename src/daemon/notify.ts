import { setTimeout as sleep } from "node:timers/promises";
import type { Config, NotifySettings } from "../config/config.ts";
import { type Incident, incidentKey, type Report } from "../core/model/report.ts";
import { formatDuration } from "../core/model/text.ts";
import { createHttpClient, type HttpClient } from "../io/http-client/client.ts";
import type { ProbeResult } from "../io/http-server/routes/server-deps.ts";
import type { World } from "../io/world.ts";

/** What is told, and by whom: of several replicas the one that polls. */
export interface Watched {
  readonly config: Pick<Config, "notify" | "heartbeat">;
  readonly report: () => Report;
  readonly isPolling: () => boolean;
  readonly healthy: () => ProbeResult;
}

export interface NotifierOptions {
  readonly world: Pick<World, "build" | "logger" | "monotonicMs" | "nowMs" | "onBug" | "proxy">;
  /** The first delay before a message is sent again; each is twice the one before. Default: 1 s. */
  readonly firstDelayMs?: number;
}

/** The body of a request: docs/NOTIFY.md describes it. */
interface Message {
  readonly version: 1;
  readonly event: "incident_began" | "incident_changed" | "incident_ended";
  readonly id: string;
  readonly time: string;
  readonly text: string;
  readonly incident: Incident & { readonly target_count: number };
}

/** An incident as it was told last. */
interface Told {
  readonly incident: Incident;
  readonly atMs: number;
}

const TICK_MS = 1_000;
const TIMEOUT_MS = 10_000;
const MAX_REPLY_BYTES = 65_536;
const MAX_QUEUED = 100;
const MAX_TARGETS = 100;
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 300_000;
/** With these delays a message is given up after twenty minutes. */
const MAX_ATTEMPTS = 12;
/** What changes back and forth is told no more often. */
const CHANGE_EVERY_MS = 300_000;
/** A change of the number of targets by more than this share is told. */
const NOTABLE_SHARE = 0.25;

/** Tells a webhook of incidents, and pings a dead man's switch while polls make progress. Nothing waits for either. */
export class Notifier implements AsyncDisposable {
  /** Messages since the start. `dropped`: out of a full queue, or because there is no webhook any more. */
  readonly counts = { sent: 0, failed: 0, dropped: 0 };
  readonly #daemon: Watched;
  readonly #world: NotifierOptions["world"];
  readonly #firstDelayMs: number;
  readonly #stopping = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** The first is under way. */
  readonly #queue: Message[] = [];
  readonly #told: Map<string, Told>;
  #client: HttpClient | null = null;
  #sending: Promise<void> | null = null;
  #pinging: Promise<void> | null = null;
  #pingedMs = Number.NEGATIVE_INFINITY;
  #isPingAccepted = true;

  constructor(daemon: Watched, { world, firstDelayMs = FIRST_DELAY_MS }: NotifierOptions) {
    this.#daemon = daemon;
    this.#world = world;
    this.#firstDelayMs = firstDelayMs;
    // The process that left these incidents has told them.
    const { incidents, generated_at: time } = daemon.report();
    this.#told = new Map(incidents.map((one) => [incidentKey(one), told(one, time)]));
    this.#timer = setInterval(() => this.#pingIfDue(), TICK_MS);
  }

  /** Tells what began, changed and ended since it was told last. A replica that stands by takes it that the leader has told it. */
  note(report: Report): void {
    const messages = takeMessages(this.#told, report);
    if (!this.#daemon.isPolling() || this.#daemon.config.notify === null) {
      return;
    }
    this.#queue.push(...messages);
    if (this.#queue.length > MAX_QUEUED) {
      const dropped = this.#queue.splice(1, this.#queue.length - MAX_QUEUED).length;
      this.counts.dropped += dropped;
      this.#world.logger.warn({ dropped }, "Notifications dropped: too many wait");
    }
    if (this.#queue.length > 0) {
      this.#sending ??= this.#sendAll()
        .catch(this.#world.onBug)
        .finally(() => {
          this.#sending = null;
        });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#client?.[Symbol.asyncDispose]();
    await Promise.all([this.#sending, this.#pinging]);
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const result = await this.#send(next);
      if (this.#stopping.signal.aborted) {
        return;
      }
      this.counts[result] += 1;
      this.#queue.shift();
    }
  }

  /** Sends one message, again and again with longer and longer delays. */
  async #send(message: Message): Promise<keyof Notifier["counts"]> {
    const { logger } = this.#world;
    const { event, id } = message;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const { notify } = this.#daemon.config;
      if (notify === null) {
        return "dropped";
      }
      const { detail, isPassing } = await this.#ask(notify, { ...message });
      if (detail === null) {
        return "sent";
      }
      if (this.#stopping.signal.aborted) {
        return "failed";
      }
      if (!isPassing) {
        logger.warn({ event, id, detail }, "Notification refused");
        return "failed";
      }
      if (attempt === 1) {
        logger.warn({ event, id, detail }, "Notification not accepted yet; trying again");
      }
      await this.#pause(Math.min(this.#firstDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS));
    }
    logger.warn({ event, id }, "Notification given up");
    return "failed";
  }

  #pingIfDue(): void {
    const { heartbeat } = this.#daemon.config;
    const nowMs = this.#world.monotonicMs();
    const isDue = heartbeat !== null && nowMs - this.#pingedMs >= heartbeat.everyMs;
    if (!isDue || this.#pinging !== null || !this.#daemon.isPolling() || !this.#daemon.healthy().ok) {
      return;
    }
    this.#pingedMs = nowMs;
    this.#pinging = this.#ping(heartbeat)
      .catch(this.#world.onBug)
      .finally(() => {
        this.#pinging = null;
      });
  }

  async #ping(heartbeat: NotifySettings): Promise<void> {
    const { detail } = await this.#ask(heartbeat, null);
    const isAccepted = detail === null;
    if (isAccepted !== this.#isPingAccepted && !this.#stopping.signal.aborted) {
      this.#isPingAccepted = isAccepted;
      if (isAccepted) {
        this.#world.logger.info("Heartbeat accepted again");
      } else {
        this.#world.logger.warn({ detail }, "Heartbeat not accepted");
      }
    }
  }

  /** `detail`: why a request was not accepted, else null; `isPassing`: it may be accepted later. */
  async #ask(
    { url, headers }: NotifySettings,
    body: Readonly<Record<string, unknown>> | null,
  ): Promise<{ readonly detail: string | null; readonly isPassing: boolean }> {
    this.#client ??= createHttpClient({
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_REPLY_BYTES,
      connectionsPerHost: 1,
      userAgent: `synclag/${this.#world.build.version}`,
      nowMs: this.#world.nowMs,
      proxy: this.#world.proxy ?? null,
    });
    const result = await this.#client.post({ url, headers, body });
    if (result.kind === "failed") {
      return { detail: `${result.reason}: ${result.detail}`, isPassing: true };
    }
    const { httpStatus } = result.reply;
    const isAccepted = httpStatus >= 200 && httpStatus < 300;
    const isPassing = httpStatus >= 500 || httpStatus === 429 || httpStatus === 408;
    return { detail: isAccepted ? null : `HTTP ${httpStatus}`, isPassing };
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

/** What is to be told of a report; from then on it was told. */
function takeMessages(
  known: Map<string, Told>,
  { incidents, generated_at: time }: Report,
): readonly Message[] {
  const running = new Set(incidents.map(incidentKey));
  const messages: Message[] = [];
  for (const incident of incidents) {
    const before = known.get(incidentKey(incident));
    const event = before === undefined ? "incident_began" : "incident_changed";
    if (before === undefined || hasChanged(before, incident, Date.parse(time))) {
      known.set(incidentKey(incident), told(incident, time));
      messages.push(messageOf(event, incident, time));
    }
  }
  for (const [key, { incident }] of known) {
    if (!running.has(key)) {
      known.delete(key);
      messages.push(messageOf("incident_ended", incident, time));
    }
  }
  return messages;
}

/** Whether it is of another trouble, or has grown or shrunk by much. */
function hasChanged({ atMs, incident: before }: Told, now: Incident, nowMs: number): boolean {
  const [had, has] = [before.targets.length, now.targets.length];
  const isNotable = Math.abs(has - had) > had * NOTABLE_SHARE || withoutCounts(now) !== withoutCounts(before);
  return isNotable && nowMs - atMs >= CHANGE_EVERY_MS;
}

function withoutCounts({ detail }: Incident): string {
  return detail.replace(/^[\d,]+ of [\d,]+ /, "");
}

function told(incident: Incident, time: string): Told {
  return { incident, atMs: Date.parse(time) };
}

function messageOf(event: Message["event"], incident: Incident, time: string): Message {
  const { detail, since, targets } = incident;
  const duration = formatDuration(Date.parse(time) - Date.parse(since));
  const beginnings = {
    incident_began: "Incident began",
    incident_changed: `Incident changed after ${duration}`,
    incident_ended: `Incident ended after ${duration}`,
  };
  return {
    version: 1,
    event,
    id: `${incidentKey(incident)} ${since}`,
    time,
    text: `${beginnings[event]}: ${detail}`,
    incident: { ...incident, targets: targets.slice(0, MAX_TARGETS), target_count: targets.length },
  };
}
