import type { FailureReason } from "../../src/core/model/observation.ts";
import type { Status } from "../../src/core/model/report.ts";
import type { EndpointSpec } from "../../src/sim/fleet/simulated-fleet.ts";
import type { Fault } from "../../src/sim/servers/answer.ts";
import { FAULTS } from "./faults.ts";

/** One way for an indexer to go wrong, and what must become of it. */
export interface FaultCase {
  /** Lower case and dashes: it is a protocol of its own. */
  readonly name: string;
  /** Null: what came is usable all the same. */
  readonly reason: FailureReason | null;
  readonly status: Status;
  readonly spec: Pick<EndpointSpec, "kind" | "behaviour" | "targetBehaviour">;
  readonly fault: Fault | null;
}

/** The base height and time that answers with something wrong beside them have right. */
export interface Truth {
  readonly block: number;
  readonly timeSec: number;
}

/** The contract's table from reasons to statuses. */
const STATUS_OF: Readonly<Record<FailureReason, Status>> = {
  unauthorized: "rejected",
  payment_required: "rejected",
  wrong_chain: "rejected",
  rate_limited: "throttled",
  budget: "throttled",
  not_found: "not_found",
  indexing_error: "failed",
  implausible: "diverged",
  timeout: "unreachable",
  dns: "unreachable",
  connect: "unreachable",
  tls: "unreachable",
  http_status: "unreachable",
  no_indexers: "unreachable",
  graphql: "unreachable",
  schema: "not_found",
  malformed: "unreachable",
  too_large: "unreachable",
  aborted: "unknown",
};

export function faultCases(truth: Truth): readonly FaultCase[] {
  return [
    ...namedCases(),
    ...subgraphCases(truth),
    ...envioCases(truth),
    ...pageCases(truth),
    ...otherCases(truth),
  ];
}

/** All that the simulator knows by name. */
function namedCases(): readonly FaultCase[] {
  return Object.entries(FAULTS).map(([name, { reason, ...fault }]) => ({
    name: name.replaceAll("_", "-"),
    reason,
    status: reason === null ? "ok" : STATUS_OF[reason],
    spec: { kind: name.startsWith("metrics_") ? "envio-metrics" : "graph-node" },
    fault,
  }));
}

/** What a subgraph tells beside its height, in another shape than it has. */
const BESIDE: Readonly<Record<string, object>> = {
  "deployment-as-list": { deployment: ["Qm"] },
  "deployment-as-number": { deployment: 7 },
  "indexing-errors-as-text": { hasIndexingErrors: "false" },
  "indexing-errors-as-object": { hasIndexingErrors: {} },
};

