import { type Incident, incidentKey, type Report, type TargetReport } from "../model/report.ts";
import { isoTime } from "../model/text.ts";
import { pairState, pairsOf } from "../report/pairs.ts";
import { type Event, type EventKind, eventOf } from "./event.ts";

/** How long events are kept, except events of pairs. */
const KEPT_MS = 30 * 86_400_000;
/** How long events of pairs are kept: they are few, and the public page shows 90 days. */
const PAIR_KEPT_MS = 90 * 86_400_000;
/** The most events of one subject, so that a flapping target does not displace all others. */
const MOST_OF_ONE = 500;
/** The most events in all. Beyond that the oldest tenth is dropped. */
const MOST_EVENTS = 100_000;
const PRUNE_MS = 3_600_000;
const HOUR_CHARS = "2026-11-23T18".length;

/** What happened in the last 30 days, and to pairs in the last 90. A report adds an event where it differs from the last event of a subject. */
export class EventLog {
  /** The events of each kind and subject, oldest first. */
  #bySubject = new Map<string, Event[]>();
  /** For each hour that has events, a number that rises with each change. */
  #hours = new Map<string, number>();
  #revision = 0;
  #size = 0;
  #prunedMs = Number.NEGATIVE_INFINITY;
  #pruneAt = MOST_EVENTS;
  /** The target reports of the last `note()`. Many are the same objects in the next report. */
  #noted: readonly TargetReport[] = [];
  /** Incidents that have begun and not ended, as of when they explained the most targets. */
  readonly #running = new Map<string, Pick<Event, "detail" | "targets" | "target_count">>();
  readonly #deployments = new Map<string, string>();

  get size(): number {
    return this.#size;
  }

