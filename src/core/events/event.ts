import { z } from "zod";
import { Count, Seconds, Text, Time } from "../model/report-schema.ts";

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
  from: Text.describe("What it was before, such as a status").nullable().default(null),
  to: Text.describe(
    "A status, the state of a pair, `began` or `ended`, `different` or `equal`, a deployment, or `started`, `stopped` or `reloaded`",
  ),
  detail: Text.nullable().default(null),
  lag_seconds: Seconds.nonnegative().nullable().default(null),
  targets: z
    .array(Text)
    .describe("Keys of the targets that an incident explains, at most 100 of them")
    .default([]),
  target_count: Count.describe("How many targets an incident explains").default(0),
  unwatched_since: Time.describe(
    "Of a process that started: when one was last known to run. Nothing is known in between",
  )
    .nullable()
    .default(null),
});

export type Event = Readonly<z.infer<typeof EventSchema>>;
export type EventKind = Event["kind"];

const LONGEST_DETAIL = 300;
const MOST_TARGETS = 100;

/** An event with these properties and the defaults. */
export function eventOf(given: Pick<Event, "time" | "kind" | "subject" | "to"> & Partial<Event>): Event {
  const detail = given.detail?.slice(0, LONGEST_DETAIL) ?? null;
  return {
    from: null,
    lag_seconds: null,
    target_count: 0,
    unwatched_since: null,
    ...given,
    targets: given.targets?.slice(0, MOST_TARGETS) ?? NO_TARGETS,
    detail,
  };
}

const NO_TARGETS: string[] = [];

/** The JSON of an event, without properties that have their default. */
export function eventText(event: Event): string {
  const isDefault = (key: string, value: unknown) =>
    value === null || (key === "target_count" && value === 0) || (Array.isArray(value) && value.length === 0);
  return JSON.stringify(event, (key, value: unknown) => (isDefault(key, value) ? undefined : value));
}
