import { createHash } from "node:crypto";
import type { Exchange } from "../../core/model/exchange.ts";
import { type Endpoint, endpointsOf, type Fleet } from "../../core/model/fleet.ts";
import { memoize } from "../../core/model/memoize.ts";
import type { Failure } from "../../core/model/observation.ts";
import { MOST_IN_REQUEST, type QueryResult, queryKeyOf, type Selection } from "../../core/model/selection.ts";
import { NEW_SEARCH, type QuestionSearch } from "../../dialects/search.ts";
import { Counters } from "./counters.ts";

/** All that is remembered of an endpoint between polls. Edited in place. */
export interface EndpointState {
  /** As in the configuration in use. */
  endpoint: Endpoint;
  /** Which of its dialect's questions the next poll begins with, and which were refused. */
  search: QuestionSearch;
  /**
   * A failure, other than a rate limit, after which the server named a time to come back. Until that time, by a clock that never
   * jumps, nothing is sent, and the targets keep this failure.
   */
  outage: (Failure & { readonly untilMs: number }) | null;
  /** Whether it was polled, by this process or by another one whose result still holds. */
  isPolled: boolean;
  /** The poll that waits in the queue or is under way: no endpoint is polled twice at once. */
  poll: PollUnderWay | null;
  /** The number of polls outside its schedule since the last scheduled poll, and the timer of the next one. */
  confirmations: number;
  confirmation: NodeJS.Timeout | undefined;
  /** The selections of probes that were sent, by their keys from `queryKeyOf`. */
  readonly selections: Record<string, SelectionState>;
  /** The chain ids in the last reply of an indexer; null: the reply named none. */
  served: readonly number[] | null;
  /** The mistake in chains.yaml that its last reply shows, as it was logged; null: there is none. */
  mistake: string | null;
  readonly exchanges: RecentExchanges;
  /** The exchanges with its index-node API. */
  readonly statusExchanges: RecentExchanges;
  readonly counters: Counters;
}

export interface PollUnderWay {
  /** By a clock that never jumps; null while it waits. */
  startedMs: number | null;
  ended: Promise<void>;
}

interface SelectionState {
  /** By a clock that never jumps. */
  readonly dueMs: number;
  /** How many results in a row were failures. */
  readonly failures: number;
}

export class EndpointStates {
  #states: ReadonlyMap<string, EndpointState> = new Map();
  /** Endpoints that were removed are included, because a sum over several endpoints must not fall. */
  readonly #counters = new Map<string, Counters>();

  constructor(fleet: Fleet) {
    this.watch(fleet);
  }

