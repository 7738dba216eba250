import { wellKnownChain } from "../config/well-known-chains.ts";
import { groupBy } from "../core/model/group-by.ts";
import { formatCount, formatDuration, formatNumber, isoTime } from "../core/model/text.ts";
import type { Row } from "../dialects/dialect.ts";
import {
  type Attempt,
  describeRefusal,
  isOver,
  Prober,
  questionsAt,
  questionsBeside,
} from "./ask-endpoint.ts";
import { chainsOf, chainsYaml, KeyVariables } from "./chains-yaml.ts";
import { type CommandWorld, EXIT } from "./command-world.ts";
import type { Flags } from "./flags.ts";

/**
 * `synclag probe URL`: asks one endpoint the questions of every dialect until one fits, and says what it serves.
 *
 * @throws {CommandError | ConfigError} If the URL or a flag cannot be used.
 */
export async function probe(
  flags: Flags,
  world: CommandWorld,
  [url = ""]: readonly string[],
): Promise<number> {
  await using prober = new Prober([url], flags, world);
  const beside = flags.discover === true ? questionsBeside(url) : [];
  const questions = [...questionsAt(url), ...beside];
  const places = groupBy(questions, (asked) => asked.url);
  if (beside.length > 0) {
    // An RPC node is also asked for its chain.
    const most = questions.length + places.size;
    world.err(`Asking at the usual addresses too: at most ${most} requests`);
  }
  const attempts: Attempt[] = [];
  for (const asked of places.values()) {
    attempts.push(...(await prober.ask(asked)));
    if (isOver(attempts)) {
      break;
    }
  }
  const report = reportOf(url, attempts, prober);
  const lines =
    flags.format === "json"
      ? JSON.stringify(report, null, 2).split("\n")
      : linesOf(report, world.nowMs()).flatMap((line) => line.split("\n"));
  for (const line of lines) {
    world.out(prober.redact(line));
  }
  return report.chains.some(({ state }) => state === "indexed") ? EXIT.ok : EXIT.failure;
}

type ProbeReport = ReturnType<typeof reportOf>;

/** What was found, as it is printed in JSON. */
function reportOf(typed: string, attempts: readonly Attempt[], { headers, chainId }: Prober) {
  const fits = [...groupBy(attempts, (attempt) => attempt.url).values()].flatMap(
    (own) => own.find(({ refusal }) => refusal === null) ?? [],
  );
  const found = fits.toSorted((a, b) => worthOf(b) - worthOf(a))[0];
  return {
    url: found?.url ?? typed,
    dialect: found?.dialect ?? null,
    query: found?.query ?? null,
    took_ms: found?.tookMs ?? null,
    requests: attempts.length,
    chains: (found?.rows ?? []).map((row) => ({ chain_id: row.chainId ?? chainId, ...contentOf(row) })),
    refused: attempts.flatMap(({ url, dialect, query, refusal }) =>
      refusal === null ? [] : { url, dialect, query, ...refusal },
    ),
    found: fits.map((fit) => ({ url: fit.url, dialect: fit.dialect, chains: fit.rows.length })),
    chains_yaml: found === undefined ? null : yamlOf(found, headers, chainId),
  };
}

/** The best address has the most heights; of equals, the most block times. */
function worthOf({ rows }: Attempt): number {
  const heads = rows.flatMap(({ content }) => (content.kind === "head" ? content.head : []));
  return heads.length * 2 + heads.filter(({ timestampSec }) => timestampSec !== null).length;
}

function contentOf({ content }: Row) {
  const nothing = { block_number: null, block_timestamp: null, block_hash: null, deployment: null };
  if (content.kind !== "head") {
    const detail = content.kind === "failed" ? content.detail : null;
    return { state: content.kind, ...nothing, indexing_errors: null, detail };
  }
  const { block, timestampSec, hash, deployment, indexingErrors } = content.head;
  return {
    state: "indexed",
    block_number: block,
    block_timestamp: timestampSec === null ? null : isoTime(timestampSec * 1_000),
    block_hash: hash,
    deployment,
    indexing_errors: indexingErrors,
    detail: null,
  };
}

