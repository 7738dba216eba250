import type { Endpoint } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { memoize } from "../../core/model/memoize.ts";
import type { CarriedProbe, CarriedSelection } from "../../core/model/parity.ts";
import type { EndpointState, SelectionState } from "./endpoint-state.ts";

/** The result of the selections that a request carried beside the heights. */
export type Carriage =
  /** They came back with the heights. */
  | "answered"
  /** The request failed with them and succeeded without them. */
  | "refused"
  /** The request failed with them, and so did the one without them, or the budget could not spare it. */
  | "unclear";

/** GraphQL Armor's default limit; Ponder allows 30. */
const MAX_ALIASES = 15;
/** Ponder allows a thousand tokens. */
const MAX_CHARACTERS = 8_000;
const LONGEST_WAIT_MS = 86_400_000;
/** Polls are never exactly on time: a poll may be early by this share of its interval or of `every`. */
const TOLERANCE = 0.1;
const NEVER_ASKED: SelectionState = { dueMs: Number.NEGATIVE_INFINITY, refusals: 0, isSuspect: false };

/** One selection of one endpoint. */
export interface DueSelection {
  /** A changed URL or selection has another id, so it is due at once. */
  readonly id: string;
  readonly probe: CarriedProbe;
  readonly selection: CarriedSelection;
}

/** The selections of a scheduled poll: all that are due, within the limits of one request. */
export function dueSelections(
  { endpoint, isBare, selections }: EndpointState,
  nowMs: number,
): readonly DueSelection[] {
  if (isBare) {
    return [];
  }
  const due = selectionsOf(endpoint).filter(({ id, probe }) => {
    const toleranceMs = TOLERANCE * Math.min(endpoint.pollIntervalMs, probe.everyMs);
    return (selections.get(id) ?? NEVER_ASKED).dueMs - toleranceMs <= nowMs;
  });
  const suspect = due.find(({ id }) => selections.get(id)?.isSuspect === true);
  return withinLimits(suspect === undefined ? due : due.filter(({ probe }) => probe === suspect.probe));
}

/** The same by probe. */
export function probesOf(due: readonly DueSelection[]): readonly CarriedProbe[] {
  return Array.from(
    groupBy(due, ({ probe }) => probe),
    ([probe, own]) => ({ ...probe, selections: own.map(({ selection }) => selection) }),
  );
}

/**
 * Notes the result of selections that were sent at `nowMs`. If a request with several probes was refused, it is unknown which one was the
 * cause: they are due again, one by one.
 */
export function noteCarriage(
  { selections }: EndpointState,
  asked: readonly DueSelection[],
  carriage: Carriage,
  nowMs: number,
): void {
  const isShared = carriage === "refused" && probesOf(asked).length > 1;
  for (const { id, probe } of asked) {
    const state = selections.get(id) ?? NEVER_ASKED;
    const next = isShared ? { ...state, isSuspect: true } : after(state, carriage, probe.everyMs, nowMs);
    selections.set(id, next);
  }
}

function after(state: SelectionState, carriage: Carriage, everyMs: number, nowMs: number): SelectionState {
  switch (carriage) {
    case "answered":
      return { dueMs: nowMs + everyMs, refusals: 0, isSuspect: false };
    case "unclear":
      return { ...state, dueMs: nowMs + everyMs };
    case "refused": {
      const waitMs = Math.min(LONGEST_WAIT_MS, everyMs * 2 ** state.refusals);
      return { dueMs: nowMs + waitMs, refusals: state.refusals + 1, isSuspect: true };
    }
  }
}

/** It may hold a key, and stays in memory. */
const selectionsOf = memoize(({ parity = [] }: Endpoint): readonly DueSelection[] =>
  parity.flatMap((probe) =>
    probe.selections.map((selection) => ({
      id: JSON.stringify([probe.probe, selection]),
      probe,
      selection,
    })),
  ),
);

/** The longest beginning that one request may hold; one selection is always allowed. */
function withinLimits(due: readonly DueSelection[]): readonly DueSelection[] {
  let characters = 0;
  return due.filter(({ selection }, index) => {
    characters += selection.select.length;
    return index === 0 || (index < MAX_ALIASES && characters <= MAX_CHARACTERS);
  });
}
