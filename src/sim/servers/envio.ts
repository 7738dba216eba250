import type { GraphQLSchema } from "graphql";
import { type Answer, type Call, json, parseJson, queryOf, type ServedRow } from "./answer.ts";
import { campaignsOf } from "./campaigns.ts";
import { type Mismatch, schemaOf, select, understand } from "./select.ts";

type EnvioKind = "envio" | "envio-3.2" | "envio-2.27";

// hyperindex: packages/envio/src/db/InternalTable.res
const META_COLUMNS =
  "bufferBlock chainId endBlock eventsProcessed firstEventBlock isReady progressBlock readyAt sourceBlock startBlock";
const NEWEST_META_COLUMNS = `${META_COLUMNS} ecosystem progressBlockTime`;
const CHAIN_METADATA_COLUMNS =
  "block_height chain_id end_block first_event_block_number is_hyper_sync latest_fetched_block_number latest_processed_block num_batches_fetched num_events_processed start_block timestamp_caught_up_to_head_or_endblock";

const CAMPAIGN_COLUMNS = "id chainId subgraphId";

const SCHEMAS: Readonly<Record<EnvioKind, GraphQLSchema>> = {
  envio: tables({
    _meta: NEWEST_META_COLUMNS,
    chain_metadata: CHAIN_METADATA_COLUMNS,
    Campaign: CAMPAIGN_COLUMNS,
    Stream: CAMPAIGN_COLUMNS,
  }),
  "envio-3.2": tables({
    _meta: META_COLUMNS,
    chain_metadata: CHAIN_METADATA_COLUMNS,
    Campaign: CAMPAIGN_COLUMNS,
    Stream: CAMPAIGN_COLUMNS,
  }),
  "envio-2.27": tables({
    chain_metadata: CHAIN_METADATA_COLUMNS,
    Campaign: CAMPAIGN_COLUMNS,
    Stream: CAMPAIGN_COLUMNS,
  }),
};

/** Answers as the Hasura in front of an Envio indexer does: rows for all chains, HTTP 200 for every refusal. */
export function answerEnvio(kind: EnvioKind, call: Call, rows: readonly ServedRow[]): Answer {
  if (call.method !== "POST") {
    return answerUnknownResource();
  }
  if (parseJson(call.body) === undefined) {
    return refusal("invalid-json", "$", "Error in $: not enough input");
  }
  const query = queryOf(call.body);
  if (query === null) {
    return refusal("parse-failed", "$", 'parsing failed, key "query" not found');
  }
  const schema = SCHEMAS[kind];
  const understood = understand(schema, query);
  switch (understood.kind) {
    case "query":
      return json({ data: select(schema, understood.document, tablesOf(rows)) });
    case "mismatch": {
      const path = ["$", ...understood.mismatch.path.flatMap((name) => ["selectionSet", name])].join(".");
      return refusal("validation-failed", path, mismatchText(understood.mismatch));
    }
    case "syntax_error":
      return refusal("validation-failed", "$.query", "not a valid graphql query");
  }
}

/** Hasura's answer to a path or a method that it does not have. */
export function answerUnknownResource(): Answer {
  return json({ path: "$", error: "resource does not exist", code: "not-found" }, 404);
}

function refusal(code: string, path: string, message: string): Answer {
  return json({ errors: [{ message, extensions: { path, code } }] });
}

function mismatchText({ problem, typeName, field }: Mismatch): string {
  switch (problem) {
    case "unknown_field":
      return `field '${field}' not found in type: '${typeName}'`;
    case "needs_fields":
      return `missing selection set for '${typeName}'`;
    case "has_no_fields":
      return `unexpected subselection set for non-object field`;
  }
}

interface TableArguments {
  readonly where?: unknown;
  readonly order_by?: unknown;
  readonly limit?: number;
}

function tablesOf(rows: readonly ServedRow[]): Readonly<Record<string, unknown>> {
  const inOrder = rows.toSorted((one, other) => Number(one.chainId) - Number(other.chainId));
  const events = ({ where, order_by, limit = 100 }: TableArguments): unknown => {
    const order = entry(order_by, "subgraphId") === "desc" ? "desc" : "asc";
    const all = inOrder.flatMap((row) => campaignsOf(row, { order, limit }));
    return all.filter((row) => isWanted(where, "chainId")({ ...row })).slice(0, limit);
  };
  return {
    _meta: ({ where }: TableArguments) => inOrder.map(metaColumns).filter(isWanted(where, "chainId")),
    chain_metadata: ({ where }: TableArguments) =>
      inOrder.map(oldColumns).filter(isWanted(where, "chain_id")),
    Campaign: events,
    Stream: events,
  };
}

/** `where: { chainId: { _eq: 1 } }`, the one condition in its documentation. */
function isWanted(where: unknown, column: string): (row: Readonly<Record<string, unknown>>) => boolean {
  const wanted = entry(entry(where, column), "_eq");
  return (row) => wanted === undefined || Number(wanted) === Number(row[column]);
}

function entry(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}

function metaColumns(row: ServedRow): Readonly<Record<string, unknown>> {
  const started = row.block !== null;
  return {
    chainId: row.chainId,
    progressBlock: started ? row.block : -1,
    bufferBlock: started ? row.block : -1,
    sourceBlock: row.sourceBlock,
    startBlock: 0,
    endBlock: null,
    firstEventBlock: started ? 1 : null,
    eventsProcessed: started ? 2_380_000 : 0,
    // Once true, it stays true, as in the real one.
    isReady: started,
    readyAt: started ? "2026-01-01T00:00:00+00:00" : null,
    ecosystem: "evm",
    progressBlockTime: started ? row.timestampSec : null,
  };
}

function oldColumns(row: ServedRow): Readonly<Record<string, unknown>> {
  const columns = metaColumns(row);
  return {
    chain_id: row.chainId,
    latest_processed_block: columns["progressBlock"],
    latest_fetched_block_number: columns["bufferBlock"],
    block_height: row.sourceBlock,
    start_block: 0,
    end_block: null,
    first_event_block_number: columns["firstEventBlock"],
    num_events_processed: columns["eventsProcessed"],
    num_batches_fetched: 0,
    is_hyper_sync: true,
    timestamp_caught_up_to_head_or_endblock: columns["readyAt"],
  };
}

/** Hasura's schema: a root field for each table, with a row type of the same name. */
function tables(columnsOf: Readonly<Record<string, string>>): GraphQLSchema {
  const names = Object.keys(columnsOf);
  const fields = (columns: string): string =>
    columns
      .split(" ")
      .map((column) => `${column}: Any`)
      .join(" ");
  return schemaOf(`
    schema { query: query_root }
    type query_root { ${names.map((name) => `${name}(where: Any, order_by: Any, limit: Int): [${name}]`).join(" ")} }
    ${names.map((name) => `type ${name} { ${fields(columnsOf[name] ?? "")} }`).join("\n")}
  `);
}
