import type { Headers } from "../config/address.ts";
import { groupBy } from "../core/model/group-by.ts";
import { formatCount, formatDuration, formatNumber, isoTime } from "../core/model/text.ts";
import type { Row } from "../dialects/dialect.ts";
import { type Attempt, isFit, type PlaceResult, UNREACHED } from "./ask-endpoint.ts";
import { chainsLines, chainsOf, type NamedChain } from "./chains-lines.ts";
import { KeyVariables } from "./key-variables.ts";

export interface ProbeReport {
  /** As it was typed: `${VAR}` stays. */
  readonly url: string;
  readonly headers: Headers;
  /** The number that the user gave, or null. */
  readonly chainId: number | null;
  readonly attempts: readonly Attempt[];
  /** The result for all URLs that were asked; `url` and `attempts` are from the best one. */
  readonly results: readonly PlaceResult[];
}

/** What a person reads: what the endpoint serves, what it refused, what to do, and the lines for chains.yaml. */
export function renderProbeText(report: ProbeReport, nowMs: number): string {
  const { attempts, chainId, results } = report;
  const found = attempts.find(isFit);
  const advice = found === undefined ? adviceFor(attempts) : null;
  return [
    ...placeLines(report),
    headlineOf(report, found),
    ...(found?.rows ?? []).map((row) => `  ${describeRow(row, chainId, nowMs)}`),
    ...refusalLines(attempts),
    ...(advice === null ? [] : ["", advice]),
    "",
    `${formatCount(countRequests(results), "request")} sent; no budget of Synclag counts this, but the provider may`,
    ...(found === undefined ? [] : ["", "For chains.yaml:", "", ...yamlOf(report, found)]),
  ].join("\n");
}

/** The report as JSON, for scripts. */
export function renderProbeJson(report: ProbeReport): string {
  const { url, chainId, attempts, results } = report;
  const found = attempts.find(isFit);
  const json = {
    url,
    dialect: found?.dialect ?? null,
    query: found?.asked ?? null,
    took_ms: found?.tookMs ?? null,
    requests: countRequests(results),
    found: results.flatMap((result) => {
      const fit = result.attempts.find(isFit);
      return fit === undefined ? [] : [{ url: result.url, dialect: fit.dialect, chains: fit.rows.length }];
    }),
    chains: (found?.rows ?? []).map((row) => ({ chain_id: row.chainId ?? chainId, ...rowJson(row) })),
    refused: attempts
      .filter(({ refusal }) => refusal !== null)
      .map(({ dialect, asked, reason, refusal }) => ({ dialect, query: asked, reason, detail: refusal })),
    chains_yaml:
      found === undefined
        ? null
        : yamlOf(report, found)
            .map((line) => `${line}\n`)
            .join(""),
  };
  return JSON.stringify(json, null, 2);
}

function countRequests(results: readonly PlaceResult[]): number {
  return results.reduce((sum, { attempts }) => sum + attempts.length, 0);
}

/** What each address answered, where several were asked. */
function placeLines({ url, results }: ProbeReport): readonly string[] {
  if (results.length === 1) {
    return [];
  }
  const lines = results.map((result) => {
    const fit = result.attempts.find(isFit);
    const best = result.url === url && fit !== undefined ? "; the best of them" : "";
    return `  ${result.url}: ${fit === undefined ? describeFailure(result.attempts) : `dialect ${fit.dialect}, ${formatCount(fit.rows.length, "chain")}${best}`}`;
  });
  return ["Asked at:", ...lines, ""];
}

/** Why no dialect fits, in one line. */
export function describeFailure(attempts: readonly Attempt[]): string {
  const { refusal, reason } = attempts.at(-1) ?? { refusal: null, reason: null };
  return reason === "refused" ? `no dialect fits: ${refusal}` : `${refusal} (${reason})`;
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

const UNKNOWN_CHAIN: NamedChain = {
  id: 1,
  slug: "my-chain",
  comment: "the reply has no chain id: put the right name and id here",
};

/** A whole configuration for an indexer, which `config check` accepts; for an RPC node, the line of its chain. */
function yamlOf({ url, headers, chainId }: ProbeReport, found: Attempt): readonly string[] {
  const variables = new KeyVariables([url, ...Object.values(headers)]);
  const known = chainsOf(url, chainId, found);
  const endpoint = {
    url: variables.inUrl(url),
    headers: variables.inHeaders(headers),
    dialect: found.dialect,
    chains: known.length === 0 ? [UNKNOWN_CHAIN] : known,
  };
  const lines = chainsLines([endpoint]);
  return found.dialect === "rpc" ? lines.slice(1, -1) : lines;
}
