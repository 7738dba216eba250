import { z } from "zod";
import { shiftChain } from "../core/chain/clock-jump.ts";
import type { ChainState } from "../core/head/chain-state.ts";
import type { Handover, LearnedState } from "../daemon/handover.ts";
import type { SavedCounters } from "../daemon/polling/counters.ts";
import { readSavedChain, readSavedIncidents } from "../io/state/saved-chain.ts";
import type { Part, ReadPart } from "./part.ts";

/** Raised when an older version could misread the parts. */
export const HANDOVER_FORMAT = 1;

const CHAIN = "chain ";
const COUNTERS = "counters ";
const INCIDENTS = "incidents";
const QUESTIONS = "questions";
const PARITY_FAILURES = "parity failures";

const Count = z.number().nonnegative();
const Counts = z.record(z.string(), Count);
const Questions = z.record(z.string(), z.int().nonnegative());
const CountersJson: z.ZodType<SavedCounters> = z.object({
  requests: Counts,
  failures: z.record(z.string(), Counts),
  roundsSkipped: Count,
  counts: z.array(Count),
  sumSeconds: Count,
});

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
  const incidentsText = JSON.stringify(incidents);
  return [
    ...Object.entries(chains).map(
      ([slug, state]): Part => ({
        name: `${CHAIN}${slug}`,
        version: state,
        text: () => JSON.stringify(state),
      }),
    ),
    { name: INCIDENTS, version: incidentsText, text: () => incidentsText },
    { name: QUESTIONS, version: questions.revision, text: () => JSON.stringify(questions.save()) },
    ...counters.map(
      ({ name, revision, save }): Part => ({
        name: `${COUNTERS}${name}`,
        version: revision,
        text: () => JSON.stringify(save()),
      }),
    ),
    {
      name: PARITY_FAILURES,
      version: parityFailures,
      text: () => JSON.stringify(Object.fromEntries(parityFailures)),
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

  function readOr<T>(fallback: T, { name, text }: ReadPart, read: (json: unknown) => T): T {
    try {
      return read(JSON.parse(text));
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof z.ZodError)) {
        throw error;
      }
      invalid.push(name);
      return fallback;
    }
  }
  /** Those whose name begins so, by the rest of it. */
  function readAll<T>(prefix: string, read: (json: unknown) => T): ReadonlyMap<string, T> {
    const own = parts.filter(({ name }) => name.startsWith(prefix));
    const entries = own.map((part) => [part.name.slice(prefix.length), readOr(null, part, read)] as const);
    return new Map(entries.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
  }
  function readOne<T>(wanted: string, read: (json: unknown) => T): T | null {
    const part = parts.findLast(({ name }) => name === wanted);
    return part === undefined ? null : readOr(null, part, read);
  }

  return {
    chains: readAll(CHAIN, (json) => shifted(readSavedChain(json), byMs)),
    counters: readAll(COUNTERS, (json) => CountersJson.parse(json)),
    incidents: readOne(INCIDENTS, (json) =>
      readSavedIncidents(json).map((one) => ({ ...one, sinceMs: one.sinceMs + byMs })),
    ),
    questions: readOne(QUESTIONS, (json) => new Map(Object.entries(Questions.parse(json)))),
    parityFailures:
      readOne(PARITY_FAILURES, (json) => new Map(Object.entries(Counts.parse(json)))) ?? new Map(),
    invalid,
  };
}

function shifted(state: ChainState, byMs: number): ChainState {
  return byMs === 0 ? state : shiftChain(state, byMs);
}
