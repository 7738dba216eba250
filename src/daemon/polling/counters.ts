import {
  type Endpoint,
  endpointsOf,
  type Fleet,
  type IndexerId,
  indexerKey,
} from "../../core/model/fleet.ts";
import {
  DURATION_BOUNDS_SECONDS,
  type DurationCounters,
  type EndpointCounters,
  type IndexerCounters,
} from "../../core/model/metrics-source.ts";
import { FAILURE_REASONS, type FailureReason } from "../../core/model/observation.ts";

/** The counters of one indexer, or of the nodes of all chains, as plain data. */
export interface SavedCounters {
  /** By the endpoint's key. */
  readonly requests: Readonly<Record<string, number>>;
  /** By the endpoint's key, then by reason; only of endpoints that had any. */
  readonly failures: Readonly<Record<string, Readonly<Partial<Record<FailureReason, number>>>>>;
  readonly roundsSkipped: number;
  readonly counts: readonly number[];
  readonly sumSeconds: number;
}

/** Counters as they stand, and a number that changes with them. */
export interface CountersGroup {
  /** `indexerKey` of its endpoints. */
  readonly name: string;
  readonly revision: number;
  readonly save: () => SavedCounters;
}

/** Edited in place: an indexer may have ten thousand endpoints, each polled every few seconds. */
interface Group {
  readonly indexer: IndexerId;
  readonly requests: Map<string, number>;
  /** Only of endpoints that had any. */
  readonly failures: Map<string, EndpointCounters["failures"]>;
  readonly counts: number[];
  roundsSkipped: number;
  sumSeconds: number;
  revision: number;
}

const NO_FAILURES = withReasons(() => 0);
/** One for each bound, and one for what took longer. */
const CLASSES = DURATION_BOUNDS_SECONDS.length + 1;

/** Counts requests, failures, durations and skipped rounds; survives a reload for what stays in the fleet. */
export class PollCounters {
  #endpoints: readonly Endpoint[] = [];
  #indexers: readonly IndexerCounters["indexer"][] = [];
  /** By the indexer's key; the nodes of all chains are one group. */
  #groups: ReadonlyMap<string, Group> = new Map();
  /** By the endpoint's key. */
  #groupOf: ReadonlyMap<string, Group> = new Map();
  #revision = 0;

  /** Keeps the counts of what stays in `fleet`, drops the rest, and starts what is new at 0. */
  watch(fleet: Fleet): void {
    const former = new Map(this.groups().map(({ name, save }) => [name, save()]));
    this.#endpoints = endpointsOf(fleet);
    this.#indexers = fleet.indexers;
    const groups = new Map(fleet.indexers.map((indexer) => [indexerKey(indexer), newGroup(indexer)]));
    const groupOf = new Map<string, Group>();
    for (const endpoint of this.#endpoints) {
      const group = groups.get(indexerKey(endpoint)) ?? newGroup(endpoint);
      group.requests.set(endpoint.key, 0);
      groups.set(indexerKey(endpoint), group);
      groupOf.set(endpoint.key, group);
    }
    this.#groups = groups;
    this.#groupOf = groupOf;
    this.restore(former);
  }

  /** An endpoint that a reload removed while its poll was under way is no longer counted. */
  countRequest(endpoint: Endpoint, durationMs: number): void {
    const group = this.#groupOf.get(endpoint.key);
    if (group !== undefined) {
      const seconds = durationMs / 1000;
      const bound = DURATION_BOUNDS_SECONDS.findIndex((most) => seconds <= most);
      const index = bound === -1 ? DURATION_BOUNDS_SECONDS.length : bound;
      group.requests.set(endpoint.key, (group.requests.get(endpoint.key) ?? 0) + 1);
      group.counts[index] = (group.counts[index] ?? 0) + 1;
      group.sumSeconds += seconds;
      this.#changed(group);
    }
  }

  countFailure(endpoint: Endpoint, reason: FailureReason): void {
    const group = this.#groupOf.get(endpoint.key);
    if (group !== undefined) {
      const failures = group.failures.get(endpoint.key) ?? NO_FAILURES;
      group.failures.set(endpoint.key, { ...failures, [reason]: failures[reason] + 1 });
      this.#changed(group);
    }
  }

  countSkippedRound(indexer: IndexerId): void {
    const group = this.#groups.get(indexerKey(indexer));
    if (group !== undefined) {
      group.roundsSkipped += 1;
      this.#changed(group);
    }
  }

  endpoints(): readonly EndpointCounters[] {
    return this.#endpoints.map((endpoint) => {
      const group = this.#groups.get(indexerKey(endpoint));
      return {
        endpoint,
        requests: group?.requests.get(endpoint.key) ?? 0,
        failures: group?.failures.get(endpoint.key) ?? NO_FAILURES,
      };
    });
  }

  indexers(): readonly IndexerCounters[] {
    return this.#indexers.map((indexer) => ({
      indexer,
      roundsSkipped: this.#groups.get(indexerKey(indexer))?.roundsSkipped ?? 0,
    }));
  }

  /** Of those that have sent a request. */
  durations(): readonly DurationCounters[] {
    return [...this.#groups.values()]
      .filter(({ counts }) => sum(counts) > 0)
      .map(({ indexer, counts, sumSeconds }) => ({ indexer, counts: [...counts], sumSeconds }));
  }

  /** For another replica, in parts that change separately. */
  groups(): readonly CountersGroup[] {
    return [...this.#groups].map(([name, group]) => ({
      name,
      revision: group.revision,
      save: () => ({
        requests: Object.fromEntries(group.requests),
        failures: Object.fromEntries(group.failures),
        roundsSkipped: group.roundsSkipped,
        counts: [...group.counts],
        sumSeconds: group.sumSeconds,
      }),
    }));
  }

  /** Continues what another process has counted, by the groups' names; a count that is ahead of it stays. */
  restore(saved: ReadonlyMap<string, SavedCounters>): void {
    for (const [key, group] of this.#groups) {
      const known = saved.get(key);
      if (known !== undefined) {
        raise(group, known);
        this.#changed(group);
      }
    }
  }

  #changed(group: Group): void {
    this.#revision += 1;
    group.revision = this.#revision;
  }
}

function newGroup({ protocol, variant, tier }: IndexerId): Group {
  return {
    indexer: { protocol, variant, tier },
    requests: new Map(),
    failures: new Map(),
    counts: new Array<number>(CLASSES).fill(0),
    roundsSkipped: 0,
    sumSeconds: 0,
    revision: 0,
  };
}

function raise(group: Group, saved: SavedCounters): void {
  for (const [key, requests] of group.requests) {
    group.requests.set(key, Math.max(requests, saved.requests[key] ?? 0));
    const failures = saved.failures[key];
    if (failures !== undefined) {
      const known = group.failures.get(key) ?? NO_FAILURES;
      group.failures.set(
        key,
        withReasons((reason) => Math.max(known[reason], failures[reason] ?? 0)),
      );
    }
  }
  group.roundsSkipped = Math.max(group.roundsSkipped, saved.roundsSkipped);
  if (sum(saved.counts) > sum(group.counts)) {
    group.counts.splice(0, CLASSES, ...group.counts.map((_, index) => saved.counts[index] ?? 0));
    group.sumSeconds = saved.sumSeconds;
  }
}

// Object.fromEntries widens its keys to string; these are the list's own.
function withReasons(countOf: (reason: FailureReason) => number): EndpointCounters["failures"] {
  return Object.fromEntries(
    FAILURE_REASONS.map((reason) => [reason, countOf(reason)]),
  ) as EndpointCounters["failures"];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
