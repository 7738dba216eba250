import { type Incident, incidentKey, type Report, type TargetReport } from "../model/report.ts";
import { isoTime } from "../model/text.ts";
import { type PairState, pairState, pairsOf } from "../report/pairs.ts";
import { EVENT_KINDS, type Event, type EventKind, eventOf } from "./event.ts";

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

/** Every target that an incident has explained, and its detail when it explained the most. */
interface RunningIncident {
  readonly detail: string | null;
  readonly targets: readonly string[];
  readonly most?: number;
}

/** What happened in the last 30 days, and to pairs in the last 90. A report adds an event where it differs from the last event of a subject. */
export class EventLog {
  /** The events of each kind and subject, oldest first. */
  #byKind = noEvents();
  /** For each hour that has events: how many, and a revision that rises with each change. */
  #hours = new Map<string, { count: number; revision: number }>();
  #revision = 0;
  #count = 0;
  #prunedMs = Number.NEGATIVE_INFINITY;
  #pruneAt = MOST_EVENTS;
  /** The target reports of the last `note()`. Many are the same objects in the next report. */
  #noted: readonly TargetReport[] = [];
  /** Incidents that have begun and not ended. */
  readonly #running = new Map<string, RunningIncident>();
  readonly #deployments = new Map<string, string>();

  get size(): number {
    return this.#count;
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
    this.#prune(report);
    return events;
  }

  add(event: Event): void {
    const subjects = this.#byKind[event.kind];
    const own = subjects.get(event.subject) ?? [];
    subjects.set(event.subject, own);
    own.push(event);
    if (event.kind === "incident" && event.to === "began") {
      this.#running.set(event.subject, event);
    } else if (event.kind === "incident") {
      this.#running.delete(event.subject);
    }
    this.#tally([event], 1);
    this.#tally(own.splice(0, own.length - MOST_OF_ONE), -1);
  }

  /** The events of one subject, the oldest first. */
  of(kind: EventKind, subject: string): readonly Event[] {
    return this.#byKind[kind].get(subject) ?? [];
  }

