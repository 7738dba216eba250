import type { ServerResponse } from "node:http";

/** A received request. */
export interface Call {
  readonly method: string;
  /** The path without the query string. */
  readonly path: string;
  /** The headers; their names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A reply. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How the reply is damaged in transit. If absent, it is sent intact. */
  readonly damage?: Damage;
}

/** Sends a reply in pieces, late, or cut off. */
export interface Damage {
  readonly name: string;
  readonly send: (response: ServerResponse, answer: Answer) => void;
}

/** Replaces parts of the true reply of an endpoint; null leaves it as it is. */
export type Fault = Partial<Answer> | ((truth: Answer) => Partial<Answer> | null);

/** The report of an indexer about one chain at the instant of a request. */
export interface ServedRow {
  /** The slug of the chain. */
  readonly slug: string;
  /** Null: not started. This and the other values are `unknown`, because a test can make an indexer report anything. */
  readonly block: unknown;
  readonly chainId: unknown;
  readonly timestampSec: unknown;
  readonly hash: unknown;
  readonly deployment: unknown;
  readonly indexingErrors: unknown;
  /** The number of rows for the chain's events up to `block`, or an arbitrary value to report instead. */
  readonly campaigns: unknown;
  /** For an RPC node: its block at a height, if it has the block. */
  readonly blockAt?: (block: number) => Pick<ServedRow, "block" | "hash" | "timestampSec">;
}

export function json(value: unknown, status = 200): Answer {
  const headers = { "content-type": "application/json; charset=utf-8" };
  return { status, headers, body: JSON.stringify(value) };
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
