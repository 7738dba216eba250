import type { Exchange, Exchanges } from "../../core/model/exchange.ts";
import { type Endpoint, endpointsOf, type Fleet, statusEndpointOf } from "../../core/model/fleet.ts";

const KEPT_REPLIES = 3;
/** An endpoint that has recovered still shows what was wrong. */
const KEPT_FAILURES = 5;

/** By the endpoint's key, each list oldest first. */
type Kept = Map<string, Exchange[]>;

/** The last exchanges with each endpoint, in memory only. */
export class ExchangeLog {
  #replies: Kept = new Map();
  #failures: Kept = new Map();

  /** Forgets the endpoints that are no longer polled. */
  watch(fleet: Fleet): void {
    const known = new Set(
      endpointsOf(fleet).flatMap((endpoint) => [endpoint.key, statusEndpointOf(endpoint)?.key ?? []].flat()),
    );
    this.#replies = new Map([...this.#replies].filter(([key]) => known.has(key)));
    this.#failures = new Map([...this.#failures].filter(([key]) => known.has(key)));
  }

  note({ key }: Endpoint, exchange: Exchange): void {
    if (exchange.outcome === "usable") {
      keep(this.#replies, { key, exchange, most: KEPT_REPLIES });
    } else {
      keep(this.#failures, { key, exchange, most: KEPT_FAILURES });
    }
  }

  /** Of the endpoint with this key. */
  of(key: string): Exchanges {
    return {
      replies: (this.#replies.get(key) ?? []).toReversed(),
      failures: (this.#failures.get(key) ?? []).toReversed(),
    };
  }
}

interface Entry {
  readonly key: string;
  readonly exchange: Exchange;
  readonly most: number;
}

function keep(kept: Kept, { key, exchange, most }: Entry): void {
  const list = kept.get(key);
  if (list === undefined) {
    kept.set(key, [exchange]);
    return;
  }
  list.push(exchange);
  if (list.length > most) {
    list.shift();
  }
}
