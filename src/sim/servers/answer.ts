import type { ChainModel } from "../model/chain-model.ts";

/** The software, and its version, that an endpoint simulates. */
export type ServerKind =
  /** The Graph's gateway: needs a key, answers 200 to everything, has several indexers behind one URL. */
  | "gateway"
  /** Subgraph Studio: no key, a daily limit per URL. */
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
  /** graph-node's index-node API. */
  | "graph-status"
  /** GraphQL of a shape of its own, for dialect custom. */
  | "custom"
  /** A JSON-RPC node of the chain itself. */
  | "rpc";

/** A received request. */
export interface Call {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A response, before any fault changes it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What an indexer reports of one chain at the instant of a request. */
export interface ServedRow {
  readonly chain: ChainModel;
  /** `unknown`, like the rest, because an indexer can be made to report any value. Null: not started. */
  readonly block: unknown;
  readonly chainId: unknown;
  readonly timestampSec: unknown;
  readonly hash: unknown;
  readonly parentHash: unknown;
  readonly deployment: unknown;
  readonly indexingErrors: unknown;
  /** The head of the chain as the indexer reports it. */
  readonly sourceBlock: unknown;
  /** How many rows it has of the chain's events up to `block`, or the value that it gives in place of a row's. */
  readonly campaigns: unknown;
}

/** A JSON answer, without the headers of real servers that nothing reads. */
export function json(value: unknown, status = 200): Answer {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify(value),
  };
}

/** `{"errors":[{"message":…}]}` with HTTP 200, the form of every error of graph-node and the gateway. */
export function graphError(message: string): Answer {
  return json({ errors: [{ message }] });
}

/** An HTML page. */
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
