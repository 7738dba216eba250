import { type DocumentNode, GraphQLError } from "graphql";
import { type Answer, type Call, graphError, html, json, queryOf, type ServedRow } from "./answer.ts";
import { campaignsOf } from "./campaigns.ts";
import { type Mismatch, schemaOf, select, understand } from "./select.ts";

/** Which server answers, and the keys that it knows. */
export interface GraphServer {
  readonly kind: "gateway" | "studio" | "graph-node";
  /** The gateway's keys. */
  readonly apiKeys: readonly string[];
  /** graph-node before 0.44 adds the error of a failed subgraph also to `_meta`. */
  readonly errorsBesideMeta: boolean;
}

// graph-node: graph/src/schema/meta.graphql
const SCHEMA = schemaOf(`
  type Query {
    _meta(block: Any): _Meta_
    campaigns(first: Int, orderBy: Any, orderDirection: Any, where: Any): [Campaign]
    streams(first: Int, orderBy: Any, orderDirection: Any, where: Any): [Campaign]
  }
  type Campaign { id: Any chainId: Any subgraphId: Any }
  type _Meta_ { block: _Block_ deployment: Any hasIndexingErrors: Any }
  type _Block_ { hash: Any number: Any timestamp: Any parentHash: Any }
`);

/** Answers as a subgraph: the gateway's checks first, then graph-node's. */
export function answerGraph(server: GraphServer, call: Call, row: ServedRow): Answer {
  const refusal = refuseMethod(server, call) ?? refuseCaller(server, call) ?? refuseBody(call);
  return refusal ?? answerQuery(server, queryOf(call.body) ?? "", row);
}

/** The answer for a path without a subgraph. */
export function answerUnknownSubgraph(server: GraphServer, call: Call): Answer {
  if (server.kind !== "gateway") {
    return json({ message: "Not found" });
  }
  const id = /^\/api\/(?:[^/]+\/)?(?:subgraphs|deployments)\/id\/([^/]+)$/.exec(call.path)?.[1];
  if (id === undefined) {
    return { status: 404, headers: {}, body: "" };
  }
  return refuseMethod(server, call) ?? refuseCaller(server, call) ?? graphError(`subgraph not found: ${id}`);
}

