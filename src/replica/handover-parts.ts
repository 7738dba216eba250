import { type Event, eventText } from "../core/events/event.ts";
import type { EventLog } from "../core/events/event-log.ts";
import type { ChainState } from "../core/head/chain-state.ts";
import type { Counts } from "../core/model/metrics-source.ts";
import type { Daemon, LearnedState } from "../daemon/daemon.ts";
import { readEvents } from "../daemon/state/event-store.ts";
import type { SavedState } from "../io/state/file.ts";
import { seal, unsealText } from "../io/state/seal.ts";
import type { Part, ReadPart } from "./parts.ts";

const CHAIN = "chain ";
const COUNTERS = "counts ";
const INCIDENTS = "incidents";
const QUESTIONS = "questions";

/** The parts of a handover. */
export function partsOf(handover: ReturnType<Daemon["handover"]>): readonly Part[] {
  const { chains, questions, counters } = handover;
  const part = (name: string, version: unknown, value: () => unknown): Part => ({
    name,
    version,
    text: () => seal(value()),
  });
  // Rendered with each report, although it seldom changes.
  const incidents = seal(handover.incidents);
  return [
    ...Object.entries(chains).map(([slug, state]) => part(`${CHAIN}${slug}`, state.revision, () => state)),
    { name: INCIDENTS, version: incidents, text: () => incidents },
    part(QUESTIONS, questions.version, () => questions.save()),
    ...Array.from(counters, ([name, group]) =>
      part(`${COUNTERS}${name}`, group.revision, () => group.counts),
    ),
  ];
}

/** The events, a part for each hour that has any. */
export function eventParts(log: EventLog): readonly Part[] {
  return Array.from(log.hours(), ([hour, version]) => ({
    name: hour,
    version,
    text: () => log.ofHour(hour).map(eventText).join("\n"),
  }));
}

/** The events of each hour that was written since the last reading. */
export function readEventParts(parts: readonly ReadPart[]): ReadonlyMap<string, readonly Event[]> {
  return new Map(parts.map(({ name, text }) => [name, readEvents(text).events]));
}

/**
 * Reads the parts of a hand-over. One that cannot be read is as if it had not changed: another version may have written it.
 * `onInvalid` is called with its name.
 */
export function readParts(parts: readonly ReadPart[], onInvalid: (name: string) => void): LearnedState {
  const values = new Map<string, unknown>();
  for (const { name, text } of parts) {
    const value = unsealText(text);
    if (value === undefined) {
      onInvalid(name);
    } else {
      values.set(name, value);
    }
  }
  // Of the types that `partsOf` gave to the parts: the leader writes the same format.
  const namedBy = <T>(prefix: string) =>
    [...values].flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), value as T] as const] : [],
    );
  const questions = values.get(QUESTIONS) as SavedState["questions"] | undefined;
  const incidents = values.get(INCIDENTS) as SavedState["incidents"] | undefined;
  return {
    chains: Object.fromEntries(namedBy<ChainState>(CHAIN)),
    counters: new Map(namedBy<Counts>(COUNTERS)),
    ...(incidents && { incidents }),
    ...(questions && { questions }),
  };
}