/** A subgraph whose answer has one thing wrong in it. */
function subgraphCases({ block, timeSec }: Truth): readonly FaultCase[] {
  const heights: Readonly<Record<string, unknown>> = {
    "height-as-word": "latest",
    "height-with-sign": `+${block}`,
    "height-with-fraction": block + 0.5,
    "height-negative": -block,
    "height-beyond-2-53": 2 ** 53 + 2,
    "height-as-list": [block],
    "height-as-object": { block },
    "height-true": true,
  };
  const times: Readonly<Record<string, unknown>> = {
    "time-in-milliseconds": timeSec * 1_000,
    "time-null": null,
    "time-negative": -1,
    "time-as-list": [timeSec],
    "time-as-word": "soon",
  };
  const bodies: Readonly<Record<string, string>> = {
    "block-as-list": '{"data":{"_meta":{"block":[]}}}',
    "block-as-text": '{"data":{"_meta":{"block":"7"}}}',
    "meta-as-number": '{"data":{"_meta":7}}',
    "data-as-text": '{"data":"7"}',
    "lists-nested-100-000-deep": `{"data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    "constructor-keys": '{"constructor":{"prototype":{"data":1}},"data":{"constructor":7}}',
  };
  return [
    ...Object.entries(heights).map(([name, number]) => answered(name, "schema", meta({ number }))),
    answered("height-as-text", null, meta({ number: String(block) })),
    answered("height-in-hex", null, meta({ number: `0x${block.toString(16)}` })),
    answered("height-zero", null, meta({ number: 0 }), "syncing"),
    ...Object.entries(times).map(([name, timestamp]) =>
      answered(name, null, meta({ number: block, timestamp })),
    ),
    ...Object.entries(bodies).map(([name, body]) => answered(name, "schema", body)),
    ...Object.entries(BESIDE).map(([name, beside]) =>
      answered(name, null, JSON.stringify({ data: { _meta: { block: { number: block }, ...beside } } })),
    ),
    answered("hash-as-number", null, meta({ number: block, hash: 7 })),
    answered("errors-as-text", "graphql", '{"errors":"no"}'),
    answered("errors-as-number", "graphql", '{"errors":7}'),
    answered("height-far-beyond-the-head", "implausible", meta({ number: block + 5_000_000 })),
    // A time in the future is no evidence, and its height fits.
    answered("time-in-the-future", null, meta({ number: block, timestamp: timeSec + 3_600 })),
  ];
}

/** A multi-chain indexer, one of whose many rows has something wrong in it. */
function envioCases({ block }: Truth): readonly FaultCase[] {
  const row = (chainId: unknown, progressBlock: unknown) => ({ chainId, progressBlock });
  const good = row(8453, block);
  const unknown = Array.from({ length: 10_000 }, (_, index) => row(9_000_000_000 + index, block));
  const cases: readonly (readonly [
    name: string,
    rows: unknown,
    reason: FailureReason | null,
    status?: Status,
  ])[] = [
    ["no-rows", [], null, "missing"],
    ["rows-of-others", [row(1, 7), row(10, 7)], null, "missing"],
    ["row-of-another-chain-alone", [row(1, 7)], "implausible"],
    ["rows-twice", [good, good, row(1, 7)], null],
    ["rows-that-disagree", [good, row(8453, block - 1)], "schema"],
    ["row-not-started", [row(8453, -1), row(1, 7)], null, "syncing"],
    ["row-null", [null, good], null],
    ["row-as-list", [[8453, block], good], null],
    ["row-with-proto", [row("__proto__", 7), good], null],
    ["row-with-label-syntax", [row('8453",x="y', 7), row(1, 7)], "schema"],
    ["row-with-bad-height", [row(8453, "soon"), row(1, 7)], "schema"],
    ["row-with-time-as-object", [{ ...good, progressBlockTime: {} }, row(1, 7)], null],
    ["row-with-chain-as-list", [row([8453], block), row(1, 7)], "schema"],
    ["row-with-chain-as-text", [row("8453", block), row(1, 7)], null],
    ["row-in-place-of-rows", good, "schema"],
  ];
  return [
    ...cases.map(([name, rows, reason, status]) =>
      of("envio", answered(name, reason, JSON.stringify({ data: { _meta: rows } }), status)),
    ),
    of(
      "envio",
      answered(
        "rows-of-10-000-unknown-chains",
        null,
        JSON.stringify({ data: { _meta: [good, ...unknown] } }),
      ),
    ),
  ];
}

/** A page of metrics whose gauge has something wrong, and pages of JSON that are read with a GET. */
function pageCases({ block }: Truth): readonly FaultCase[] {
  const series = (value: string, chainId = "8453"): string =>
    `envio_progress_block{chainId="${chainId}"} ${value}`;
  const cases: readonly (readonly [
    name: string,
    lines: readonly string[],
    reason: FailureReason | null,
    status?: Status,
  ])[] = [
    ["true", [series(String(block))], null],
    ["with-exponent", [series(block.toExponential())], null],
    ["not-a-number", [series("NaN")], null, "syncing"],
    ["minus-1", [series("-1")], null, "syncing"],
    ["without-the-gauge", [], null, "syncing"],
    ["infinite", [series("+Inf")], "schema"],
    ["1e308", [series("1e308")], "schema"],
    ["negative", [series("-7")], "schema"],
    ["fraction", [series(`${block}.5`)], "schema"],
    ["word", [series("soon")], "schema"],
    ["same-series-twice", [series(String(block)), series(String(block))], null],
    ["same-series-with-two-values", [series(String(block)), series(String(block - 1))], null],
    ["of-other-chains", [series("7", "1"), series("7", "10")], null, "missing"],
    ["of-chains-without-id", [series("7", "base sepolia")], "schema"],
    ["without-value", ['envio_progress_block{chainId="8453"}'], "schema"],
    ["label-without-end", ['envio_progress_block{chainId="8453} 7'], "schema"],
  ];
  return [
    ...cases.map(([name, lines, reason, status]) => {
      const page = ["# TYPE envio_progress_block gauge", ...lines, ""].join("\n");
      return of("envio-metrics", answered(`metrics-${name}`, reason, page, status));
    }),
    of("envio-metrics", answered("metrics-as-page-of-html", "malformed", "<!DOCTYPE html>\n<p>Sign in</p>")),
    of("ponder-status", answered("status-as-list", "schema", "[]")),
    of("ponder-status", answered("status-block-null", null, '{"base":{"id":8453,"block":null}}', "syncing")),
    of("ponder-status", answered("status-of-no-chain", null, "{}", "syncing")),
  ];
}

/** What the endpoints of dialect graph-status ask for. */
export const FAULT_DEPLOYMENT = "QmbTA668GTsFYJSaMvcw51HswCtNHrNwDTdnZdHNqeRDMy";

/** What is particular to the other families. */
function otherCases({ block }: Truth): readonly FaultCase[] {
  const squid = (squidStatus: unknown): string => JSON.stringify({ data: { squidStatus } });
  const subquery = (...nodes: readonly unknown[]): string =>
    JSON.stringify({ data: { _metadatas: { nodes } } });
  const row = { lastProcessedHeight: block, chain: "8453" };
  const status = (...indexingStatuses: readonly unknown[]): string =>
    JSON.stringify({ data: { indexingStatuses } });
  const latestBlock = { number: String(block), hash: null };
  const healthy = {
    subgraph: FAULT_DEPLOYMENT,
    health: "healthy",
    fatalError: null,
    chains: [{ latestBlock }],
  };
  const fatalError = { message: "no", handler: "handleTransfer", deterministic: true, block: null };
  const custom = (...chains: readonly unknown[]): string => JSON.stringify({ data: { sync: { chains } } });
  const chain = { id: 8453, last_block: block, last_block_time: null, last_block_hash: null, error: null };
  return [
    of("squid", answered("squid-true", null, squid({ height: block, hash: null }))),
    of("squid", answered("squid-not-started", null, squid({ height: -1, hash: "0x" }), "syncing")),
    of("squid", answered("squid-height-as-word", "schema", squid({ height: "latest" }))),
    of("subquery", answered("subquery-true", null, subquery(row, { ...row, chain: "1" }))),
    of(
      "subquery",
      answered("subquery-not-started", null, subquery({ ...row, lastProcessedHeight: null }), "syncing"),
    ),
    of("subquery", answered("subquery-no-rows", null, subquery(), "missing")),
    of(
      "subquery",
      answered("subquery-height-as-word", "schema", subquery({ ...row, lastProcessedHeight: "soon" })),
    ),
    of("graph-status", answered("graph-status-true", null, status(healthy))),
    of(
      "graph-status",
      answered("graph-status-failed", null, status({ ...healthy, health: "failed", fatalError }), "failed"),
    ),
    of(
      "graph-status",
      answered(
        "graph-status-not-started",
        null,
        status({ ...healthy, chains: [{ latestBlock: null }] }),
        "syncing",
      ),
    ),
    of("graph-status", answered("graph-status-unknown-deployment", "not_found", status())),
    of("graph-status", answered("graph-status-null", "schema", '{"data":{"indexingStatuses":null}}')),
    of("custom", answered("custom-true", null, custom(chain, { ...chain, id: 1 }))),
    of("custom", answered("custom-no-rows", null, custom(), "missing")),
    of("custom", answered("custom-failed", null, custom({ ...chain, error: "handler failed" }), "failed")),
    of("custom", answered("custom-path-that-leads-nowhere", "schema", custom({ id: 8453, height: block }))),
    of("custom", answered("custom-rows-in-another-place", "schema", '{"data":{"chains":[]}}')),
    {
      name: "every-second-event-skipped",
      reason: null,
      status: "ok",
      spec: { kind: "graph-node", targetBehaviour: () => ({ skips: { fromBlock: 1, nth: 2 } }) },
      fault: null,
    },
  ];
}

function of(kind: FaultCase["spec"]["kind"], fault: FaultCase): FaultCase {
  return { ...fault, spec: { kind } };
}

/** Its status is what follows from the reason, unless another one is given. */
function answered(
  name: string,
  reason: FailureReason | null,
  body: string,
  status: Status = reason === null ? "ok" : STATUS_OF[reason],
): FaultCase {
  return { name, reason, status, spec: { kind: "graph-node" }, fault: json(body) };
}

function meta(block: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ data: { _meta: { block } } });
}

function json(body: string): Fault {
  return { status: 200, headers: { "content-type": "application/json" }, body };
}