/** `/api/<key>/subgraphs/…`, the older form, is the same subgraph as `/api/subgraphs/…`. */
export function withoutKey(path: string): string {
  return path.replace(/^\/api\/[^/]+\/(subgraphs|deployments)\//, "/api/$1/");
}

function refuseMethod(server: GraphServer, call: Call): Answer | null {
  if (call.method === "POST") {
    return null;
  }
  switch (server.kind) {
    case "gateway":
      return { status: 405, headers: { allow: "POST" }, body: "" };
    case "studio":
      return html("GraphiQL");
    case "graph-node":
      return { status: 302, headers: { location: `${call.path}/graphql` }, body: "" };
  }
}

// gateway: src/middleware/require_auth.rs and src/auth.rs
function refuseCaller(server: GraphServer, call: Call): Answer | null {
  if (server.kind !== "gateway") {
    return null;
  }
  const inPath = /^\/api\/([^/]+)\/(?:subgraphs|deployments)\//.exec(call.path)?.[1];
  const header = inPath === undefined ? call.headers["authorization"] : `Bearer ${inPath}`;
  if (header === undefined) {
    return graphError("auth error: missing authorization header");
  }
  const key = /^Bearer (.*)$/.exec(header)?.[1];
  if (key === undefined) {
    return graphError("auth error: invalid authorization header");
  }
  if (!/^[0-9a-fA-F]{32}$/.test(key)) {
    return graphError(key === "" ? "auth error: missing API key" : "auth error: malformed API key");
  }
  return server.apiKeys.includes(key) ? null : graphError("auth error: API key not found");
}

// graph-node: server/http/src/service.rs
function refuseBody(call: Call): Answer | null {
  if (call.headers["content-type"] === undefined) {
    return json({ error: "Content-Type header is required" }, 400);
  }
  if (call.body === "") {
    return json({ error: "Body is required" }, 400);
  }
  return queryOf(call.body) === null ? graphError("query parse error: the body holds no query") : null;
}

function answerQuery(server: GraphServer, query: string, row: ServedRow): Answer {
  const understood = understand(SCHEMA, query);
  switch (understood.kind) {
    case "query":
      return resolveMeta(server, understood.document, row);
    case "mismatch":
      return graphError(mismatchText(understood.mismatch));
    case "syntax_error": {
      const text = `query parse error: Parse error at 1:1\n${understood.error.message}`;
      return graphError(server.kind === "gateway" ? `bad query: ${text}` : text);
    }
  }
}

function resolveMeta(server: GraphServer, document: DocumentNode, row: ServedRow): Answer {
  if (row.block === null) {
    return graphError(
      `Store error: query execution failed: Subgraph \`${String(row.deployment)}\` has not started syncing yet. Wait for it to ingest a few blocks before querying it`,
    );
  }
  try {
    const events = ({ first = 100, orderDirection }: ListArguments): unknown =>
      campaignsOf(row, { order: orderDirection === "desc" ? "desc" : "asc", limit: first });
    const data = select(SCHEMA, document, {
      _meta: (args: MetaArguments) => metaOf(args, row),
      campaigns: events,
      streams: events,
    });
    return row.indexingErrors === true ? answerOfFailed(server, data) : json({ data });
  } catch (error) {
    if (error instanceof GraphQLError) {
      return graphError(error.message);
    }
    throw error;
  }
}

/** A failed subgraph answers under the key `_meta` only. */
function answerOfFailed({ errorsBesideMeta }: GraphServer, data: unknown): Answer {
  const fields = Object.entries(typeof data === "object" && data !== null ? data : {});
  const kept = fields.filter(([key]) => key === "_meta");
  return kept.length < fields.length || errorsBesideMeta
    ? json({ data: Object.fromEntries(kept), errors: [{ message: "indexing_error" }] })
    : json({ data });
}

interface ListArguments {
  readonly first?: number;
  readonly orderDirection?: unknown;
}

interface MetaArguments {
  readonly block?: unknown;
}

/** @throws {GraphQLError} If the subgraph has not come so far as the `block` argument demands. */
function metaOf({ block: wanted }: MetaArguments, row: ServedRow): unknown {
  for (const name of ["number", "number_gte"]) {
    const least = numberIn(wanted, name);
    if (least !== null && least > Number(row.block)) {
      throw new GraphQLError(
        `Failed to decode \`block.${name}\` value: \`subgraph ${String(row.deployment)} has only indexed up to block number ${String(row.block)} and data for block number ${least} is therefore not yet available\``,
      );
    }
  }
  const number = numberIn(wanted, "number");
  // For a block by number graph-node knows neither hash nor time (graphql/src/store/resolver.rs).
  const block =
    number === null
      ? { number: row.block, hash: row.hash, timestamp: row.timestampSec, parentHash: row.parentHash }
      : { number, hash: null, timestamp: null, parentHash: null };
  return { block, deployment: row.deployment, hasIndexingErrors: row.indexingErrors };
}

function numberIn(block: unknown, name: string): number | null {
  const value: unknown =
    typeof block === "object" && block !== null ? new Map(Object.entries(block)).get(name) : undefined;
  return typeof value === "number" ? value : null;
}

function mismatchText({ problem, typeName, field }: Mismatch): string {
  switch (problem) {
    case "unknown_field":
      return `Type \`${typeName}\` has no field \`${field}\``;
    case "needs_fields":
      return `Field \`${field}\` of type \`${typeName}\` must have a selection of subfields`;
    case "has_no_fields":
      return `Field \`${field}\` must not have a selection since type has no subfields`;
  }
}