/** A whole configuration for the endpoint, which `config check` accepts if it is an indexer. */
function yamlOf(found: Attempt, headers: Prober["headers"], chainId: number | null): string {
  const variables = new KeyVariables([found.url, ...Object.values(headers)]);
  const chains = chainsOf(found.url, chainId, found);
  const endpoint = {
    url: variables.inUrl(found.url),
    headers: variables.inHeaders(headers),
    dialect: found.dialect,
    chains: chains.length === 0 ? [{ id: 1, slug: "my-chain" }] : chains,
  };
  return chainsYaml([endpoint]);
}

/** What a person reads: what the endpoint serves, what it refused, what to do, and the lines for chains.yaml. */
function linesOf(report: ProbeReport, nowMs: number): readonly string[] {
  const { url, dialect, took_ms, requests, chains, refused, found, chains_yaml } = report;
  const refusals = new Set(refused.map((one) => `  ${one.dialect}: ${describeRefusal(one)}`));
  const advice = dialect === null ? ADVICE[refused.at(-1)?.reason ?? ""] : undefined;
  const isUnnamed = chains.some(({ chain_id }) => chain_id === null);
  const note = isUnnamed ? " (the reply does not name the chain: put its name and id)" : "";
  return [
    dialect === null
      ? `No dialect fits ${url}`
      : `Dialect ${dialect} fits ${url}: answered in ${formatNumber(took_ms ?? 0)} ms`,
    ...chains.map((chain) => `  ${describeChain(chain, nowMs)}`),
    ...(found.length < 2 ? [] : ["", "Found; the best is used:"]),
    ...(found.length < 2
      ? []
      : found.map((one) => `  ${one.url}: dialect ${one.dialect}, ${formatCount(one.chains, "chain")}`)),
    ...(refusals.size === 0 ? [] : ["", "Does not fit:", ...refusals]),
    ...(advice === undefined ? [] : ["", advice]),
    "",
    `${formatCount(requests, "request")} sent; no budget of Synclag counts this, but the provider may`,
    ...(chains_yaml === null ? [] : ["", `For chains.yaml${note}:`, "", chains_yaml.trimEnd()]),
  ];
}

/** What to try next, by the reason of the last refusal. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthorized: `It wants a key, or another one: --header 'Authorization: Bearer \${KEY}' with KEY in the environment`,
  timeout: "Check host and port, or allow more time with --timeout",
  tls: "For a private authority, name its certificate: NODE_EXTRA_CA_CERTS=FILE synclag probe …",
  refused: "If another query returns its height, describe that with dialect custom (docs/dialects.md)",
  malformed: "Look for the URL that queries are sent to; it often ends with /graphql",
  http_status: "Look for the URL that queries are sent to; it often ends with /graphql",
};

function describeChain(
  { chain_id, state, block_number, block_timestamp, deployment, indexing_errors, detail }: Chain,
  nowMs: number,
): string {
  const ageMs = block_timestamp === null ? null : Math.max(0, nowMs - Date.parse(block_timestamp));
  const facts =
    block_number === null
      ? [detail ?? state.replace("_", " ")]
      : [
          `block ${formatNumber(block_number)}`,
          ageMs === null ? "no block time" : `block time ${block_timestamp}, ${formatDuration(ageMs)} old`,
          ...(deployment === null ? [] : [`deployment ${deployment}`]),
          ...(indexing_errors === true ? ["reports indexing errors"] : []),
        ];
  const name = chain_id === null ? undefined : wellKnownChain(chain_id)?.name;
  const chain = `chain ${chain_id}${name === undefined ? "" : ` (${name})`}`;
  return `${chain_id === null ? "chain id not in the reply" : chain}: ${facts.join("; ")}`;
}

type Chain = ProbeReport["chains"][number];