  /**
   * Adds an event for everything that changed since the last report, and returns them. `hasAll`: every endpoint has been polled.
   * Until then `unknown` is no news.
   */
  note(report: Report, hasAll: boolean): readonly Event[] {
    const time = report.generated_at;
    const fresh = report.targets.filter((target, index) => target !== this.#noted[index]);
    const events = [
      ...this.#incidentEvents(report.incidents, time),
      ...fresh.flatMap((target) => this.#targetEvents(target, time)),
      ...this.#pairEvents(report, fresh, time),
      ...this.#parityEvents(report, time),
    ].filter(({ kind, to }) => hasAll || to !== "unknown" || (kind !== "status" && kind !== "pair"));
    for (const event of events) {
      this.add(event);
    }
    this.#noted = hasAll ? report.targets : [];
    const nowMs = Date.parse(time);
    if (Math.abs(nowMs - this.#prunedMs) >= PRUNE_MS || this.#size >= this.#pruneAt) {
      this.#prune(report, nowMs);
    }
    return events;
  }

  add(event: Event): void {
    const { kind, subject, time, to } = event;
    const own = this.#bySubject.get(`${kind} ${subject}`) ?? [];
    this.#bySubject.set(`${kind} ${subject}`, own);
    own.push(event);
    this.#size += 1;
    this.#touch(time);
    this.#drop(own, own.length - MOST_OF_ONE);
    if (kind === "incident" && to === "began") {
      this.#running.set(subject, event);
    } else if (kind === "incident") {
      this.#running.delete(subject);
    }
  }

  /** The events of one subject, the oldest first. */
  of(kind: EventKind, subject: string): readonly Event[] {
    return this.#bySubject.get(`${kind} ${subject}`) ?? [];
  }

  /** All events, the oldest first. */
  all(): readonly Event[] {
    return sorted([...this.#bySubject.values()].flat());
  }

  /** All events of a kind, the oldest first. */
  ofKind(kind: EventKind): readonly Event[] {
    return sorted([...this.#bySubject.values()].filter(([first]) => first?.kind === kind).flat());
  }

  /** The hours that have events, such as `2026-11-23T18`, each with a number that changes with them. */
  hours(): ReadonlyMap<string, number> {
    return this.#hours;
  }

  ofHour(hour: string): readonly Event[] {
    return sorted([...this.#bySubject.values()].flat().filter(({ time }) => time.startsWith(hour)));
  }

  /** Replaces the events of these hours by what another process has. */
  replaceHours(hours: ReadonlyMap<string, readonly Event[]>): void {
    const others = this.all().filter(({ time }) => !hours.has(time.slice(0, HOUR_CHARS)));
    this.restore([...others, ...[...hours.values()].flat()]);
  }

  /** Replaces all events. */
  restore(events: readonly Event[]): void {
    this.#bySubject = new Map();
    this.#hours = new Map();
    this.#running.clear();
    this.#size = 0;
    this.#noted = [];
    for (const event of sorted(events)) {
      this.add(event);
    }
  }

  #touch(time: string): void {
    this.#revision += 1;
    this.#hours.set(time.slice(0, HOUR_CHARS), this.#revision);
  }

  /** Drops the oldest events of a subject. */
  #drop(own: Event[], count: number): void {
    for (const { time } of own.splice(0, count)) {
      this.#size -= 1;
      this.#touch(time);
    }
  }

  /** An event with a subject's new state; none if it has that state already. Without an event its state is `first`. */
  #change(
    event: Pick<Event, "time" | "kind" | "subject" | "to">,
    first: string,
    more?: Partial<Pick<TargetReport, "detail" | "lag_seconds">>,
  ): readonly Event[] {
    const from = this.of(event.kind, event.subject).at(-1)?.to ?? first;
    // The detail of a target is made when it is read.
    return from === event.to
      ? []
      : [eventOf({ ...event, from, detail: more?.detail ?? null, lag_seconds: more?.lag_seconds ?? null })];
  }

  #targetEvents(target: TargetReport, time: string): readonly Event[] {
    const { key: subject, status: to, deployment } = target;
    const statuses = this.#change({ time, kind: "status", subject, to }, "unknown", target);
    if (deployment === null) {
      return statuses;
    }
    const first = this.#deployments.get(subject) ?? deployment;
    this.#deployments.set(subject, first);
    return [...statuses, ...this.#change({ time, kind: "deployment", subject, to: deployment }, first)];
  }

  #pairEvents(report: Report, fresh: readonly TargetReport[], time: string): readonly Event[] {
    const chains = new Set(fresh.map(({ chain }) => chain));
    const targets = report.targets.filter(({ chain }) => chains.has(chain));
    return pairsOf(report, targets).flatMap((pair) => {
      const subject = `${pair.protocol}/${pair.chain.slug}`;
      return this.#change({ time, kind: "pair", subject, to: pairState(pair) }, "unknown");
    });
  }

  /** A comparison that is temporarily unknown is no event. */
  #parityEvents({ parity }: Report, time: string): readonly Event[] {
    return parity.flatMap(({ probe, key, against_key, result: to, detail }) => {
      const subject = `${probe} ${key} ${against_key}`;
      return to === "unknown" ? [] : this.#change({ time, kind: "parity", subject, to }, "equal", { detail });
    });
  }

  #incidentEvents(incidents: readonly Incident[], time: string): readonly Event[] {
    const now = new Map(incidents.map((incident) => [incidentKey(incident), incident]));
    const events: Event[] = [];
    for (const [subject, incident] of now) {
      const { detail, since, targets } = incident;
      const known = this.#running.get(subject);
      const event = { time: since, kind: "incident", subject, to: "began", detail } as const;
      const widest = eventOf({ ...event, targets: [...targets], target_count: targets.length });
      if (known === undefined) {
        events.push(widest);
      } else if (targets.length >= known.target_count) {
        this.#running.set(subject, widest);
      }
    }
    for (const [subject, { detail, targets, target_count }] of this.#running) {
      if (!now.has(subject)) {
        events.push(eventOf({ time, kind: "incident", subject, to: "ended", detail, targets, target_count }));
      }
    }
    return events;
  }

  /** Drops events that are too old or too many. The last event of a configured subject stays: it is its present state. */
  #prune({ targets }: Report, nowMs: number): void {
    const configured = new Set(targets.flatMap(({ key, protocol, chain }) => [key, `${protocol}/${chain}`]));
    const excess = this.#size < MOST_EVENTS ? 0 : Math.floor(this.#size - MOST_EVENTS * 0.9);
    const leastMs = excess === 0 ? -Infinity : Date.parse(this.all()[excess]?.time ?? "");
    for (const [key, own] of this.#bySubject) {
      const [{ kind, subject } = { kind: "status", subject: "" }] = own;
      const fromMs = Math.max(nowMs - (kind === "pair" ? PAIR_KEPT_MS : KEPT_MS), leastMs);
      this.#drop(own, countBefore(own, isoTime(fromMs), configured.has(subject)));
      if (own.length === 0) {
        this.#bySubject.delete(key);
      }
    }
    const left = new Set([...this.#bySubject.values()].flat().map(({ time }) => time.slice(0, HOUR_CHARS)));
    this.#hours = new Map([...this.#hours].filter(([hour]) => left.has(hour)));
    this.#prunedMs = nowMs;
    this.#pruneAt = Math.max(MOST_EVENTS, this.#size * 1.1);
  }
}

/** How many events of one subject can be dropped. The last one before `time` stays: it is the state at that time. */
function countBefore(own: readonly Event[], time: string, isConfigured: boolean): number {
  const first = own.findIndex((event, index) => (own[index + 1]?.time ?? event.time) >= time);
  return first >= 0 ? first : own.length - Number(isConfigured);
}

/** By time. Events of the same moment keep their order. */
function sorted(events: readonly Event[]): readonly Event[] {
  return events.toSorted((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));
}
