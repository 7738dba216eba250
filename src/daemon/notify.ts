import { setTimeout as sleep } from "node:timers/promises";
import type { PostRequest } from "../core/model/http-post.ts";
import { type Incident, incidentKey, type Report } from "../core/model/report.ts";
import { formatDuration } from "../core/model/text.ts";
import { createHttpClient, type HttpClient } from "../io/http-client/client.ts";
import type { World } from "../io/world.ts";
import type { Daemon } from "./daemon.ts";

interface Told {
  readonly incident: Incident;
  readonly atMs: number;
}

type Message = ReturnType<typeof messageOf>;

const TICK_MS = 1_000;
const CLIENT = { timeoutMs: 10_000, maxResponseBytes: 65_536, connectionsPerHost: 1 };
const MAX_QUEUED = 100;
const MAX_TARGETS = 100;
/** Each delay is twice the one before; a message is given up after about twenty minutes. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 300_000;
const MAX_ATTEMPTS = 12;
/** The shortest time between two messages about the same running incident. */
const CHANGE_EVERY_MS = 300_000;
/** A message is sent when the number of targets changes by more than this share. */
const NOTABLE_SHARE = 0.25;

/** Posts incidents to a webhook, and pings a dead man's switch while polls make progress. Polls wait for neither. */
export class Notifier implements AsyncDisposable {
  /** Messages since the start. `dropped`: the queue was full. */
  readonly counts = { sent: 0, failed: 0, dropped: 0 };
  readonly #daemon: Pick<Daemon, "config" | "healthy" | "isPolling">;
  readonly #world: Pick<World, "logger" | "monotonicMs" | "onBug">;
  readonly #firstDelayMs: number;
  readonly #client: HttpClient;
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  readonly #told: Map<string, Told>;
  /** The first message is being sent. */
  readonly #queue: Message[] = [];
  #isSending = false;
  #pingedMs = Number.NEGATIVE_INFINITY;
  #isPingAccepted = true;

  constructor(
    daemon: Pick<Daemon, "config" | "healthy" | "isPolling" | "report">,
    world: Pick<World, "build" | "logger" | "monotonicMs" | "nowMs" | "onBug" | "proxy">,
    firstDelayMs = FIRST_DELAY_MS,
  ) {
    this.#daemon = daemon;
    this.#world = world;
    this.#firstDelayMs = firstDelayMs;
    const { build, nowMs, proxy = null } = world;
    this.#client = createHttpClient({ ...CLIENT, userAgent: `synclag/${build.version}`, nowMs, proxy });
    // The previous process has posted these incidents.
    const { incidents, generated_at: time } = daemon.report();
    const atMs = Date.parse(time);
    this.#told = new Map(incidents.map((incident) => [incidentKey(incident), { incident, atMs }]));
    this.#timer = setInterval(() => void this.#pingIfDue().catch(world.onBug), TICK_MS);
  }