  /**
   * Changes to another fleet. An endpoint with the same key keeps its exchanges and counters; if its requests have
   * not changed, it keeps everything but its outage. RPC nodes are asked for their chain again.
   */
  watch(fleet: Fleet): void {
    const states = endpointsOf(fleet).map((endpoint) =>
      stateOf(endpoint, this.#states.get(endpoint.key), this.countersOf(endpoint.key)),
    );
    this.#states = new Map(states.map((state) => [state.endpoint.key, state]));
  }

  all(): readonly EndpointState[] {
    return [...this.#states.values()];
  }

  of(key: string): EndpointState | undefined {
    return this.#states.get(key);
  }

  /** By the endpoint's key. */
  counters(): ReadonlyMap<string, Counters> {
    return this.#counters;
  }

  countersOf(key: string): Counters {
    const counters = this.#counters.get(key) ?? new Counters();
    this.#counters.set(key, counters);
    return counters;
  }

  /** Whether this is still the state of its endpoint: a reload may have changed or removed it. */
  has(state: EndpointState): boolean {
    return this.#states.get(state.endpoint.key) === state;
  }

  /** Which question each endpoint answered last, by a digest of the endpoint. */
  saveQuestions(): Readonly<Record<string, number>> {
    const known = this.all().filter(({ search }) => search !== NEW_SEARCH);
    return Object.fromEntries(
      known.map(({ endpoint, search }) => [identityOf(endpoint), search.questionIndex]),
    );
  }

  /** Takes over the questions that another process has saved. */
  restoreQuestions(saved: Readonly<Record<string, number>>): void {
    for (const state of this.#states.values()) {
      const questionIndex = saved[identityOf(state.endpoint)];
      if (questionIndex !== undefined) {
        state.search = { ...NEW_SEARCH, questionIndex, isAnswered: state.isPolled };
      }
    }
  }

  /** Marks an endpoint as polled if another process has polled it and the result still holds. */
  noteEvidence(hasEvidence: (endpoint: Endpoint) => boolean): void {
    for (const state of this.#states.values()) {
      if (!state.isPolled && state.search !== NEW_SEARCH && hasEvidence(state.endpoint)) {
        state.isPolled = true;
        state.search = { ...state.search, isAnswered: true };
      }
    }
  }
}

/** The state of an endpoint, with the parts of its former state that still hold. */
function stateOf(endpoint: Endpoint, former: EndpointState | undefined, counters: Counters): EndpointState {
  if (former !== undefined && requestIdOf(former.endpoint) === requestIdOf(endpoint)) {
    former.endpoint = endpoint;
    // Somebody may have repaired the server.
    former.outage = null;
    former.search = former.search.isOfChain ? { ...former.search, isOfChain: false } : former.search;
    return former;
  }
  return {
    endpoint,
    search: NEW_SEARCH,
    outage: null,
    isPolled: false,
    poll: null,
    confirmations: 0,
    confirmation: undefined,
    selections: {},
    served: null,
    mistake: null,
    exchanges: former?.exchanges ?? { replies: [], failures: [] },
    statusExchanges: former?.statusExchanges ?? { replies: [], failures: [] },
    counters,
  };
}

/** What a poll sends, and to which URL. It may hold a key, and must not leave the process. */
const requestIdOf = memoize(({ key, url, dialect, headers, chainId }: Endpoint): string =>
  JSON.stringify([key, url, dialect, headers, chainId]),
);

/** Identifies an endpoint in the saved questions. A digest, because it is written to disk, and a URL may hold a key. */
const identityOf = memoize(({ key, url, dialect }: Endpoint): string =>
  createHash("sha256").update(`${key} ${dialect} ${url}`).digest().toString("hex", 0, 16),
);

const KEPT_REPLIES = 3;
/** Kept apart from the replies, so that a recovered endpoint still shows its last failures. */
const KEPT_FAILURES = 5;

/** The last exchanges with one server, newest first, in memory only. */
export interface RecentExchanges {
  replies: readonly Exchange[];
  failures: readonly Exchange[];
}

export function noteExchange(exchanges: RecentExchanges, exchange: Exchange): void {
  if (exchange.outcome === "usable") {
    exchanges.replies = [exchange, ...exchanges.replies].slice(0, KEPT_REPLIES);
  } else {
    exchanges.failures = [exchange, ...exchanges.failures].slice(0, KEPT_FAILURES);
  }
}

/** The longest query of one request: Ponder allows a thousand tokens. */
const MAX_CHARACTERS = 8_000;
/** Polls are never exactly on time. A selection is due early by this share of the poll interval, or of `every` if that is shorter. */
const TOLERANCE = 0.1;
const NEVER_ASKED: SelectionState = { dueMs: Number.NEGATIVE_INFINITY, failures: 0 };

/**
 * The selections that a scheduled poll carries: of the probe that has waited longest, up to the limit of one request. A request
 * has selections of one probe only, so that it is known which probe a server refuses.
 */
export function dueSelections(state: EndpointState, nowMs: number): readonly Selection[] {
  const { endpoint, search } = state;
  if (!search.isAnswered || endpoint.selections === undefined) {
    return [];
  }
  const dueMs = (one: Selection): number => stateOfSelection(state, one).dueMs;
  return fitting(
    endpoint.selections
      .filter((one) => {
        const toleranceMs = TOLERANCE * Math.min(endpoint.pollIntervalMs, one.everyMs);
        return dueMs(one) - toleranceMs <= nowMs;
      })
      .sort((one, other) => (dueMs(one) < dueMs(other) ? -1 : Number(dueMs(one) > dueMs(other)))),
  );
}

/** The selections that a confirmation poll carries: those whose last result was a first failure. */
export function doubtfulSelections(state: EndpointState): readonly Selection[] {
  return fitting(
    (state.endpoint.selections ?? []).filter((one) => stateOfSelection(state, one).failures === 1),
  );
}

/** The first selection, and others of its probe, up to the limit of one request. */
function fitting([first, ...others]: readonly Selection[]): readonly Selection[] {
  let characters = first?.select.length ?? 0;
  const fit = others
    .filter(({ address, probe }) => probe === first?.probe && address?.url === first.address?.url)
    .slice(0, MOST_IN_REQUEST - 1)
    .filter(({ select }) => {
      characters += select.length;
      return characters <= MAX_CHARACTERS;
    });
  return first === undefined ? [] : [first, ...fit];
}

/** Records that selections were sent at `sentMs`, and are due again after `leastMs` at the earliest. */
export function noteSent(
  state: EndpointState,
  { selections, sentMs }: { readonly selections: readonly Selection[]; readonly sentMs: number },
  leastMs = 0,
): void {
  for (const one of selections) {
    const { failures } = stateOfSelection(state, one);
    state.selections[queryKeyOf(one)] = { dueMs: sentMs + Math.max(one.everyMs, leastMs), failures };
  }
}

/** Records the results of selections. */
export function noteResults({ selections }: EndpointState, results: readonly QueryResult[]): void {
  for (const { queryKey, failure } of results) {
    const { dueMs, failures } = selections[queryKey] ?? NEVER_ASKED;
    selections[queryKey] = { dueMs, failures: failure === null ? 0 : failures + 1 };
  }
}

function stateOfSelection({ selections }: EndpointState, selection: Selection): SelectionState {
  return selections[queryKeyOf(selection)] ?? NEVER_ASKED;
}
