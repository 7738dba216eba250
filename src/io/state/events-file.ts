import { appendFile } from "node:fs/promises";
import { type Event, EventSchema, eventText } from "../../core/events/event.ts";
import { parseJson } from "../../core/model/text.ts";
import { readText, TOO_LONG } from "./file.ts";
import { writeAtomically } from "./write-atomically.ts";

/** The file of the events beside a state file: a line for each, appended as they happen. */
export function eventsPathOf(statePath: string): string {
  return `${statePath}.events`;
}

/** What an events file holds. */
export interface EventsFile {
  readonly events: readonly Event[];
  /** Lines that are no events. A kill may cut off the last line. */
  readonly invalid: number;
  /** Whether a line can be appended. */
  readonly isWhole: boolean;
}

/**
 * Reads it; null where it is longer than any file of ours.
 *
 * @throws {StateFileError} If the disk refuses.
 */
export async function readEventsFile(statePath: string): Promise<EventsFile | null> {
  const text = (await readText(eventsPathOf(statePath))) ?? "";
  return text === TOO_LONG ? null : readEvents(text);
}

/** Reads events, one a line. */
export function readEvents(text: string): EventsFile {
  const lines = text.split("\n").filter((line) => line !== "");
  const events = lines.flatMap((line) => EventSchema.safeParse(parseJson(line)).data ?? []);
  const invalid = lines.length - events.length;
  return { events, invalid, isWhole: invalid === 0 && (text === "" || text.endsWith("\n")) };
}

/** @throws If the disk refuses; part of it may be there then. */
export async function appendEvents(statePath: string, events: readonly Event[]): Promise<void> {
  await appendFile(eventsPathOf(statePath), eventLines(events).join(""));
}

/** Replaces the file. @throws If the disk refuses; the previous file is then still there. */
export async function writeEvents(statePath: string, events: readonly Event[]): Promise<void> {
  await writeAtomically(eventsPathOf(statePath), eventLines(events));
}

function eventLines(events: readonly Event[]): readonly string[] {
  return events.map((event) => `${eventText(event)}\n`);
}