  /** Sends what began, changed or ended since the last report. Only the replica that polls sends anything. */
  note(report: Report): void {
    const messages = takeMessages(this.#told, report);
    if (!this.#daemon.isPolling() || this.#daemon.config.notify === null) {
      return;
    }
    this.#queue.push(...messages);
    const dropped = this.#queue.splice(1, this.#queue.length - MAX_QUEUED).length;
    if (dropped > 0) {
      this.counts.dropped += dropped;
      this.#world.logger.warn({ dropped }, "Notifications dropped: too many wait");
    }
    void this.#sendAll().catch(this.#world.onBug);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#queue.length = 0;
    this.#stopping.abort();
    await this.#client[Symbol.asyncDispose]();
  }

  async #sendAll(): Promise<void> {
    if (this.#isSending) {
      return;
    }
    this.#isSending = true;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      this.counts[await this.#send(next)] += 1;
      this.#queue.shift();
    }
    this.#isSending = false;
  }

  /** Sends one message; retries while the receiver may accept it later. */
  async #send(message: Message): Promise<"sent" | "failed"> {
    const { event, id } = message;
    const { signal } = this.#stopping;
    for (let attempt = 1; !signal.aborted && this.#daemon.config.notify !== null; attempt += 1) {
      const { status, detail } = await this.#ask({ ...this.#daemon.config.notify, body: message });
      if (isAccepted(status)) {
        return "sent";
      }
      const isPassing = status === 0 || status === 408 || status === 429 || status >= 500;
      if (!isPassing || attempt === MAX_ATTEMPTS) {
        this.#world.logger.warn({ event, id, detail }, "Notification given up");
        break;
      }
      if (attempt === 1) {
        this.#world.logger.warn({ event, id, detail }, "Notification not accepted yet; trying again");
      }
      const delayMs = Math.min(this.#firstDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS);
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    }
    return "failed";
  }

  async #pingIfDue(): Promise<void> {
    const { heartbeat } = this.#daemon.config;
    const nowMs = this.#world.monotonicMs();
    const isDue = heartbeat !== null && nowMs - this.#pingedMs >= heartbeat.everyMs;
    if (!isDue || !this.#daemon.isPolling() || !this.#daemon.healthy().ok) {
      return;
    }
    this.#pingedMs = nowMs;
    const { status, detail } = await this.#ask({ ...heartbeat, body: null });
    if (isAccepted(status) !== this.#isPingAccepted && !this.#stopping.signal.aborted) {
      this.#isPingAccepted = !this.#isPingAccepted;
      const level = this.#isPingAccepted ? "info" : "warn";
      this.#world.logger[level]({ detail }, "The reply to the heartbeat changed");
    }
  }

  /** The status of the reply, or 0 and the reason. */
  async #ask(request: PostRequest): Promise<{ readonly status: number; readonly detail: string }> {
    const result = await this.#client.post(request);
    return result.kind === "failed"
      ? { status: 0, detail: `${result.reason}: ${result.detail}` }
      : { status: result.reply.httpStatus, detail: `HTTP ${result.reply.httpStatus}` };
  }
}

function isAccepted(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The messages that a report calls for; marks them as sent. */
function takeMessages(
  told: Map<string, Told>,
  { incidents, generated_at: time }: Report,
): readonly Message[] {
  const atMs = Date.parse(time);
  const messages: Message[] = [];
  for (const incident of incidents) {
    const key = incidentKey(incident);
    const before = told.get(key);
    if (before === undefined || hasChanged(before, incident, atMs)) {
      told.set(key, { incident, atMs });
      messages.push(messageOf(before === undefined ? "began" : "changed", incident, time));
    }
  }
  const running = new Set(incidents.map(incidentKey));
  for (const [key, { incident }] of told) {
    if (!running.has(key)) {
      told.delete(key);
      messages.push(messageOf("ended", incident, time));
    }
  }
  return messages;
}

/** Whether the trouble or the number of targets has changed notably. */
function hasChanged({ atMs, incident: before }: Told, now: Incident, nowMs: number): boolean {
  const [had, has] = [before.targets.length, now.targets.length];
  const troubleOf = ({ detail }: Incident) => detail.replace(/^[\d,]+ of [\d,]+ /, "");
  const isNotable = Math.abs(has - had) > had * NOTABLE_SHARE || troubleOf(now) !== troubleOf(before);
  return isNotable && nowMs - atMs >= CHANGE_EVERY_MS;
}

/** The body of a request, which docs/NOTIFY.md describes. */
function messageOf(what: "began" | "changed" | "ended", incident: Incident, time: string) {
  const { detail, since, targets } = incident;
  const after = what === "began" ? "" : ` after ${formatDuration(Date.parse(time) - Date.parse(since))}`;
  return {
    version: 1,
    event: `incident_${what}`,
    id: `${incidentKey(incident)} ${since}`,
    time,
    text: `Incident ${what}${after}: ${detail}`,
    incident: { ...incident, targets: targets.slice(0, MAX_TARGETS), target_count: targets.length },
  };
}
