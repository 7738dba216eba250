import { type Answer, type Call, json, parseJson, queryOf, type ServedRow } from "./answer.ts";
import type { Field } from "./query.ts";
import { type Mismatch, pick, type Schema, understand } from "./select.ts";

type EnvioKind = "envio" | "envio-3.2" | "envio-2.27";

// hyperindex: packages/envio/src/db/InternalTable.res
const META = leaves([
  "bufferBlock",
  "chainId",
  "endBlock",
  "eventsProcessed",
  "firstEventBlock",
  "isReady",
  "progressBlock",
  "readyAt",
  "sourceBlock",
  "startBlock",
]);

const CHAIN_METADATA = leaves([
  "block_height",
  "chain_id",
  "end_block",
  "first_event_block_number",
  "is_hyper_sync",
  "latest_fetched_block_number",
  "latest_processed_block",
  "num_batches_fetched",
  "num_events_processed",
  "start_block",
  "timestamp_caught_up_to_head_or_endblock",
]);

const SCHEMAS: Readonly<Record<EnvioKind, Schema>> = {
  envio: {
    query_root: { _meta: "_meta", chain_metadata: "chain_metadata" },
    _meta: { ...META, ecosystem: "scalar", progressBlockTime: "scalar" },
    chain_metadata: CHAIN_METADATA,
  },
  "envio-3.2": {
    query_root: { _meta: "_meta", chain_metadata: "chain_metadata" },
    _meta: META,
    chain_metadata: CHAIN_METADATA,
  },
  "envio-2.27": { query_root: { chain_metadata: "chain_metadata" }, chain_metadata: CHAIN_METADATA },
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
  const understood = understand(SCHEMAS[kind], "query_root", query);
  switch (understood.kind) {
    case "fields":
      return json({
        data: Object.fromEntries(understood.fields.map((field) => [field.key, tableRows(field, rows)])),
      });
    case "mismatch": {
      const path = ["$", ...understood.mismatch.path.flatMap((name) => ["selectionSet", name])].join(".");
      return refusal("validation-failed", path, mismatchText(understood.mismatch));
    }
    case "unparsable":
      return refusal("validation-failed", "$.query", "not a valid graphql query");
  }
}

/** What Hasura says to a path or a method that it does not have. */
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

function tableRows(field: Field, rows: readonly ServedRow[]): unknown {
  const columnsOf = field.name === "_meta" ? metaColumns : oldColumns;
  const idColumn = field.name === "_meta" ? "chainId" : "chain_id";
  const table = rows
    .toSorted((one, other) => Number(one.chainId) - Number(other.chainId))
    .map(columnsOf)
    .filter((row) => matches(field.args["where"], new Map(Object.entries(row)).get(idColumn), idColumn));
  return pick(table, field.fields ?? []);
}

/** `where: { chainId: { _eq: 1 } }`, the one condition that the docs teach. */
function matches(where: unknown, chainId: unknown, idColumn: string): boolean {
  const condition = entry(where, idColumn);
  const wanted = entry(condition, "_eq");
  return wanted === undefined || Number(wanted) === Number(chainId);
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
    // Sticky in the real one: once true it stays so, whatever happens.
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

function leaves(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, "scalar"]));
}
