import { DAY_MS, HOUR_MS, MINUTE_MS } from "../model/durations.ts";
import { type Incident, incidentKey, type Report, type TargetReport } from "../model/report.ts";
import { isoTime } from "../model/text.ts";
import { pairState, pairsOf } from "../report/pairs.ts";
import { type Event, type EventKind, eventOf } from "./event.ts";
import { unwatchedIntervals, watchedSinceMs } from "./unwatched.ts";

/**
 * Events are kept for this much watched time. Those of pairs are kept for longer: they are few, and the public page shows 90
 * days.
 */
const KEPT_MS = 30 * DAY_MS;
const PAIR_KEPT_MS = 3 * KEPT_MS;
/** The most events of one subject, so that a flapping target does not displace all others. */
const MOST_OF_ONE = 500;
/** Two deployments alternate if one returns within this time. If one replies alone for this time, they no longer alternate. */
const STAYS_MS = HOUR_MS;
const IN_TURNS = " in turns";
/** The most events in all. Beyond that the oldest tenth is dropped. */
const MOST_EVENTS = 100_000;

/**
 * The events of the last 30 days, and of pairs of the last 90. A report adds an event for each subject whose state differs from
 * its last event.
 */
export class EventLog {
  /** The events of each kind and subject, the oldest first. */
  readonly #lists = new Map<string, Event[]>();
  /** When old events were last dropped; null: not yet. */
  #prunedMs: number | null = null;
  /** When this process began to add events, by its present clock; null: it adds none. */
  #begunMs: number | null = null;
  /** The events that this process has added. */
  #own = new WeakSet<Event>();
  /** The originals of events of other processes that were moved back to the beginning of this process. */
  #originals = new WeakMap<Event, Event>();
  /** The target reports of the last `note()`. Many are the same objects in the next report. */
  #noted: readonly TargetReport[] = [];
  /** When the deployment of a target last changed, by its key. */
  readonly #turnedMs = new Map<string, number>();
  /** The `began` event of each running incident, with the most targets that the incident has explained. */
  readonly #running = new Map<string, Event>();

