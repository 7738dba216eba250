import { type Event, eventOf } from "../../core/events/event.ts";
import { EventLog } from "../../core/events/event-log.ts";
import { INCIDENT_SCOPES, type Incident, incidentOfKey, type Report } from "../../core/model/report.ts";
import { isoTime } from "../../core/model/text.ts";
import { appendEvents, eventsPathOf, readEventsFile, writeEvents } from "../../io/state/events-file.ts";
import { moveAside } from "../../io/state/file.ts";
import { StateFileError } from "../../io/state/path.ts";
import { DebouncedWriter } from "../../io/state/writer.ts";
import type { World } from "../../io/world.ts";

type EventsWorld = Pick<World, "logger" | "nowMs" | "stateFile">;

/** A kill loses at most the events of this time. */
const WRITE_DELAY_MS = 1_000;
/** The file is rewritten when it has this many lines more than twice the number of kept events. */
const SPARE_LINES = 1_000;

/** The events and their file. Disposing it writes for the last time. */
export class EventStore implements AsyncDisposable {
  readonly log = new EventLog();
  /** Incidents that began since the start of the process, by their scope. */
  readonly incidents = new Map<Incident["scope"], number>(INCIDENT_SCOPES.map((scope) => [scope, 0]));
  readonly #world: EventsWorld;
  readonly #writer: DebouncedWriter | null;
  /** Null while this process does not poll: it adds no events of itself then. */
  #name: string | null = null;
  #pending: Event[] = [];
  /** Lines in the file; null: the file must be rewritten. */
  #lines: number | null = null;

  private constructor(world: EventsWorld) {
    const { logger, stateFile } = world;
    this.#world = world;
    this.#writer =
      stateFile === null
        ? null
        : new DebouncedWriter({
            delayMs: WRITE_DELAY_MS,
            write: () => this.#write(stateFile),
            onFailure: (error) => logger.warn({ detail: String(error) }, "Cannot write the events file"),
            onRecovery: () => logger.info("Events file writable again"),
          });
  }

  /** Continues the events that the previous process left. */
  static async open(world: EventsWorld): Promise<EventStore> {
    const store = new EventStore(world);
    if (world.stateFile !== null) {
      await store.#load(world.stateFile);
    }
    return store;
  }

  /** Adds an event for each change since the last report, and returns them. `hasAll`: every endpoint has been polled. */
  note(report: Report, hasAll: boolean): readonly Event[] {
    const events = this.log.note(report, hasAll);
    for (const { kind, subject, to } of events) {
      if (kind === "incident" && to === "began") {
        const { scope } = incidentOfKey(subject);
        this.incidents.set(scope, (this.incidents.get(scope) ?? 0) + 1);
      }
    }
    this.#keep(events);
    return events;
  }

  /** The process of this name polls from now on; `aliveMs`: when the one before was last known to. */
  started(name: string, aliveMs: number | null): void {
    this.#name = name;
    const last = this.log.all().at(-1);
    const lastMs = last === undefined ? null : Date.parse(last.time);
    const isStopped = last?.to === "stopped";
    const sinceMs = lastMs === null || isStopped ? lastMs : Math.max(lastMs, aliveMs ?? lastMs);
    this.#addProcess("started", sinceMs === null ? null : isoTime(sinceMs));
  }

  /** It no longer polls. */
  stopped(): void {
    this.#addProcess("stopped");
    this.standsBy();
  }

  /** Another process polls, and says so. */
  standsBy(): void {
    this.#name = null;
  }

  reloaded(): void {
    this.#addProcess("reloaded");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer?.[Symbol.asyncDispose]();
  }

  #addProcess(to: "started" | "stopped" | "reloaded", unwatchedSince: string | null = null): void {
    if (this.#name !== null) {
      const time = isoTime(this.#world.nowMs());
      const event = eventOf({
        time,
        kind: "process",
        subject: this.#name,
        to,
        unwatched_since: unwatchedSince,
      });
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

  async #write(stateFile: string): Promise<void> {
    const [events, lines] = [this.#pending, this.#lines];
    this.#pending = [];
    // Until it is known that all of it was written.
    this.#lines = null;
    if (lines !== null && lines <= 2 * this.log.size + SPARE_LINES) {
      await appendEvents(stateFile, events);
      this.#lines = lines + events.length;
    } else {
      const all = this.log.all();
      await writeEvents(stateFile, all);
      this.#lines = all.length;
    }
  }

  async #load(stateFile: string): Promise<void> {
    const { logger, nowMs } = this.#world;
    try {
      const found = await readEventsFile(stateFile);
      if (found === null) {
        const movedTo = await moveAside(eventsPathOf(stateFile), nowMs());
        logger.warn({ movedTo }, "Events file too long, moved aside; the history starts empty");
        return;
      }
      const { events, invalid, isWhole } = found;
      this.log.restore(events);
      this.#lines = isWhole ? events.length : null;
      if (invalid > 0) {
        logger.warn({ invalid, kept: events.length }, "Events file: dropped invalid lines");
      }
    } catch (error) {
      if (!(error instanceof StateFileError)) {
        throw error;
      }
      logger.warn({ detail: String(error) }, "Cannot read the events file; the history starts empty");
    }
  }
}
