import type { Exchange, Exchanges } from "../core/exchange.ts";
import { type Endpoint, endpointsOf, type Fleet } from "../core/fleet.ts";

const KEPT_REPLIES = 3;
/** An endpoint that is well again still shows what was wrong. */
const KEPT_FAILURES = 5;

const NOTHING: Exchanges = { replies: [], failures: [] };

/** The last exchanges with each endpoint, in memory only. */
export class Journal {
  #exchanges = new Map<string, Exchanges>();

  /** Forgets the endpoints that are no longer polled. */
  watch(fleet: Fleet): void {
    const known = endpointsOf(fleet).map(({ key }) => [key, this.of(key)] as const);
    this.#exchanges = new Map(known);
  }

  note({ key }: Endpoint, exchange: Exchange): void {
    const { replies, failures } = this.of(key);
    const isUsable = exchange.outcome === "usable";
    this.#exchanges.set(key, {
      replies: isUsable ? [exchange, ...replies].slice(0, KEPT_REPLIES) : replies,
      failures: isUsable ? failures : [exchange, ...failures].slice(0, KEPT_FAILURES),
    });
  }

  /** Of the endpoint with this key. */
  of(key: string): Exchanges {
    return this.#exchanges.get(key) ?? NOTHING;
  }
}
