import type { ChainState } from "../core/head/chain-state.ts";
import { shiftInstants } from "../core/model/instants.ts";
import { isoTime } from "../core/model/text.ts";
import type { Handover, LearnedState } from "../daemon/handover.ts";
import type { SavedCounters } from "../daemon/polling/counters.ts";
import { seal, unsealText } from "../io/state/seal.ts";
import type { Part, ReadPart } from "./parts.ts";

const CHAIN = "chain ";
const COUNTERS = "counters ";
const INCIDENTS = "incidents";
const QUESTIONS = "questions";
const PARITY_FAILURES = "parity failures";

/** The clocks of two replicas differ by less than this without being set to each other. */
const MIN_SKEW_MS = 1_000;

/** The parts of a handover. */
export function partsOf({
  chains,
  incidents,
  questions,
  counters,
  parityFailures,
}: Handover): readonly Part[] {
  // Made anew with each report, though it seldom changes.
  const incidentsText = seal(incidents);
  return [
    ...Object.entries(chains).map(
      ([slug, state]): Part => ({
        name: `${CHAIN}${slug}`,
        version: state.revision,
        text: () => seal(state),
      }),
    ),
    { name: INCIDENTS, version: incidentsText, text: () => incidentsText },
    { name: QUESTIONS, version: questions.revision, text: () => seal(questions.save()) },
    ...counters.map(
      ({ name, revision, save }): Part => ({
        name: `${COUNTERS}${name}`,
        version: revision,
        text: () => seal(save()),
      }),
    ),
    {
      name: PARITY_FAILURES,
      version: parityFailures,
      text: () => seal(Object.fromEntries(parityFailures)),
    },
  ];
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

  /** Of the type that `partsOf` gave to the part: the leader writes the same format. */
  function read<T>({ name, text }: ReadPart): T | undefined {
    const value = unsealText(text);
    if (value === undefined) {
      invalid.push(name);
    }
    return value as T | undefined;
  }
  /** Those whose name begins so, by the rest of it. */
  function readAll<T>(prefix: string): ReadonlyMap<string, T> {
    const own = parts.filter(({ name }) => name.startsWith(prefix));
    const entries = own.map((part) => [part.name.slice(prefix.length), read<T>(part)] as const);
    return new Map(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  }
  function readOne<T>(wanted: string): T | null {
    const part = parts.findLast(({ name }) => name === wanted);
    return part === undefined ? null : (read<T>(part) ?? null);
  }
  function readMap<T>(wanted: string): ReadonlyMap<string, T> | null {
    const record = readOne<Record<string, T>>(wanted);
    return record && new Map(Object.entries(record));
  }

  const incidents = readOne<Handover["incidents"]>(INCIDENTS);
  const chains = readAll<ChainState>(CHAIN);
  for (const state of byMs === 0 ? [] : chains.values()) {
    shiftInstants(state, byMs);
  }
  return {
    chains,
    counters: readAll<SavedCounters>(COUNTERS),
    incidents: incidents?.map((one) => ({ ...one, since: isoTime(Date.parse(one.since) + byMs) })) ?? null,
    questions: readMap<number>(QUESTIONS),
    parityFailures: readMap<number>(PARITY_FAILURES) ?? new Map(),
    invalid,
  };
}
