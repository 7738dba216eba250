import { groupBy } from "../core/model/group-by.ts";
import type { FailureReason } from "../core/model/observation.ts";
import { formatCount, formatDuration, formatNumber, isoTime } from "../core/model/text.ts";
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
const UNREACHED: ReadonlySet<string | null> = new Set(["timeout", "dns", "connect", "tls"]);

/** What a person reads: what the endpoint serves, what it refused, what to do, and the lines for chains.yaml. */
export function renderProbeText(report: ProbeReport, nowMs: number): string {
  const { attempts, chainId } = report;
  const found = attempts.find(isFit);
  const advice = found === undefined ? adviceFor(attempts) : null;
  return [
    headlineOf(report, found),
    ...(found?.rows ?? []).map((row) => `  ${describeRow(row, chainId, nowMs)}`),
    ...refusalLines(attempts),
    ...(advice === null ? [] : ["", advice]),
    "",
    `${formatCount(attempts.length, "request")} sent; no budget of Synclag counts this, but the provider may`,
    ...(found === undefined ? [] : ["", "For chains.yaml:", "", ...yamlOf(report, found)]),
  ].join("\n");
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

function isFit({ rows, indexNode }: Attempt): boolean {
  return rows.length > 0 || indexNode !== null;
}

function headlineOf({ url, attempts }: ProbeReport, found: Attempt | undefined): string {
  if (found === undefined) {
    const silence = attempts.find(({ reason }) => UNREACHED.has(reason));
    return silence === undefined
      ? `No dialect fits ${url}`
      : `No reply from ${url}: ${silence.refusal} (${silence.reason})`;
  }
  const tookMs = `answered in ${formatNumber(found.tookMs)} ms`;
  return found.indexNode === null
    ? `Dialect ${found.dialect} fits ${url}: ${tookMs}`
    : `${url} is the index-node API of ${found.indexNode}: ${tookMs}. Use it as dialect: graph-status, which asks for deployments by their ids, or as status: beside a graph indexer`;
}

/** Queries that were refused in the same words are listed together. */
function refusalLines(attempts: readonly Attempt[]): readonly string[] {
  const refused = attempts.filter(({ refusal, reason }) => refusal !== null && !UNREACHED.has(reason));
  const groups = groupBy(refused, ({ reason, refusal }) =>
    reason === "refused" || reason === "redirect" ? refusal : `${reason}: ${refusal}`,
  );
  const lines = [...groups].flatMap(([words, group]) => {
    const dialects = [...new Set(group.map(({ dialect }) => dialect))].join(", ");
    const asked = group.length === 1 ? group[0]?.asked : `${group.length} queries`;
    return [`  ${dialects}: ${asked}`, `    ${words}`];
  });
  return lines.length === 0 ? [] : ["", "Not accepted:", ...lines];
}

/** What to try next with an endpoint that gave no height; null where its own words say all. */
function adviceFor(attempts: readonly Attempt[]): string | null {
  switch (attempts.at(-1)?.reason) {
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
  if (attempts.some(({ reason }) => reason === "refused")) {
    return "It answers GraphQL, but knows none of these queries: describe its own with dialect custom (docs/dialects.md)";
  }
  return attempts.every(({ reason }) => reason === "malformed" || reason === "http_status")
    ? "It does not answer as a GraphQL API: look for the URL that queries are sent to; it often ends with /graphql"
    : null;
}

function rowJson({ content }: Row) {
  if (content.kind !== "head") {
    const { kind: state, ...failure } = content;
    return "detail" in failure ? { state, detail: failure.detail } : { state };
  }
  const { block, timestampSec, hash, deployment, indexingErrors } = content.head;
  return {
    state: "indexed",
    block_number: block,
    block_timestamp: timestampSec === null ? null : isoTime(timestampSec * 1_000),
    block_hash: hash,
    deployment,
    indexing_errors: indexingErrors,
  };
}

function describeRow({ chainId, content }: Row, given: number | null, nowMs: number): string {
  const id = chainId ?? given;
  const chain = id === null ? "chain id not in the reply" : `chain ${id}`;
  if (content.kind !== "head") {
    return `${chain}: ${content.kind === "failed" ? content.detail : "not started"}`;
  }
  const { block, timestampSec, deployment, indexingErrors } = content.head;
  const timeMs = timestampSec === null ? null : timestampSec * 1_000;
  return [
    `${chain}: block ${formatNumber(block)}`,
    timeMs === null
      ? "no block time"
      : `block time ${isoTime(timeMs)}, ${formatDuration(Math.max(0, nowMs - timeMs))} old`,
    ...(deployment === null ? [] : [`deployment ${deployment}`]),
    ...(indexingErrors === true ? ["reports indexing errors"] : []),
  ].join("; ");
}

/** A whole configuration for an indexer, which `config check` accepts; for an RPC node, the line of its chain. */
function yamlOf(
  { url, headers, chainId, slugs }: ProbeReport,
  { dialect, rows, indexNode }: Attempt,
): readonly string[] {
  const named = rows.flatMap((row) => row.chainId ?? []);
  const ids = new Set(named.length > 0 ? named : [chainId].filter((id) => id !== null));
  const known = [...ids].map((id) => ({ id, slug: slugs.get(id) ?? `chain-${id}`, comment: "" }));
  const comment = "   # the reply has no chain id: put the right name and id here";
  const chains = known.length > 0 ? known : [{ id: 1, slug: "my-chain", comment }];
  const rpc = dialect === "rpc" ? `, rpc: [${JSON.stringify(url)}]` : "";
  const chainLines = [
    "chains:",
    ...chains.map((chain) => `  ${chain.slug}: { id: ${chain.id}${rpc} }${chain.comment}`),
  ];
  if (dialect === "rpc") {
    return chainLines;
  }
  return [
    "version: 1",
    ...chainLines,
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
