import { formatCount, formatDuration, formatNumber } from "../core/model/text.ts";
import type { Row } from "../dialects/dialect.ts";

/** One request of a probe and what came of it. */
export interface Attempt {
  readonly dialect: string;
  readonly asked: string;
  readonly tookMs: number;
  readonly rows: readonly Row[];
  /** Why there are no rows, or null. */
  readonly refusal: string | null;
}

export interface ProbeReport {
  /** As it was typed: `${VAR}` stays. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The number that the user gave, or null. */
  readonly chainId: number | null;
  readonly attempts: readonly Attempt[];
}

/** What a person reads: what the endpoint serves, what it refused, and the lines for chains.yaml. */
export function renderProbeText(report: ProbeReport, nowMs: number): string {
  const { attempts } = report;
  const found = attempts.find(({ rows }) => rows.length > 0);
  const refused = attempts.filter(({ refusal }) => refusal !== null);
  return [
    found === undefined
      ? `No dialect fits ${report.url}`
      : `Dialect ${found.dialect} fits ${report.url}: answered in ${formatNumber(found.tookMs)} ms`,
    ...(found?.rows ?? []).map((row) => `  ${describeRow(row, report.chainId, nowMs)}`),
    ...(refused.length === 0 ? [] : ["", "Not accepted:"]),
    ...refused.map(
      ({ dialect, asked, refusal }) => `  ${dialect.padEnd(8)}  ${asked}\n            ${String(refusal)}`,
    ),
    "",
    `${formatCount(attempts.length, "request")} sent, outside of every budget`,
    ...(found === undefined ? [] : ["", "For chains.yaml:", "", ...yamlOf(report, found)]),
  ].join("\n");
}

/** The same for scripts. */
export function renderProbeJson({ url, chainId, attempts }: ProbeReport): string {
  const found = attempts.find(({ rows }) => rows.length > 0);
  const json = {
    url,
    dialect: found?.dialect ?? null,
    query: found?.asked ?? null,
    took_ms: found?.tookMs ?? null,
    requests: attempts.length,
    chains: (found?.rows ?? []).map((row) => ({ chain_id: row.chainId ?? chainId, ...rowJson(row) })),
    refused: attempts
      .filter(({ refusal }) => refusal !== null)
      .map(({ dialect, asked, refusal }) => ({ dialect, query: asked, detail: refusal })),
  };
  return JSON.stringify(json, null, 2);
}

function rowJson({ content }: Row): Readonly<Record<string, unknown>> {
  switch (content.kind) {
    case "head": {
      const { block, timestampSec, hash, deployment, indexingErrors } = content.head;
      const time = timestampSec === null ? null : new Date(timestampSec * 1_000).toISOString();
      return {
        state: "indexed",
        block_number: block,
        block_timestamp: time,
        block_hash: hash,
        deployment,
        indexing_errors: indexingErrors,
      };
    }
    case "not_started":
      return { state: "not_started" };
    case "failed":
      return { state: "failed", detail: content.detail };
  }
}

function describeRow({ chainId, content }: Row, given: number | null, nowMs: number): string {
  const id = chainId ?? given;
  const chain = id === null ? "chain id not in the answer" : `chain ${id.toString()}`;
  switch (content.kind) {
    case "head": {
      const { block, timestampSec, deployment, indexingErrors } = content.head;
      const time =
        timestampSec === null
          ? "no block time"
          : `block time ${new Date(timestampSec * 1_000).toISOString()}, ${formatDuration(Math.max(0, nowMs - timestampSec * 1_000))} old`;
      return [
        `${chain}: block ${formatNumber(block)}`,
        time,
        ...(deployment === null ? [] : [`deployment ${deployment}`]),
        ...(indexingErrors === true ? ["reports indexing errors"] : []),
      ].join("; ");
    }
    case "not_started":
      return `${chain}: not started`;
    case "failed":
      return `${chain}: ${content.detail}`;
  }
}

/** A whole configuration for an indexer, which `config check` accepts; for an RPC node, the line of its chain. */
function yamlOf({ url, headers, chainId }: ProbeReport, { dialect, rows }: Attempt): readonly string[] {
  const named = rows.flatMap((row) => row.chainId ?? []);
  const known = named.length > 0 ? named : [chainId].filter((id) => id !== null);
  const ids = known.length > 0 ? [...new Set(known)] : [1];
  const comment = known.length > 0 ? "" : "   # the answer has no chain id: put the right one here";
  if (dialect === "rpc") {
    return [
      "chains:",
      ...ids.map(
        (id) => `  chain-${id.toString()}: { id: ${id.toString()}, rpc: [${JSON.stringify(url)}] }${comment}`,
      ),
    ];
  }
  return [
    "version: 1",
    "chains:",
    ...ids.map((id) => `  chain-${id.toString()}: { id: ${id.toString()} }${comment}`),
    "protocols:",
    "  my-protocol:",
    "    - variant: my-variant",
    `      dialect: ${dialect}`,
    `      url: ${JSON.stringify(url)}`,
    ...(Object.keys(headers).length === 0 ? [] : [`      headers: ${JSON.stringify(headers)}`]),
    `      chains: [${ids.map((id) => `chain-${id.toString()}`).join(", ")}]`,
  ];
}
