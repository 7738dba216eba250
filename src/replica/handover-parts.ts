import { eventText } from "../core/events/event.ts";
import type { EventLog } from "../core/events/event-log.ts";
import type { ChainState } from "../core/head/chain-state.ts";
import { shiftInstants } from "../core/model/instants.ts";
import { isoTime } from "../core/model/text.ts";
import type { Handover, LearnedState } from "../daemon/daemon.ts";
import type { Counters } from "../daemon/polling/counters.ts";
import { seal, unsealText } from "../io/state/seal.ts";
import type { Part, ReadPart } from "./parts.ts";

const CHAIN = "chain ";
const COUNTERS = "counters ";
const INCIDENTS = "incidents";
const QUESTIONS = "questions";

/** The clocks of two replicas differ by less than this without being set to each other. */
const MIN_SKEW_MS = 1_000;

/** The parts of a handover. */
export function partsOf(handover: Handover): readonly Part[] {
  const { chains, questions, counters } = handover;
  const part = (name: string, version: unknown, value: () => unknown): Part => ({
    name,
    version,
    text: () => seal(value()),
  });
  // Made anew with each report, though it seldom changes.
  const incidents = seal(handover.incidents);
  return [
    ...Object.entries(chains).map(([slug, state]) => part(`${CHAIN}${slug}`, state.revision, () => state)),
    { name: INCIDENTS, version: incidents, text: () => incidents },
    part(QUESTIONS, questions.revision, () => questions.save()),
    ...Array.from(counters, ([name, group]) =>
      part(`${COUNTERS}${name}`, group.revision, () => group.counters),
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

/** What was learned of parts, and which could not be read. */
export interface LearnedParts extends LearnedState {
  readonly invalid: readonly string[];
}

/**
 * Reads parts of a replica whose clock is `aheadMs` ahead of ours. One that cannot be read is as if it had not changed: another
 * version may have written it.
 */
export function readParts(parts: readonly ReadPart[], aheadMs: number): LearnedParts {
  const byMs = Math.abs(aheadMs) < MIN_SKEW_MS ? 0 : -aheadMs;
  const invalid: string[] = [];
  const values = new Map<string, unknown>();
  for (const { name, text } of parts) {
    const value = unsealText(text);
    if (value === undefined) {
      invalid.push(name);
    } else {
      values.set(name, value);
    }
  }
  // Of the types that `partsOf` gave to the parts: the leader writes the same format.
  const namedBy = <T>(prefix: string): ReadonlyMap<string, T> => {
    const own = [...values].filter(([name]) => name.startsWith(prefix));
    return new Map(own.map(([name, value]) => [name.slice(prefix.length), value as T]));
  };
  const questions = values.get(QUESTIONS) as Record<string, number> | undefined;
  const incidents = values.get(INCIDENTS) as Handover["incidents"] | undefined;
  const chains = namedBy<ChainState>(CHAIN);
  for (const state of byMs === 0 ? [] : chains.values()) {
    shiftInstants(state, byMs);
  }
  return {
    chains,
    counters: namedBy<Counters>(COUNTERS),
    incidents: incidents?.map((one) => ({ ...one, since: isoTime(Date.parse(one.since) + byMs) })) ?? null,
    questions: questions === undefined ? null : new Map(Object.entries(questions)),
    invalid,
  };
}
