import { wellKnownChain } from "../config/well-known-chains.ts";
import { formatCount, formatDuration, formatNumber, isoTime } from "../core/model/text.ts";
import { questionText, type Row } from "../dialects/dialect.ts";
import { certificateFault } from "../io/http-client/failure.ts";
import {
  type Attempt,
  describeRefusal,
  FINAL_REASONS,
  type Findings,
  mostRequests,
  Prober,
  questionsAt,
  questionsBeside,
} from "./ask-endpoint.ts";
import { chainOfNameless, chainsYaml, endpointOf, KeyVariables } from "./chains-yaml.ts";
import { type CommandWorld, EXIT, type Flags } from "./command-world.ts";
import { adviseOn, recognisePage, type UnknownPage } from "./unknown-page.ts";

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
  if (beside.length > 0) {
    world.err(`Asking at the usual addresses too: at most ${mostRequests(questions) + 1} requests`);
  }
  const findings = await prober.ask(questions);
  const report = reportOf(url, findings, { prober, page: await recognisePageAt(url, findings, prober) });
  const text =
    flags.format === "json" ? JSON.stringify(report, null, 2) : describeReport(report, world.nowMs());
  world.out(world.redact(text));
  return report.chains.some(({ state }) => state === "indexed") ? EXIT.ok : EXIT.failure;
}

/**
 * The page at the URL. Null: no page that `custom` or `metrics` could read. Undefined: no GET was sent, because a dialect fits or
 * the last refusal rules a page out.
 */
async function recognisePageAt(
  url: string,
  { best, attempts }: Findings,
  prober: Prober,
): Promise<UnknownPage | null | undefined> {
  const last = attempts.at(-1)?.refusal?.reason ?? "";
  if (best !== undefined || FINAL_REASONS.has(last) || last === "unauthorized") {
    return undefined;
  }
  return recognisePage((await prober.get(url)) ?? "");
}

type ProbeReport = ReturnType<typeof reportOf>;

/** The findings as `--format json` prints them. */
function reportOf(
  typed: string,
  { attempts, best, fits }: Findings,
  { prober, page }: { readonly prober: Prober; readonly page: UnknownPage | null | undefined },
) {
  return {
    url: best?.url ?? typed,
    dialect: best?.dialect ?? null,
    query: best === undefined ? null : questionText(best.question),
    took_ms: best?.tookMs ?? null,
    requests: attempts.length + (page === undefined ? 0 : 1),
    chains: (best?.rows ?? []).map((row) => ({
      chain_id: row.chainId ?? prober.chainId,
      ...contentOf(row),
    })),
    refused: attempts.flatMap(({ url, dialect, question, refusal }) =>
      refusal === null ? [] : { url, dialect, query: questionText(question), ...refusal },
    ),
    found: fits.map(({ url, dialect, rows }) => ({ url, dialect, chains: rows.length })),
    page: page ?? null,
    chains_yaml: best === undefined ? null : yamlOf(best, prober),
  };
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

/** A whole configuration for the endpoint, which `config check` accepts if the endpoint is an indexer. */
function yamlOf(best: Attempt, prober: Prober): string {
  const variables = new KeyVariables([best.url, ...Object.values(prober.headers)]);
  const chain = chainOfNameless(best, [], { id: prober.chainId, isOnly: true });
  const { chains, ...endpoint } = endpointOf(best, prober.headers, variables, chain?.id ?? null);
  return chainsYaml([{ ...endpoint, chains: chains.length === 0 ? [{ id: 1, slug: "my-chain" }] : chains }]);
}

/** The findings for people: what the endpoint serves and refuses, what to do, and the lines for chains.yaml. */
function describeReport(report: ProbeReport, nowMs: number): string {
  const { url, dialect, took_ms, requests, chains, refused, found, page, chains_yaml } = report;
  const refusals = new Set(refused.map((one) => `  ${one.dialect}: ${describeRefusal(one)}`));
  const places = found.map(
    (one) => `  ${one.url}: dialect ${one.dialect}, ${formatCount(one.chains, "chain")}`,
  );
  const isUnnamed = chains.some(({ chain_id }) => chain_id === null);
  const note = isUnnamed ? " (the reply does not name the chain: fill in its name and id)" : "";
  const first =
    dialect === null
      ? `No dialect fits ${url}`
      : `Dialect ${dialect} fits ${url}: answered in ${formatNumber(took_ms ?? 0)} ms`;
  const paragraphs: readonly (readonly string[])[] = [
    [first, ...chains.map((chain) => `  ${describeChain(chain, nowMs)}`)],
    places.length < 2 ? [] : ["Several URLs fit; the best is shown above:", ...places],
    refusals.size === 0 ? [] : ["Does not fit:", ...refusals],
    dialect === null ? [(page ? adviseOn(page) : adviceAfter(refused.at(-1))) ?? []].flat() : [],
    [
      `${formatCount(requests, "request")} sent, not counted by Synclag's budgets, but perhaps by the provider.`,
    ],
    ...(chains_yaml === null ? [] : [[`For chains.yaml${note}:`], [chains_yaml.trimEnd()]]),
  ];
  return paragraphs
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** The next thing to try after the last refusal. */
function adviceAfter(refusal: ProbeReport["refused"][number] | undefined): string | undefined {
  return refusal?.detail.includes(" from a firewall of ") === true
    ? "A firewall blocks this machine or this client, whatever the key: ask the provider to allow its address, or use another machine"
    : ADVICE[certificateFault(refusal?.detail ?? "") ?? refusal?.reason ?? ""];
}

/** What to try, by the fault of the certificate or the reason of the last refusal. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthorized: `The endpoint may need a key, or another key: --header 'Authorization: Bearer \${KEY}' with KEY in the environment`,
  authority:
    "If its certificate authority is private, trust that authority: NODE_EXTRA_CA_CERTS=FILE synclag probe …",
  host: "Use a host name of its certificate in the URL",
  timeout: "Check host and port, or allow more time with --timeout",
  refused: "If another query returns the height, describe that query with dialect custom (docs/dialects.md)",
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
