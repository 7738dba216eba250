import { setTimeout as sleep } from "node:timers/promises";
import type { PostRequest } from "../core/model/http-post.ts";
import { type Incident, type IncidentKind, incidentKey, type Report } from "../core/model/report.ts";
import { formatDuration } from "../core/model/text.ts";
import { createHttpClient, type HttpClient } from "../io/http-client/client.ts";
import type { World } from "../io/world.ts";
import type { Daemon } from "./daemon.ts";

type NotifyingDaemon = Pick<Daemon, "config" | "healthy" | "isPolling" | "report">;
type NotifyingWorld = Pick<World, "build" | "logger" | "monotonicMs" | "nowMs" | "onBug" | "proxy">;
type Message = ReturnType<typeof messageOf>;

/** What was said last of a running incident, and when. */
interface Told {
  readonly incident: Incident;
  readonly time: string;
}

const TICK_MS = 1_000;
/** Two connections: a ping does not wait for a message that hangs at the same host. */
const CLIENT = { timeoutMs: 10_000, maxResponseBytes: 65_536, connectionsPerHost: 2 };
const MAX_QUEUED = 100;
const MAX_TARGETS = 100;
/** Each delay is twice the one before; a message is given up after about twenty minutes. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 300_000;
const MAX_ATTEMPTS = 12;
/** The shortest time between two messages about the same running incident. */
const CHANGE_EVERY_MS = 300_000;
/** A single target would be told again with each fault of it. */
const POSTED: ReadonlySet<IncidentKind> = new Set(["cause", "pair"]);
/** A message is sent when the number of targets changes by more than this share. */
const NOTABLE_SHARE = 0.25;

/** Posts incidents to a webhook, and pings a dead man's switch while polls make progress. Polls wait for neither. */
export class Notifier implements AsyncDisposable {
  /** Messages since the start. `dropped`: the queue was full. */
  readonly counts = { sent: 0, failed: 0, dropped: 0 };
  readonly #daemon: NotifyingDaemon;
  readonly #world: NotifyingWorld;
  readonly #firstDelayMs: number;
  readonly #client: HttpClient;
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  readonly #told = new Map<string, Told>();
  /** The first message is being sent. */
  readonly #queue: Message[] = [];
  #isSending = false;
  #pingedMs = Number.NEGATIVE_INFINITY;
  #isPingAccepted = true;

  constructor(daemon: NotifyingDaemon, world: NotifyingWorld, firstDelayMs = FIRST_DELAY_MS) {
    this.#daemon = daemon;
    this.#world = world;
    this.#firstDelayMs = firstDelayMs;
    const { build, nowMs, proxy = null } = world;
    this.#client = createHttpClient({ ...CLIENT, userAgent: `synclag/${build.version}`, nowMs, proxy });
    // The previous process has posted the incidents that run.
    takeMessages(this.#told, daemon.report());
    this.#timer = setInterval(() => void this.#pingIfDue().catch(world.onBug), TICK_MS);
  }

  /** Sends what began, changed or ended since the last report. Only the replica that polls sends anything. */
  note(report: Report): void {
    const messages = takeMessages(this.#told, report);
    if (this.#daemon.isPolling()) {
      this.#post(messages);
    }
  }

  /** Posts the end of incidents that the report of another leader does not have: only this replica has posted them. */
  handOver(report: Report): void {
    this.#post(takeMessages(this.#told, report).filter(isEnd));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#queue.length = 0;
    this.#stopping.abort();
    await this.#client[Symbol.asyncDispose]();
  }

  #post(messages: readonly Message[]): void {
    if (this.#daemon.config.notify === null) {
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
   * Whether a message was accepted; it is sent again while the receiver may accept it later. Once another replica leads, which may
   * have posted more, only the end of an incident is sent again.
   */
  async #send(body: Message): Promise<boolean> {
    const { event, id } = body;
    const { signal } = this.#stopping;
    const maySend = (): boolean => !signal.aborted && (this.#daemon.isPolling() || isEnd(body));
    for (let attempt = 1; maySend() && this.#daemon.config.notify !== null; attempt += 1) {
      const { isAccepted, isPassing, detail } = await this.#ask({ ...this.#daemon.config.notify, body });
      if (isAccepted) {
        return true;
      }
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
    const { isAccepted, detail } = await this.#ask({ ...heartbeat, body: null });
    if (isAccepted !== this.#isPingAccepted && !this.#stopping.signal.aborted) {
      this.#isPingAccepted = isAccepted;
      this.#world.logger[isAccepted ? "info" : "warn"]({ detail }, "The reply to the heartbeat changed");
    }
  }

  /** `isPassing`: the same request may be accepted later. */
  async #ask(request: PostRequest) {
    const result = await this.#client.post(request);
    // The status alone counts: a receiver that has accepted a message may compress its reply, or break it off. 0: none came.
    const { httpStatus: status = 0 } = result.kind === "failed" ? result : result.reply;
    const isAccepted = status >= 200 && status < 300;
    const isPassing = status === 0 || status === 408 || status === 429 || status >= 500;
    const isSilent = result.kind === "failed" && status === 0;
    return {
      isAccepted,
      isPassing,
      detail: isSilent ? `${result.reason}: ${result.detail}` : `HTTP ${status}`,
    };
  }
}

/** The messages that a report calls for; marks them as sent. While all targets of an incident are in maintenance, only its end is posted. */
function takeMessages(told: Map<string, Told>, { incidents, targets, generated_at: time }: Report) {
  const messages: Message[] = [];
  const running = new Set(incidents.map(idOf));
  const planned = new Set(targets.filter(({ maintenance }) => maintenance).map(({ key }) => key));
  for (const incident of incidents
    .filter(({ kind }) => POSTED.has(kind))
    .filter((one) => one.targets.some((key) => !planned.has(key)))) {
    const before = told.get(idOf(incident));
    if (before === undefined || hasChanged(before, incident, time)) {
      told.set(idOf(incident), { incident, time });
      messages.push(messageOf(before === undefined ? "began" : "changed", incident, time));
    }
  }
  for (const [id, { incident }] of told) {
    if (!running.has(id)) {
      told.delete(id);
      messages.push(messageOf("ended", incident, time));
    }
  }
  return messages;
}

/** Differs for each incident, also of the same host. */
function idOf(incident: Incident): string {
  return `${incidentKey(incident)} ${incident.since}`;
}

function isEnd({ event }: Message): boolean {
  return event === "incident_ended";
}

/** Whether the trouble or the number of targets has changed notably. */
function hasChanged(before: Told, now: Incident, time: string): boolean {
  const [had, has] = [before.incident.targets.length, now.targets.length];
  const troubleOf = ({ detail }: Incident) => detail.replaceAll(/^[\d,]+ of [\d,]+ | on [^:]*$/g, "");
  const isOther = troubleOf(now) !== troubleOf(before.incident);
  const isNotable = isOther || Math.abs(has - had) > had * NOTABLE_SHARE;
  return isNotable && Date.parse(time) - Date.parse(before.time) >= CHANGE_EVERY_MS;
}

/** The body of a request, which docs/NOTIFY.md describes. */
function messageOf(what: "began" | "changed" | "ended", incident: Incident, time: string) {
  const { detail, since, targets } = incident;
  const after = what === "began" ? "" : ` after ${formatDuration(Date.parse(time) - Date.parse(since))}`;
  return {
    version: 1,
    event: `incident_${what}`,
    id: idOf(incident),
    time,
    text: `Incident ${what}${after}: ${detail}`,
    incident: { ...incident, targets: targets.slice(0, MAX_TARGETS), target_count: targets.length },
  };
}
