import type { ChainModel } from "../model/chain-model.ts";

/** Which software, in which version, an endpoint plays. */
export type ServerKind =
  /** The Graph's gateway: needs a key, says 200 to everything, several indexers behind one URL. */
  | "gateway"
  /** Subgraph Studio: no key, so many requests a day and URL. */
  | "studio"
  /** graph-node behind its own URL. */
  | "graph-node"
  /** Envio with `progressBlockTime`. */
  | "envio"
  /** Envio 2.28 to 3.8: `_meta`, and no time. */
  | "envio-3.2"
  /** Envio before 2.28: only `chain_metadata`. */
  | "envio-2.27"
  | "ponder"
  /** SQD's GraphQL server, of one chain. */
  | "squid"
  | "subquery"
  /** GraphQL of a shape of its own, for dialect custom. */
  | "custom"
  /** A JSON-RPC node of the chain itself. */
  | "rpc";

/** A request as it came in. */
export interface Call {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What goes back, before any fault spoils it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What an indexer says of one chain at the instant at which a request reads it. */
export interface ServedRow {
  readonly chain: ChainModel;
  /** The rest is `unknown`, for an indexer may be told to say nonsense. Null: not started. */
  readonly block: unknown;
  readonly chainId: unknown;
  readonly timestampSec: unknown;
  readonly hash: unknown;
  readonly parentHash: unknown;
  readonly deployment: unknown;
  readonly indexingErrors: unknown;
  /** What it believes the head to be. */
  readonly sourceBlock: unknown;
}

/** A JSON answer. Several header values of real servers are left out: nobody reads them. */
export function json(value: unknown, status = 200): Answer {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify(value),
  };
}

/** `{"errors":[{"message":…}]}` with HTTP 200, as graph-node and the gateway put every trouble. */
export function graphError(message: string): Answer {
  return json({ errors: [{ message }] });
}

/** A page for people. */
export function html(title: string, status = 200): Answer {
  return {
    status,
    headers: { "content-type": "text/html; charset=utf-8" },
    body: `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><center><h1>${title}</h1></center></body></html>\n`,
  };
}

/** The text of `{"query": …}`, or null where the body is something else. */
export function queryOf(body: string): string | null {
  const value = parseJson(body);
  if (typeof value !== "object" || value === null || !("query" in value)) {
    return null;
  }
  return typeof value.query === "string" ? value.query : null;
}

/** JSON, or undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) {
      return undefined;
    }
    throw error;
  }
}
