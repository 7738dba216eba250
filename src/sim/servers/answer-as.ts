import { type Answer, type Call, html, json, type ServedRow, type ServerKind } from "./answer.ts";
import { answerCustom } from "./custom.ts";
import { answerEnvio, answerUnknownResource } from "./envio.ts";
import { answerGraph, answerUnknownSubgraph } from "./graph.ts";
import { answerGraphStatus } from "./graph-status.ts";
import { answerPonder } from "./ponder.ts";
import { answerRpc } from "./rpc.ts";
import { answerSquid } from "./squid.ts";
import { answerSubquery } from "./subquery.ts";

/** The software that answers, and its settings. */
export interface Responder {
  readonly kind: ServerKind;
  /** The gateway's keys. */
  readonly apiKeys: readonly string[];
  /** graph-node before 0.44. */
  readonly errorsBesideMeta: boolean;
}

/** Answers a request as the real software would. @throws {RangeError} If a server of one chain has no row. */
export function answerAs(responder: Responder, call: Call, rows: readonly ServedRow[]): Answer {
  const { kind } = responder;
  switch (kind) {
    case "gateway":
    case "studio":
    case "graph-node":
      return answerGraph({ ...responder, kind }, call, firstOf(rows, kind));
    case "envio":
    case "envio-3.2":
    case "envio-2.27":
      return answerEnvio(kind, call, rows);
    case "ponder":
      return answerPonder(call, rows);
    case "squid":
      return answerSquid(call, firstOf(rows, kind));
    case "subquery":
      return answerSubquery(call, rows);
    case "graph-status":
      return answerGraphStatus(call, rows);
    case "custom":
      return answerCustom(call, rows);
    case "rpc":
      return answerRpc(call, firstOf(rows, kind));
  }
}

/** Answers for a path that no endpoint has. */
export function answerStray(responder: Responder, call: Call): Answer {
  const { kind } = responder;
  switch (kind) {
    case "gateway":
    case "studio":
    case "graph-node":
      return answerUnknownSubgraph({ ...responder, kind }, call);
    case "envio":
    case "envio-3.2":
    case "envio-2.27":
      return answerUnknownResource();
    case "ponder":
    case "squid":
    case "subquery":
    case "graph-status":
      return json({ message: "Not found" });
    case "custom":
    case "rpc":
      return html("404 Not Found", 404);
  }
}

function firstOf(rows: readonly ServedRow[], kind: ServerKind): ServedRow {
  const row = rows[0];
  if (row === undefined) {
    throw new RangeError(`Cannot answer as ${kind}: it speaks of one chain and has no row`);
  }
  return row;
}
