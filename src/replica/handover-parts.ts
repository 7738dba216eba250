import { eventText } from "../core/events/event.ts";
import type { EventLog } from "../core/events/event-log.ts";
import type { ChainState } from "../core/head/chain-state.ts";
import { shiftInstants } from "../core/model/instants.ts";
import { isoTime } from "../core/model/text.ts";
import type { Daemon, LearnedState } from "../daemon/daemon.ts";
import type { Counters } from "../daemon/polling/counters.ts";
import type { SavedState } from "../io/state/file.ts";
import { seal, unsealText } from "../io/state/seal.ts";
import type { Part, ReadPart } from "./parts.ts";

const CHAIN = "chain ";
const COUNTERS = "counters ";
const INCIDENTS = "incidents";
const QUESTIONS = "questions";

/** The clocks of two replicas differ by less than this without being set to each other. */
const MIN_SKEW_MS = 1_000;

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

/**
 * Reads parts of a replica whose clock is `aheadMs` ahead of ours. One that cannot be read is as if it had not changed: another
 * version may have written it. `onInvalid` is called with its name.
 */
export function readParts(
  parts: readonly ReadPart[],
  aheadMs: number,
  onInvalid: (name: string) => void,
): LearnedState {
  const byMs = Math.abs(aheadMs) < MIN_SKEW_MS ? 0 : -aheadMs;
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
  const chains = namedBy<ChainState>(CHAIN);
  for (const [, state] of byMs === 0 ? [] : chains) {
    shiftInstants(state, byMs);
  }
  return {
    chains: Object.fromEntries(chains),
    counters: new Map(namedBy<Counters>(COUNTERS)),
    ...(incidents && {
      incidents: incidents.map((one) => ({ ...one, since: isoTime(Date.parse(one.since) + byMs) })),
    }),
    ...(questions && { questions }),
  };
}
