import { type Endpoint, endpointsOf, type Fleet } from "../../core/model/fleet.ts";
import { groupBy } from "../../core/model/group-by.ts";
import { memoize } from "../../core/model/memoize.ts";
import type { CarriedProbe, CarriedSelection, ParityReading } from "../../core/model/parity.ts";
import type { QuestionSearch } from "../../dialects/search.ts";
import { type PollPorts, type PollResult, poll } from "../polling/poll.ts";
import { requestIdOf } from "../polling/rounds.ts";
import { type CarryingResult, pollCarrying } from "./poll-carrying.ts";

/** GraphQL Armor's default limit; Ponder allows 30. */
const MAX_ALIASES = 15;
/** Ponder allows a thousand tokens. */
const MAX_CHARACTERS = 8_000;
const LONGEST_WAIT_MS = 86_400_000;
/** Polls are never exactly on time: one this much early, by its interval or by `every`, is on time. */
const TOLERANCE = 0.1;

/** One selection of one endpoint. */
interface Unit {
  readonly id: string;
  readonly probe: CarriedProbe;
  readonly selection: CarriedSelection;
}

interface UnitState {
  readonly dueMs: number;
  /** Refusals in a row. */
  readonly refusals: number;
  /** A request with it was refused since it was last answered: it is asked apart from other probes. */
  readonly isSuspect: boolean;
}

const NEW_STATE: UnitState = { dueMs: Number.NEGATIVE_INFINITY, refusals: 0, isSuspect: false };

/** Which selections the next scheduled poll of each endpoint carries. Times are of a clock that never jumps. */
export class ParitySchedule {
  readonly #monotonicMs: () => number;
  #states = new Map<string, UnitState>();
  /** Endpoints of which a poll that carried something observed nothing: until one is answered, their polls carry nothing. */
  #bare = new Set<string>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Polls an endpoint; a scheduled poll carries what is due. */
  async poll(endpoint: Endpoint, search: QuestionSearch, ports: PollPorts): Promise<PollResult> {
    const nowMs = this.#monotonicMs();
    const id = requestIdOf(endpoint);
    const mayCarry = ports.use === "scheduled" && !this.#bare.has(id);
    const probes = mayCarry ? this.due(endpoint, nowMs) : [];
    if (probes.length === 0) {
      const result = await poll(endpoint, search, ports);
      if (result.observations.some(({ kind }) => kind !== "failed")) {
        this.#bare.delete(id);
      }
      return result;
    }
    const result = await pollCarrying(endpoint, { search, probes }, ports);
    if (result.carriage === "unclear" && result.observations.length === 0) {
      this.#bare.add(id);
    }
    return { ...result, readings: this.settle(endpoint, probes, { result, nowMs }) };
  }

  /** What a poll that starts now carries: all that is due, as far as one request may hold it. */
  due(endpoint: Endpoint, nowMs: number): readonly CarriedProbe[] {
    const due = unitsOf(endpoint).filter(({ id, probe }) => {
      const toleranceMs = TOLERANCE * Math.min(endpoint.pollIntervalMs, probe.everyMs);
      return this.#stateOf(id).dueMs - toleranceMs <= nowMs;
    });
    const suspect = due.find(({ id }) => this.#stateOf(id).isSuspect);
    const chosen = suspect === undefined ? due : due.filter(({ probe }) => probe === suspect.probe);
    return toProbes(withinLimits(chosen));
  }

  /**
   * Takes in what came of a poll, and returns its readings. Where a request with several probes was refused, nobody knows
   * whose fault it was: they are due again, one by one, and nothing is said of them.
   */
  settle(
    endpoint: Endpoint,
    carried: readonly CarriedProbe[],
    { result, nowMs }: { readonly result: CarryingResult; readonly nowMs: number },
  ): readonly ParityReading[] {
    const { carriage, readings } = result;
    if (carriage === "none") {
      return readings;
    }
    const isShared = carriage === "refused" && carried.length > 1;
    const selections = new Set(carried.flatMap((probe) => probe.selections));
    for (const { id, probe, selection } of unitsOf(endpoint)) {
      if (selections.has(selection)) {
        const state = this.#stateOf(id);
        const next = isShared ? { ...state, isSuspect: true } : after(carriage, { state, probe, nowMs });
        this.#states.set(id, next);
      }
    }
    return isShared ? [] : readings;
  }

  /** Forgets what the fleet no longer asks. */
  retain(fleet: Fleet): void {
    const endpoints = endpointsOf(fleet);
    const known = new Set(endpoints.flatMap((endpoint) => unitsOf(endpoint).map(({ id }) => id)));
    this.#states = new Map([...this.#states].filter(([id]) => known.has(id)));
    const requests = new Set(endpoints.map(requestIdOf));
    this.#bare = new Set([...this.#bare].filter((id) => requests.has(id)));
  }

  #stateOf(id: string): UnitState {
    return this.#states.get(id) ?? NEW_STATE;
  }
}

function after(
  carriage: "answered" | "refused" | "unclear",
  {
    state,
    probe,
    nowMs,
  }: { readonly state: UnitState; readonly probe: CarriedProbe; readonly nowMs: number },
): UnitState {
  const { everyMs } = probe;
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

/** A changed URL or selection has another id, and so is asked at once. It may hold a key, and stays in memory. */
const unitsOf = memoize(({ key, url, parity = [] }: Endpoint): readonly Unit[] =>
  parity.flatMap((probe) =>
    probe.selections.map((selection) => ({
      id: JSON.stringify([key, url, probe.probe, selection]),
      probe,
      selection,
    })),
  ),
);

/** The longest beginning that one request may hold; one selection is always allowed. */
function withinLimits(units: readonly Unit[]): readonly Unit[] {
  let characters = 0;
  const tooMany = units.findIndex(({ selection }, index) => {
    characters += selection.select.length;
    return index > 0 && (index >= MAX_ALIASES || characters > MAX_CHARACTERS);
  });
  return tooMany < 0 ? units : units.slice(0, tooMany);
}

function toProbes(units: readonly Unit[]): readonly CarriedProbe[] {
  return Array.from(
    groupBy(units, ({ probe }) => probe),
    ([probe, own]) => ({
      ...probe,
      selections: own.map(({ selection }) => selection),
    }),
  );
}
