import type { ServerResponse } from "node:http";

/** A received request. */
export interface Call {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A reply. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** How the reply is damaged in transit; absent: it is sent intact. */
  readonly damage?: Damage;
}

/** Sends a reply in pieces, late, or cut off. */
export interface Damage {
  readonly name: string;
  readonly send: (response: ServerResponse, answer: Answer) => void;
}

/** What an endpoint sends in place of, or in addition to, the true reply; null: the true reply. */
export type Fault = Partial<Answer> | ((truth: Answer) => Partial<Answer> | null);

/** What an indexer reports of one chain at the instant of a request. */
export interface ServedRow {
  /** The slug of the chain. */
  readonly slug: string;
  /** `unknown`, like the rest, because an indexer can be made to report any value. Null: not started. */
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

/** A JSON reply, without the headers that real servers add and nobody reads. */
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