  /** All events, the oldest first. */
  all(): readonly Event[] {
    return sorted(EVENT_KINDS.flatMap((kind) => [...this.#byKind[kind].values()].flat()));
  }

  /** All events of a kind, the oldest first. */
  ofKind(kind: EventKind): readonly Event[] {
    return sorted([...this.#byKind[kind].values()].flat());
  }

  /** The hours that have events, such as `2026-11-23T18`, each with a number that changes with them. */
  hours(): ReadonlyMap<string, number> {
    return new Map([...this.#hours].map(([hour, { revision }]) => [hour, revision]));
  }

  ofHour(hour: string): readonly Event[] {
    const ofAll = EVENT_KINDS.flatMap((kind) => [...this.#byKind[kind].values()].flat());
    return sorted(ofAll.filter(({ time }) => time.startsWith(hour)));
  }

  /** Replaces the events of these hours by what another process has. */
  replaceHours(hours: ReadonlyMap<string, readonly Event[]>): void {
    const others = this.all().filter(({ time }) => !hours.has(time.slice(0, HOUR_CHARS)));
    this.restore([...others, ...[...hours.values()].flat()]);
  }

  /** Replaces all events. */
  restore(events: readonly Event[]): void {
    this.#byKind = noEvents();
    this.#hours = new Map();
    this.#running.clear();
    this.#count = 0;
    for (const event of sorted(events)) {
      this.add(event);
    }
    this.#noted = [];
  }

  /** Counts events that were added (1) or dropped (-1). */
  #tally(events: readonly Event[], by: 1 | -1): void {
    this.#count += by * events.length;
    for (const { time } of events) {
      const hour = time.slice(0, HOUR_CHARS);
      const count = (this.#hours.get(hour)?.count ?? 0) + by;
      this.#revision += 1;
      if (count > 0) {
        this.#hours.set(hour, { count, revision: this.#revision });
      } else {
        this.#hours.delete(hour);
      }
    }
  }

  #last(kind: EventKind, subject: string): Event | undefined {
    return this.of(kind, subject).at(-1);
  }

  #targetEvents(target: TargetReport, time: string): readonly Event[] {
    const { key, status, deployment, lag_seconds } = target;
    const from = this.#last("status", key)?.to ?? "unknown";
    const former = this.#deployments.get(key) ?? this.#last("deployment", key)?.to;
    if (deployment !== null) {
      this.#deployments.set(key, deployment);
    }
    return [
      from === status
        ? []
        : eventOf({
            time,
            kind: "status",
            subject: key,
            from,
            to: status,
            detail: target.detail,
            lag_seconds,
          }),
      deployment === null || former === undefined || former === deployment
        ? []
        : eventOf({ time, kind: "deployment", subject: key, from: former, to: deployment }),
    ].flat();
  }

  #pairEvents(report: Report, fresh: readonly TargetReport[], time: string): readonly Event[] {
    const chains = new Set(fresh.map(({ chain }) => chain));
    const targets = report.targets.filter(({ chain }) => chains.has(chain));
    return pairsOf(report, targets).flatMap((pair) => {
      const subject = `${pair.protocol}/${pair.chain.slug}`;
      const from = this.#last("pair", subject)?.to ?? ("unknown" satisfies PairState);
      const to = pairState(pair);
      return from === to ? [] : eventOf({ time, kind: "pair", subject, from, to });
    });
  }

  #incidentEvents(incidents: readonly Incident[], time: string): readonly Event[] {
    const now = new Map(incidents.map((incident) => [incidentKey(incident), incident]));
    const ended = [...this.#running].filter(([subject]) => !now.has(subject));
    return [
      ...[...now].flatMap(([subject, incident]) => {
        const known = this.#running.get(subject);
        if (known !== undefined) {
          this.#running.set(subject, widened(known, incident));
          return [];
        }
        return incidentEvent(incident.since, subject, "began", incident);
      }),
      ...ended.map(([subject, widest]) => incidentEvent(time, subject, "ended", widest)),
    ];
  }

  /** A comparison that is temporarily unknown is no event. */
  #parityEvents({ parity }: Report, time: string): readonly Event[] {
    return parity.flatMap(({ probe, key, against_key, result, detail }) => {
      const subject = `${probe} ${key} ${against_key}`;
      const from = this.#last("parity", subject)?.to ?? "equal";
      return result === "unknown" || result === from
        ? []
        : eventOf({ time, kind: "parity", subject, from, to: result, detail });
    });
  }

  /** Drops events that are too old or too many. The last event of a configured subject stays: it is its present state. */
  #prune(report: Report): void {
    const nowMs = Date.parse(report.generated_at);
    if (Math.abs(nowMs - this.#prunedMs) < PRUNE_MS && this.#count < this.#pruneAt) {
      return;
    }
    this.#prunedMs = nowMs;
    const leastMs = this.#leastKeptMs();
    const configured = new Set(
      report.targets.flatMap(({ key, protocol, chain }) => [key, `${protocol}/${chain}`]),
    );
    for (const kind of EVENT_KINDS) {
      const fromTime = isoTime(Math.max(nowMs - (kind === "pair" ? PAIR_KEPT_MS : KEPT_MS), leastMs));
      for (const [subject, own] of this.#byKind[kind]) {
        this.#tally(own.splice(0, countDropped(own, fromTime, configured.has(subject))), -1);
        if (own.length === 0) {
          this.#byKind[kind].delete(subject);
        }
      }
    }
    this.#pruneAt = Math.max(MOST_EVENTS, this.#count * 1.1);
  }

  /** Where events are too many, the time before which they are dropped. */
  #leastKeptMs(): number {
    if (this.#count < MOST_EVENTS) {
      return Number.NEGATIVE_INFINITY;
    }
    return Date.parse(this.all()[Math.floor(this.#count - MOST_EVENTS * 0.9)]?.time ?? "");
  }
}

/** How many events of one subject can be dropped. The last one before `fromTime` stays: it is the state at that time. */
function countDropped(own: readonly Event[], fromTime: string, isConfigured: boolean): number {
  const first = own.findIndex((event, index) => (own[index + 1]?.time ?? event.time) >= fromTime);
  return first >= 0 ? first : own.length - Number(isConfigured);
}

function noEvents(): Readonly<Record<EventKind, Map<string, Event[]>>> {
  return {
    status: new Map(),
    pair: new Map(),
    incident: new Map(),
    parity: new Map(),
    deployment: new Map(),
    process: new Map(),
  };
}

function incidentEvent(
  time: string,
  subject: string,
  to: "began" | "ended",
  { detail, targets }: RunningIncident,
): Event {
  const event = { time, kind: "incident", subject, to, detail } as const;
  return eventOf({ ...event, targets: [...targets], target_count: targets.length });
}

function widened(known: RunningIncident, { detail, targets }: Incident): RunningIncident {
  const { most = known.targets.length } = known;
  const isWider = targets.length >= most;
  return {
    detail: isWider ? detail : known.detail,
    targets: [...new Set([...known.targets, ...targets])],
    most: Math.max(most, targets.length),
  };
}

/** By time. Events of the same moment keep their order. */
function sorted(events: readonly Event[]): readonly Event[] {
  return events.toSorted((a, b) => (a.time < b.time ? -1 : Number(a.time > b.time)));
}
