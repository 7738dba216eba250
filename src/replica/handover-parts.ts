import { type Event, eventLines } from "../core/events/event.ts";
import type { EventLog } from "../core/events/event-log.ts";
import type { Counts } from "../core/model/metrics-source.ts";
import type { Daemon, LearnedState } from "../daemon/daemon.ts";
import { readEvents } from "../daemon/state/event-store.ts";
import {
  type Part,
  type ReadPart,
  sealedPart,
  stateIn,
  stateParts,
  unsealParts,
  valuesNamed,
} from "../io/state/parts.ts";

const COUNTERS = "counts ";
const EVENTS = "events of ";

/** The parts that the leader hands over: the state, the counters of each endpoint, and the events of each subject. */
export function handoverParts(
  { counters, ...known }: ReturnType<Daemon["handover"]>,
  log: EventLog,
): readonly Part[] {
  const countersOf = Array.from(counters, ([key, group]) =>
    sealedPart(`${COUNTERS}${key}`, group.counts, group.revision),
  );
  const eventsOf = Array.from(log.lists, ([subject, events]) => {
    return { name: `${EVENTS}${subject}`, version: events.at(-1), text: () => eventLines(events) };
  });
  return [...eventsOf, ...stateParts(known), ...countersOf];
}

interface Handover {
  /** The parts of the state and the counters that have changed. */
  readonly learned: LearnedState;
  /** All events of each subject that has new ones. */
  readonly events: readonly Event[];
  /** The names of parts that cannot be read: damaged, or written by another version. They count as unchanged. */
  readonly invalid: readonly string[];
}

export function readHandover(parts: readonly ReadPart[]): Handover {
  const isOfEvents = ({ name }: ReadPart): boolean => name.startsWith(EVENTS);
  const { values, invalid } = unsealParts(parts.filter((part) => !isOfEvents(part)));
  const events = parts.filter(isOfEvents).flatMap(({ text }) => readEvents(text).events);
  // These parts have the type that `handoverParts` wrote.
  const counters = valuesNamed<Counts>(COUNTERS, values);
  return { learned: { ...stateIn(values), counters }, events, invalid };
}
