import { z } from "zod";
import { incidentOfKey } from "../model/report.ts";
import { Count, orNull, Seconds, Text, Time } from "../model/report-schema.ts";

export const EVENT_KINDS = ["status", "pair", "incident", "parity", "deployment", "process"] as const;

const KEY = /^[^/]+(\/[^/]+){3}$/;
/** The shape of the subject of each kind: the views take it apart. */
const SUBJECTS: Readonly<Record<(typeof EVENT_KINDS)[number], RegExp>> = {
  status: KEY,
  pair: /^[^/]+\/[^/]+$/,
  incident: /^[^ ]+ ./s,
  parity: /^[^ ]+( [^/ ]+(\/[^/ ]+){3}){2}$/,
  deployment: KEY,
  process: /./s,
};

/** Something that happened. This schema is its only definition: for the file, the store, the API and the command line. */
export const EventSchema = z
  .object({
    time: Time,
    kind: z
      .enum(EVENT_KINDS)
      .describe(
        "status: the status of a target; pair: the state of a protocol on a chain; incident: an incident began or ended; parity: data differ or are equal again; deployment: another deployment replies; process: Synclag started, stopped, resumed after a suspension, reloaded, or failed to reload",
      ),
    subject: Text.describe(
      "The subject of the event: the key of a target (status, deployment), protocol/chain (pair), scope and subject (incident), probe and keys (parity), or the name of the process",
    ),
    from: orNull(Text, "The former state, such as a status"),
    to: Text.describe(
      "A status, the state of a pair, `began` or `ended`, `different` or `equal`, a deployment or two `in turns`, or `started`, `stopped`, `resumed`, `reloaded` or `reload failed`",
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
      "For a process that started or resumed: when a Synclag was last known to run. Nothing is known about the time since",
    ),
  })
  .refine(({ kind, subject }) => SUBJECTS[kind].test(subject), { path: ["subject"] });

export type Event = Readonly<z.infer<typeof EventSchema>>;
export type EventKind = Event["kind"];

const LONGEST_DETAIL = 300;
const MOST_TARGETS = 100;
const NO_TARGETS: Event["targets"] = [];

/** An event with these properties, long texts and lists shortened, and defaults for the rest. */
export function eventOf(given: Pick<Event, "time" | "kind" | "subject" | "to"> & Partial<Event>): Event {
  const { targets = NO_TARGETS } = given;
  // Property by property: a spread would give each of 100,000 events a hidden class of its own, which takes more memory than
  // the event.
  return {
    time: given.time,
    kind: given.kind,
    subject: given.subject,
    from: given.from ?? null,
    to: given.to,
    detail: given.detail?.slice(0, LONGEST_DETAIL) ?? null,
    lag_seconds: given.lag_seconds ?? null,
    targets: targets.length > MOST_TARGETS ? targets.slice(0, MOST_TARGETS) : targets,
    target_count: given.target_count ?? 0,
    unwatched_since: given.unwatched_since ?? null,
  };
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

/** The keys of the targets that an event is about. The key of a pair has no variant and no tier. */
export function targetsOf({ kind, subject, targets }: Event): readonly string[] {
  switch (kind) {
    case "status":
    case "deployment":
      return [subject];
    case "parity":
      return subject.split(" ").slice(1);
    case "incident":
      return targets;
    case "pair":
      return [subject.replace("/", "///")];
    case "process":
      return [];
  }
}

/**
 * Whether an event tells something that other events do not. An `ok` after `unknown` tells nothing. The events of targets show
 * that a pair is degraded, and the events of pairs and targets show their incidents.
 */
export function isNews({ from, kind, subject, to }: Event): boolean {
  if (kind === "incident") {
    return incidentOfKey(subject).kind === "cause";
  }
  return !(from === "unknown" && to === "ok") && (kind !== "pair" || from === "down" || to === "down");
}
