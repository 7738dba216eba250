import { z } from "zod";
import { Count, orNull, Seconds, Text, Time } from "../model/report-schema.ts";

export const EVENT_KINDS = ["status", "pair", "incident", "parity", "deployment", "process"] as const;

/** Something that happened. This schema is its only definition: for the file, the store, the API and the command line. */
export const EventSchema = z.object({
  time: Time,
  kind: z
    .enum(EVENT_KINDS)
    .describe(
      "status: of a target; pair: the state of a protocol on a chain; incident: it began or ended; parity: data differ or are equal again; deployment: another one answers; process: Synclag started, stopped, or reloaded",
    ),
  subject: Text.describe(
    "What it happened to: the key of a target (status, deployment), protocol/chain (pair), scope and subject (incident), probe and keys (parity), or the name of the process",
  ),
  from: orNull(Text, "What it was before, such as a status"),
  to: Text.describe(
    "A status, the state of a pair, `began` or `ended`, `different` or `equal`, a deployment, or `started`, `stopped` or `reloaded`",
  ),
  detail: orNull(Text),
  lag_seconds: orNull(Seconds.nonnegative()),
  targets: z
    .array(Text)
    .describe("Keys of the targets that an incident explains, at most 100 of them")
    .default([]),
  target_count: Count.describe("How many targets an incident explains").default(0),
  unwatched_since: orNull(
    Time,
    "Of a process that started: when one was last known to run. Nothing is known in between",
  ),
});

export type Event = Readonly<z.infer<typeof EventSchema>>;
export type EventKind = Event["kind"];

const LONGEST_DETAIL = 300;
const MOST_TARGETS = 100;
const NONE = { from: null, lag_seconds: null, targets: [], target_count: 0, unwatched_since: null };

/** An event with these properties, shortened, and the defaults. */
export function eventOf(given: Pick<Event, "time" | "kind" | "subject" | "to"> & Partial<Event>): Event {
  const event = { ...NONE, ...given, detail: given.detail?.slice(0, LONGEST_DETAIL) ?? null };
  return event.targets.length > MOST_TARGETS
    ? { ...event, targets: event.targets.slice(0, MOST_TARGETS) }
    : event;
}

/** A line for each event: its JSON, without properties that have their default. */
export function eventLines(events: readonly Event[]): string {
  const isDefault = (name: string, value: unknown) =>
    value === null ||
    (name === "target_count" && value === 0) ||
    (Array.isArray(value) && value.length === 0);
  const replacer = (name: string, value: unknown) => (isDefault(name, value) ? undefined : value);
  return events.map((event) => `${JSON.stringify(event, replacer)}\n`).join("");
}
