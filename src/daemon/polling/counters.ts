import {
  type Endpoint,
  endpointsOf,
  type Fleet,
  type IndexerId,
  indexerKey,
} from "../../core/model/fleet.ts";
import type { EndpointCounters, IndexerCounters } from "../../core/model/metrics-source.ts";
import { FAILURE_REASONS, type FailureReason } from "../../core/model/observation.ts";

// Object.fromEntries widens its keys to string; these are the list's own.
const NO_FAILURES = Object.fromEntries(
  FAILURE_REASONS.map((reason) => [reason, 0]),
) as EndpointCounters["failures"];

/** Counts requests, failures and skipped rounds; survives a reload for what stays in the fleet. */
export class PollCounters {
  #endpoints: readonly Endpoint[] = [];
  /** By the endpoint's key, as are the failures. */
  #requests = new Map<string, number>();
  /** Only of endpoints that had any. */
  #failures = new Map<string, EndpointCounters["failures"]>();
  #indexers = new Map<string, IndexerCounters>();

  /** Keeps the counts of what stays in `fleet`, drops the rest, and starts what is new at 0. */
  watch(fleet: Fleet): void {
    this.#endpoints = endpointsOf(fleet);
    this.#requests = new Map(this.#endpoints.map(({ key }) => [key, this.#requests.get(key) ?? 0]));
    this.#failures = new Map([...this.#failures].filter(([key]) => this.#requests.has(key)));
    this.#indexers = new Map(
      fleet.indexers.map((indexer) => {
        const key = indexerKey(indexer);
        return [key, { roundsSkipped: this.#indexers.get(key)?.roundsSkipped ?? 0, indexer }];
      }),
    );
  }

  /** An endpoint that a reload removed while its poll was under way is no longer counted. */
  countRequest({ key }: Endpoint): void {
    const requests = this.#requests.get(key);
    if (requests !== undefined) {
      this.#requests.set(key, requests + 1);
    }
  }

  countFailure({ key }: Endpoint, reason: FailureReason): void {
    if (this.#requests.has(key)) {
      const failures = this.#failures.get(key) ?? NO_FAILURES;
      this.#failures.set(key, { ...failures, [reason]: failures[reason] + 1 });
    }
  }

  countSkippedRound(indexer: IndexerId): void {
    const key = indexerKey(indexer);
    const counters = this.#indexers.get(key);
    if (counters !== undefined) {
      this.#indexers.set(key, { ...counters, roundsSkipped: counters.roundsSkipped + 1 });
    }
  }

  endpoints(): readonly EndpointCounters[] {
    return this.#endpoints.map((endpoint) => ({
      endpoint,
      requests: this.#requests.get(endpoint.key) ?? 0,
      failures: this.#failures.get(endpoint.key) ?? NO_FAILURES,
    }));
  }

  indexers(): readonly IndexerCounters[] {
    return [...this.#indexers.values()];
  }
}