  get size(): number {
    return [...this.#lists.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** The events of each kind and subject, the oldest first. */
  get lists(): ReadonlyMap<string, readonly Event[]> {
    return this.#lists;
  }

  /** All events, with the times that their processes gave them. The events of one subject are in order. */
  get originals(): readonly Event[] {
    return [...this.#lists.values()].flatMap((own) =>
      own.map((event) => this.#originals.get(event) ?? event),
    );
  }

  /** The events of one subject, the oldest first. */
  of(kind: EventKind, subject: string): readonly Event[] {
    return this.#lists.get(`${kind} ${subject}`) ?? [];
  }

  /** All events, or those of one kind, the oldest first. */
  all(kind?: EventKind): readonly Event[] {
    return inTimeOrder(
      [...this.#lists.values()].filter(([one]) => kind === undefined || one?.kind === kind).flat(),
    );
  }

  /**
   * Adds an event for everything that changed since the last report, and returns these events. `areAllPolled`: every endpoint has
   * been polled. Until then `unknown` is not news.
   */
  note(report: Report, areAllPolled: boolean): readonly Event[] {
    const { generated_at: time, incidents, parity, targets } = report;
    const former = this.#noted;
    const statuses: Event[] = [];
    const chains = new Set<string>();
    targets.forEach((target, index) => {
      if (target !== former[index]) {
        chains.add(target.chain);
        statuses.push(...this.#targetEvents(target, former[index], time));
      }
    });
    const ofChains = targets.filter(({ chain }) => chains.has(chain));
    const events = [
      ...this.#incidentEvents(incidents, time),
      ...statuses,
      ...this.#removalEvents(targets, time),
      ...pairsOf(report, ofChains).flatMap((pair) => {
        const subject = `${pair.protocol}/${pair.chain.slug}`;
        return this.#change({ time, kind: "pair", subject, to: pairState(pair) }, "unknown");
      }),
      // A comparison that is temporarily unknown is not an event.
      ...parity.flatMap(({ probe, key, against_key, result: to, detail }) => {
        const subject = `${probe} ${key} ${against_key}`;
        return to === "unknown"
          ? []
          : this.#change({ time, kind: "parity", subject, to }, "equal", { detail });
      }),
    ].filter(({ kind, to }) => areAllPolled || to !== "unknown" || (kind !== "status" && kind !== "pair"));
    for (const event of events) {
      this.add(event);
    }
    this.#noted = areAllPolled ? targets : [];
    this.#prune(targets, time);
    return events;
  }

  /** From now on this process adds events. */
  begin(nowMs: number): void {
    this.#begunMs = nowMs;
    this.#own = new WeakSet();
    this.#redate(0);
  }

  /**
   * Follows a step of the wall clock: the events of this process keep their age. Events of other processes keep their times,
   * because it is unknown whose clock was right. But an event that is dated after this process began would hide all later
   * events. So it is moved back to that moment, and returns to its own time when the clock steps forward.
   */
  shift(stepMs: number): void {
    if (this.#begunMs !== null) {
      this.#begunMs += stepMs;
      this.#redate(stepMs);
    }
    for (const [subject, turnedMs] of this.#turnedMs) {
      this.#turnedMs.set(subject, turnedMs + stepMs);
    }
  }

  #redate(stepMs: number): void {
    const begun = isoTime(this.#begunMs ?? 0);
    for (const [name, list] of this.#lists) {
      let next = begun;
      const dated = list.toReversed().map((event) => {
        if (this.#own.has(event)) {
          const moved = shifted(event, stepMs);
          this.#own.add(moved);
          return moved;
        }
        const original = this.#originals.get(event) ?? event;
        next = original.time > begun ? next : original.time;
        if (next === original.time) {
          return original;
        }
        const clipped = eventOf({ ...original, time: next });
        this.#originals.set(clipped, original);
        return clipped;
      });
      this.#lists.set(name, dated.toReversed());
    }
  }

  add(event: Event): void {
    this.#own.add(event);
    this.#insert(event);
  }

  #insert(event: Event): void {
    const { kind, subject, to } = event;
    const own = this.#lists.get(nameOf(event));
    if (own === undefined) {
      // Many subjects have one event for days, and `push` reserves memory for 17.
      this.#lists.set(nameOf(event), [event]);
    } else {
      own.push(event);
      own.splice(0, own.length - MOST_OF_ONE);
    }
    if (kind === "incident" && to === "began") {
      this.#running.set(subject, event);
    } else if (kind === "incident") {
      this.#running.delete(subject);
    }
  }

  /** Replaces all events of the subjects of these events. */
  replace(events: readonly Event[]): void {
    for (const event of events) {
      this.#lists.set(nameOf(event), []);
    }
    for (const event of events) {
      this.#insert(event);
    }
    this.#noted = [];
  }

  /**
   * An event for the new state of a subject; none if its state is the same. The state of a subject without events is `first`.
   */
  #change(
    event: Pick<Event, "time" | "kind" | "subject" | "to">,
    first: string,
    more?: Partial<Pick<TargetReport, "detail" | "lag_seconds">>,
  ): readonly Event[] {
    const from = this.of(event.kind, event.subject).at(-1)?.to ?? first;
    // The detail of a target is written when it is read, so it is read only for a change.
    return from === event.to
      ? []
      : [eventOf({ ...event, from, detail: more?.detail ?? null, lag_seconds: more?.lag_seconds ?? null })];
  }

  #targetEvents(target: TargetReport, former: TargetReport | undefined, time: string): readonly Event[] {
    const { key: subject, status: to, deployment } = target;
    const statuses = this.#change({ time, kind: "status", subject, to }, "unknown", target);
    const before = former?.key === subject ? former.deployment : null;
    return deployment === null
      ? statuses
      : [...statuses, ...this.#deploymentEvents(subject, deployment, before ?? deployment, time)];
  }

  /**
   * Events about another deployment; `before`: the deployment of the last report. Two deployments that alternate are one event,
   * until one of them stays.
   */
  #deploymentEvents(subject: string, deployment: string, before: string, time: string): readonly Event[] {
    const nowMs = Date.parse(time);
    if (before !== deployment) {
      this.#turnedMs.set(subject, nowMs);
    }
    const last = this.of("deployment", subject).at(-1);
    const { from = null, to = "" } = last ?? {};
    const inTurns = to.endsWith(IN_TURNS) ? to.slice(0, -IN_TURNS.length).split(" and ") : [];
    if (inTurns.includes(deployment) && nowMs - (this.#turnedMs.get(subject) ?? nowMs) < STAYS_MS) {
      return [];
    }
    const isBack = from === deployment && nowMs - Date.parse(last?.time ?? time) < STAYS_MS;
    const now = isBack ? `${[deployment, to].toSorted().join(" and ")}${IN_TURNS}` : deployment;
    return this.#change({ time, kind: "deployment", subject, to: now }, before);
  }

  /** Events about subjects that were removed from chains.yaml: their state becomes `unknown`. */
  #removalEvents(targets: readonly TargetReport[], time: string): readonly Event[] {
    const former = this.#noted;
    if (targets.length === former.length && targets.every(({ key }, index) => key === former[index]?.key)) {
      return [];
    }
    const configured = subjectsOf(targets);
    return [...this.#lists.values()].flatMap((own) => {
      const [first] = own;
      return (first?.kind === "status" || first?.kind === "pair") && !configured.has(first.subject)
        ? this.#change({ time, kind: first.kind, subject: first.subject, to: "unknown" }, "unknown", REMOVED)
        : [];
    });
  }

  #incidentEvents(incidents: readonly Incident[], time: string): readonly Event[] {
    const now = new Map(incidents.map((incident) => [incidentKey(incident), incident]));
    const events: Event[] = [];
    for (const [subject, { detail, since, targets }] of now) {
      const known = this.#running.get(subject);
      const counted = { detail, targets: [...targets], target_count: targets.length };
      const widest = eventOf({ time: since, kind: "incident", subject, to: "began", ...counted });
      if (known === undefined) {
        events.push(widest);
      } else if (targets.length >= known.target_count) {
        this.#running.set(subject, widest);
      }
    }
    const ended = [...this.#running].filter(([subject]) => !now.has(subject));
    return [...events, ...ended.map(([, widest]) => ({ ...widest, time, to: "ended" }))];
  }

  /**
   * Each hour, drops events that are too old; each minute, if there are too many, also the oldest tenth. The last event of a
   * configured subject stays, because it shows the present state. Ages are counted in watched time, so a jump of the clock makes
   * no event too old.
   */
  #prune(targets: readonly TargetReport[], time: string): void {
    const nowMs = Date.parse(time);
    const { size } = this;
    const isFull = size > MOST_EVENTS;
    this.#prunedMs ??= isFull ? Number.NEGATIVE_INFINITY : nowMs;
    if (Math.abs(nowMs - this.#prunedMs) < (isFull ? MINUTE_MS : HOUR_MS)) {
      return;
    }
    this.#prunedMs = nowMs;
    const configured = subjectsOf(targets);
    const unwatched = unwatchedIntervals(this.all("process"), time);
    const keptMs = {
      pair: watchedSinceMs(unwatched, nowMs, PAIR_KEPT_MS),
      other: watchedSinceMs(unwatched, nowMs, KEPT_MS),
    };
    const oldest = isFull ? Date.parse(this.all()[size - MOST_EVENTS * 0.9]?.time ?? "") : -Infinity;
    for (const [name, own] of this.#lists) {
      const [{ kind, subject } = { kind: "status", subject: "" }] = own;
      const from = isoTime(Math.max(kind === "pair" ? keptMs.pair : keptMs.other, oldest));
      // An event holds until the next one.
      const kept = own.filter(
        (event, index) =>
          (own[index + 1] ?? event).time >= from || (index === own.length - 1 && configured.has(subject)),
      );
      this.#lists.set(name, kept);
      if (kept.length === 0) {
        this.#lists.delete(name);
      }
    }
  }
}

/**
 * An event of this process, moved by a step of the clock. The `unwatched_since` of a start stays: it comes from another
 * process.
 */
function shifted(event: Event, stepMs: number): Event {
  const shift = (time: string) => isoTime(Date.parse(time) + stepMs);
  const { time, to, unwatched_since: since } = event;
  return eventOf({
    ...event,
    time: shift(time),
    unwatched_since: since === null || to === "started" ? since : shift(since),
  });
}

const REMOVED = { detail: "no longer in chains.yaml" };

/** The subjects of the events of statuses and pairs. */
function subjectsOf(targets: readonly TargetReport[]): ReadonlySet<string> {
  return new Set(targets.flatMap(({ key, protocol, chain }) => [key, `${protocol}/${chain}`]));
}

function nameOf({ kind, subject }: Event): string {
  return `${kind} ${subject}`;
}

/** By time, then by subject, so that all replicas have the same order. */
function inTimeOrder(events: readonly Event[]): readonly Event[] {
  return events.toSorted(
    (a, b) => compare(a.time, b.time) || compare(a.kind, b.kind) || compare(a.subject, b.subject),
  );
}

function compare(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}
