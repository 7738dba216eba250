import { type Endpoint, endpointsOf, type Fleet, type Indexer } from "../core/fleet.ts";
import { FAILURE_REASONS, type FailureReason } from "../core/observation.ts";

/** What was sent to one endpoint since the start. */
export interface EndpointTally {
  readonly endpoint: Endpoint;
  readonly requests: number;
  readonly failures: Readonly<Record<FailureReason, number>>;
}

export interface IndexerTally {
  readonly indexer: Indexer;
  readonly roundsSkipped: number;
}

/** Counts requests, failures and skipped rounds; survives a reload for what stays in the fleet. */
export class Tally {
  #endpoints = new Map<string, EndpointTally>();
  #indexers = new Map<string, IndexerTally>();

  /** Keeps what remains in `fleet`, drops the rest, and starts the new at 0. */
  watch(fleet: Fleet): void {
    this.#endpoints = new Map(
      endpointsOf(fleet).map((endpoint) => [
        endpoint.key,
        { ...(this.#endpoints.get(endpoint.key) ?? { requests: 0, failures: noFailures() }), endpoint },
      ]),
    );
    this.#indexers = new Map(
      fleet.indexers.map((indexer) => {
        const key = indexerKey(indexer);
        return [key, { roundsSkipped: this.#indexers.get(key)?.roundsSkipped ?? 0, indexer }];
      }),
    );
  }

  countRequest(endpoint: Endpoint): void {
    this.#update(endpoint, (tally) => ({ ...tally, requests: tally.requests + 1 }));
  }

  countFailure(endpoint: Endpoint, reason: FailureReason): void {
    this.#update(endpoint, (tally) => ({
      ...tally,
      failures: { ...tally.failures, [reason]: tally.failures[reason] + 1 },
    }));
  }

  countSkippedRound(indexer: Pick<Indexer, "protocol" | "variant" | "tier">): void {
    const key = indexerKey(indexer);
    const tally = this.#indexers.get(key);
    if (tally !== undefined) {
      this.#indexers.set(key, { ...tally, roundsSkipped: tally.roundsSkipped + 1 });
    }
  }

  endpoints(): readonly EndpointTally[] {
    return [...this.#endpoints.values()];
  }

  indexers(): readonly IndexerTally[] {
    return [...this.#indexers.values()];
  }

  /** An endpoint that a reload removed while its poll was under way is no longer counted. */
  #update(endpoint: Endpoint, change: (tally: EndpointTally) => EndpointTally): void {
    const tally = this.#endpoints.get(endpoint.key);
    if (tally !== undefined) {
      this.#endpoints.set(endpoint.key, change(tally));
    }
  }
}

function indexerKey({ protocol, variant, tier }: Pick<Indexer, "protocol" | "variant" | "tier">): string {
  return `${protocol}/${variant}/${tier}`;
}

function noFailures(): Record<FailureReason, number> {
  // Object.fromEntries widens its keys to string; these are the list's own.
  return Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0])) as Record<FailureReason, number>;
}
