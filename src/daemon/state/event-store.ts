import { appendFile } from "node:fs/promises";
import { type Event, EventSchema, eventLines, eventOf } from "../../core/events/event.ts";
import { EventLog } from "../../core/events/event-log.ts";
import { CAUSE_SCOPES, type Incident, incidentOfKey, type Report } from "../../core/model/report.ts";
import { isoTime, parseJson } from "../../core/model/text.ts";
import { stepReader } from "../../io/clock-steps.ts";
import { readOptional, writeAtomically } from "../../io/state/kept-file.ts";
import { DebouncedWriter } from "../../io/state/writer.ts";
import type { World } from "../../io/world.ts";
import type { StateStore } from "./store.ts";

type EventsWorld = Pick<World, "logger" | "nowMs" | "past" | "stateFile" | "uptimeMs">;

/** `kill -9` loses at most the events of this time. */
const WRITE_DELAY_MS = 1_000;
/** A report is noted every 15 s: if several are missing, the process was suspended, or the machine slept. */
const SUSPENDED_AFTER_MS = 60_000;
/** The file is rewritten once it has more than `2 * kept events + SPARE_LINES` lines. */
const SPARE_LINES = 1_000;

/** The file of events next to a state file, with a line for each event. New events are appended within a second. */
export function eventsPathOf(statePath: string): string {
  return `${statePath}.events`;
}

/** Reads events, one a line. `invalid`: how many lines are not events; a kill may cut off the last one. */
export function readEvents(text: string): { readonly events: readonly Event[]; readonly invalid: number } {
  const lines = text.split("\n").filter((line) => line !== "");
  const events = lines.flatMap((line) => EventSchema.safeParse(parseJson(line)).data ?? []);
  return { events, invalid: lines.length - events.length };
}

/** The events and their file. Disposing it writes for the last time. */
export class EventStore implements AsyncDisposable {
  readonly log = new EventLog();
  /** The number of shared causes that began since the start of the process, by their scope. */
  readonly incidents = new Map<Incident["scope"], number>(CAUSE_SCOPES.map((scope) => [scope, 0]));
  readonly #logger: World["logger"];
  readonly #nowMs: () => number;
  readonly #uptimeMs: () => number;
  readonly #readStep: () => number;
  readonly #writer: DebouncedWriter | null;
  /** The name of this process; null while it does not poll, and so adds no events about itself. */
  #name: string | null = null;
  #pending: Event[] = [];
  /** When a report was noted last, by the uptime. */
  #notedMs = 0;
  /** Lines in the file; null: the file must be rewritten. */
  #lines: number | null = null;

  private constructor(world: EventsWorld, assertHeld: StateStore["assertHeld"]) {
    const { logger, nowMs, stateFile } = world;
    this.#logger = logger;
    this.#nowMs = nowMs;
    this.#uptimeMs = world.uptimeMs;
    this.#readStep = stepReader(world);
    this.#writer =
      stateFile === null
        ? null
        : new DebouncedWriter({
            delayMs: WRITE_DELAY_MS,
            write: async () => {
              await assertHeld();
              await this.#write(eventsPathOf(stateFile));
            },
            onFailure: (detail) => logger.warn({ detail }, "Cannot write the events file"),
            onRecovery: () => logger.info("Events file writable again"),
          });
  }

  /**
   * Continues the events that the previous process left. `assertHeld` rejects if another process has taken over the state file;
   * the default never rejects.
   */
  static async open(world: EventsWorld, assertHeld = () => Promise.resolve()): Promise<EventStore> {
    const store = new EventStore(world, assertHeld);
    store.log.replace(world.past?.events ?? []);
    if (world.stateFile !== null) {
      const message = "Cannot read the events file; the history starts empty";
      const text = (await readOptional(eventsPathOf(world.stateFile), world, message)) ?? "";
      const { events, invalid } = readEvents(text);
      store.log.replace(events);
      store.#lines = invalid === 0 && text.endsWith("\n") ? events.length : null;
      if (invalid > 0) {
        world.logger.warn({ invalid, kept: events.length }, "Events file: dropped invalid lines");
      }
    }
    return store;
  }

  /** Adds an event for each change since the last report, and returns them. `hasAll`: every indexer has been polled. */
  note(report: Report, hasAll: boolean): readonly Event[] {
    this.#followClock();
    this.#noteSuspension();
    const events = this.log.note(report, hasAll);
    for (const { kind, subject, to } of events) {
      if (kind === "incident" && to === "began") {
        const { kind: incidentKind, scope } = incidentOfKey(subject);
        if (incidentKind === "cause") {
          this.incidents.set(scope, (this.incidents.get(scope) ?? 0) + 1);
        }
      }
    }
    this.#keep(events);
    return events;
  }

  /** Records that the process of this name begins to poll. `aliveMs`: when the previous process was last known to run. */
  started(name: string, aliveMs: number | null): void {
    this.#name = name;
    this.#readStep();
    this.#notedMs = this.#uptimeMs();
    this.log.begin(this.#nowMs());
    const last = this.log.all().at(-1);
    const alive = isoTime(aliveMs ?? 0);
    const wasAlive = last !== undefined && last.to !== "stopped" && alive > last.time;
    this.#addProcess("started", { unwatched_since: wasAlive ? alive : (last?.time ?? null) });
  }

  stopped(): void {
    this.#addProcess("stopped");
    this.standsBy();
  }

  standsBy(): void {
    this.#name = null;
  }

  reloaded(): void {
    this.#addProcess("reloaded");
  }

  reloadFailed(detail: string): void {
    this.#addProcess("reload failed", { detail });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer?.[Symbol.asyncDispose]();
  }

  /** Records that nothing was polled while this process was suspended. */
  #noteSuspension(): void {
    const silentMs = this.#uptimeMs() - this.#notedMs;
    this.#notedMs += silentMs;
    if (silentMs >= SUSPENDED_AFTER_MS) {
      this.#logger.warn({ seconds: Math.round(silentMs / 1_000) }, "Suspended: nothing was polled");
      this.#addProcess("resumed", { unwatched_since: isoTime(this.#nowMs() - silentMs) });
    }
  }

  #followClock(): void {
    const stepMs = this.#readStep();
    if (stepMs !== 0) {
      this.#logger.warn({ seconds: stepMs / 1_000 }, "Wall clock was set");
      this.log.shift(stepMs);
      this.#lines = null;
      this.#writer?.touch();
    }
  }

  #addProcess(to: string, more: Partial<Pick<Event, "detail" | "unwatched_since">> = {}): void {
    if (this.#name !== null) {
      this.#followClock();
      const time = isoTime(this.#nowMs());
      const event = eventOf({ time, kind: "process", subject: this.#name, to, ...more });
      this.log.add(event);
      this.#keep([event]);
    }
  }

  #keep(events: readonly Event[]): void {
    if (this.#writer !== null && events.length > 0) {
      this.#pending.push(...events);
      this.#writer.touch();
    }
  }

  async #write(path: string): Promise<void> {
    const [events, lines] = [this.#pending, this.#lines];
    this.#pending = [];
    // Unknown until everything is written.
    this.#lines = null;
    if (lines !== null && lines <= 2 * this.log.size + SPARE_LINES) {
      await appendFile(path, eventLines(events));
      this.#lines = lines + events.length;
    } else {
      const all = this.log.originals;
      await writeAtomically(path, eventLines(all));
      this.#lines = all.length;
    }
  }
}
