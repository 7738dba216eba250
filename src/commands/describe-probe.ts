import { groupBy } from "../core/model/group-by.ts";
import type { FailureReason } from "../core/model/observation.ts";
import { formatCount, formatDuration, formatNumber } from "../core/model/text.ts";
import type { Row } from "../dialects/dialect.ts";

/** One request of a probe and what came of it. */
export interface Attempt {
  readonly dialect: string;
  readonly asked: string;
  readonly tookMs: number;
  readonly rows: readonly Row[];
  /** Why there are no rows, in the server's words; null where there are. */
  readonly refusal: string | null;
  /** `refused`: the server does not know this query. */
  readonly reason: FailureReason | "refused" | "redirect" | null;
  /** `graph-node 0.44.0`, or without the version, where this is its index-node API. */
  readonly indexNode: string | null;
}

export interface ProbeReport {
  /** As it was typed: `${VAR}` stays. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The number that the user gave, or null. */
  readonly chainId: number | null;
  readonly attempts: readonly Attempt[];
  /** The names of well-known chains by their ids. */
  readonly slugs: ReadonlyMap<number, string>;
}

/** Reasons for which the server has said nothing at all. */
const UNREACHED: ReadonlySet<string> = new Set(["timeout", "dns", "connect", "tls"]);

/** What a person reads: what the endpoint serves, what it refused, what to do, and the lines for chains.yaml. */
export function renderProbeText(report: ProbeReport, nowMs: number): string {
  const { attempts } = report;
  const found = attempts.find(isFit);
  const advice = found === undefined ? adviceFor(attempts) : null;
  return [
    headlineOf(report, found),
    ...(found?.rows ?? []).map((row) => `  ${describeRow(row, report.chainId, nowMs)}`),
    ...refusalLines(attempts),
    ...(advice === null ? [] : ["", advice]),
    "",
    `${formatCount(attempts.length, "request")} sent; no budget of Synclag counts this, but the provider may`,
    ...(found === undefined ? [] : ["", "For chains.yaml:", "", ...yamlOf(report, found)]),
  ].join("\n");
}

function isFit({ rows, indexNode }: Attempt): boolean {
  return rows.length > 0 || indexNode !== null;
}

function isSilence({ reason }: Attempt): boolean {
  return reason !== null && UNREACHED.has(reason);
}

function headlineOf({ url, attempts }: ProbeReport, found: Attempt | undefined): string {
  if (found === undefined) {
    const silence = attempts.find(isSilence);
    return silence === undefined
      ? `No dialect fits ${url}`
      : `No reply from ${url}: ${String(silence.refusal)} (${String(silence.reason)})`;
  }
  const tookMs = `answered in ${formatNumber(found.tookMs)} ms`;
  return found.indexNode === null
    ? `Dialect ${found.dialect} fits ${url}: ${tookMs}`
    : `${url} is the index-node API of ${found.indexNode}: ${tookMs}. Use it as dialect: graph-status, which asks for deployments by their ids, or as status: beside a graph indexer`;
}

/** Queries that were refused in the same words are told together. */
function refusalLines(attempts: readonly Attempt[]): readonly string[] {
  const groups = groupBy(
    attempts.filter((attempt) => attempt.refusal !== null && !isSilence(attempt)),
    ({ reason, refusal }) =>
      `${reason === "refused" || reason === "redirect" ? "" : `${String(reason)}: `}${String(refusal)}`,
  );
  const lines = [...groups].flatMap(([words, group]) => {
    const dialects = [...new Set(group.map(({ dialect }) => dialect))].join(", ");
    const asked = group.length === 1 ? String(group[0]?.asked) : `${group.length.toString()} queries`;
    return [`  ${dialects}: ${asked}`, `    ${words}`];
  });
  return lines.length === 0 ? [] : ["", "Not accepted:", ...lines];
}

/** What to try next with an endpoint that gave no height; null where its own words say all. */
function adviceFor(attempts: readonly Attempt[]): string | null {
  const last = attempts.at(-1);
  const isOnlyRefused = attempts.some(({ reason }) => reason === "refused");
  switch (last?.reason) {
    case "unauthorized":
      return `It wants a key, or another one: --header 'Authorization: Bearer \${KEY}' with KEY in the environment`;
    case "redirect":
      return "If you trust the address that it redirects to, probe that instead";
    case "timeout":
      return "Check host and port, or allow more time with --timeout";
    case "tls":
      return "For a private authority, name its certificate: NODE_EXTRA_CA_CERTS=FILE synclag probe …";
    default:
      break;
  }
  if (isOnlyRefused) {
    return "It answers GraphQL, but knows none of these queries: describe its own with dialect custom (docs/dialects.md)";
  }
  return attempts.every(({ reason }) => reason === "malformed" || reason === "http_status")
    ? "It does not answer as a GraphQL API: look for the URL that queries are sent to; it often ends with /graphql"
    : null;
}

/** The same for scripts. */
export function renderProbeJson({ url, chainId, attempts }: ProbeReport): string {
  const found = attempts.find(isFit);
  const json = {
    url,
    dialect: found?.dialect ?? null,
    query: found?.asked ?? null,
    took_ms: found?.tookMs ?? null,
    requests: attempts.length,
    chains: (found?.rows ?? []).map((row) => ({ chain_id: row.chainId ?? chainId, ...rowJson(row) })),
    refused: attempts
      .filter(({ refusal }) => refusal !== null)
      .map(({ dialect, asked, reason, refusal }) => ({ dialect, query: asked, reason, detail: refusal })),
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
  const chain = id === null ? "chain id not in the reply" : `chain ${id.toString()}`;
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
function yamlOf(
  { url, headers, chainId, slugs }: ProbeReport,
  { dialect, rows, indexNode }: Attempt,
): readonly string[] {
  const named = rows.flatMap((row) => row.chainId ?? []);
  const known = named.length > 0 ? named : [chainId].filter((id) => id !== null);
  const chains = [...new Set(known)].map((id) => ({
    id: id.toString(),
    slug: slugs.get(id) ?? `chain-${id.toString()}`,
    comment: "",
  }));
  if (chains.length === 0) {
    const comment = "   # the reply has no chain id: put the right name and id here";
    chains.push({ id: "1", slug: "my-chain", comment });
  }
  if (dialect === "rpc") {
    const rpc = `rpc: [${JSON.stringify(url)}]`;
    return [
      "chains:",
      ...chains.map(({ id, slug, comment }) => `  ${slug}: { id: ${id}, ${rpc} }${comment}`),
    ];
  }
  return [
    "version: 1",
    "chains:",
    ...chains.map(({ id, slug, comment }) => `  ${slug}: { id: ${id} }${comment}`),
    "protocols:",
    "  my-protocol:",
    "    - variant: my-variant",
    `      dialect: ${dialect}`,
    `      url: ${JSON.stringify(url)}`,
    ...(Object.keys(headers).length === 0 ? [] : [`      headers: ${JSON.stringify(headers)}`]),
    ...(indexNode === null
      ? [`      chains: [${chains.map(({ slug }) => slug).join(", ")}]`]
      : [
          "      chains:",
          ...chains.map(({ slug }) => `        ${slug}: { deployment: QmDeployment }   # its id`),
        ]),
  ];
}
