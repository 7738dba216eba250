import { z } from "zod";
import type { Config } from "../config/config.ts";
import { readProxySettings } from "../config/options/proxy-settings.ts";
import { parseConfig } from "../config/parse.ts";
import { ConfigError } from "../config/yaml/config-error.ts";
import type { Endpoint } from "../core/model/fleet.ts";
import type { PostResult } from "../core/model/http-post.ts";
import { createRedact } from "../core/model/redact.ts";
import { classify, type ReplyError } from "../dialects/answer/classify.ts";
import { describeValue, quote } from "../dialects/answer/quote.ts";
import type { Dialect, Question, Reading, Row } from "../dialects/dialect.ts";
import { readMetaBlock } from "../dialects/graph.ts";
import { DIALECTS } from "../dialects/registry.ts";
import { CHAIN_ID_REQUEST, readChainId, rpc } from "../dialects/rpc.ts";
import { createHttpClient, type HttpClient } from "../io/http-client/client.ts";
import { buildOf, type CommandWorld, EXIT } from "./command-world.ts";
import { type Attempt, type ProbeReport, renderProbeJson, renderProbeText } from "./describe-probe.ts";

export interface ProbeFlags {
  readonly header: readonly string[];
  readonly chainId?: string;
  readonly timeout: string;
  readonly format: "table" | "json";
}

/**
 * `synclag probe URL`: asks one endpoint the questions of every dialect until one fits, and says what it serves.
 */
export async function probe(url: string, flags: ProbeFlags, world: CommandWorld): Promise<number> {
  const asked = readFlags(flags);
  if (typeof asked === "string") {
    world.err(asked);
    return EXIT.usage;
  }
  const { headers, chainId } = asked;
  const config = configOf({ url, headers, timeout: flags.timeout }, world);
  if (typeof config === "string") {
    world.err(config);
    return EXIT.usage;
  }
  world.keepSecret(config.secrets);
  const redact = createRedact(config.secrets);
  const endpoint = config.fleet.indexers[0]?.endpoints[0];
  if (endpoint === undefined) {
    throw new RangeError("Cannot probe: the configuration has no endpoint");
  }
  await using client = createHttpClient({
    timeoutMs: config.poll.timeoutMs,
    maxResponseBytes: config.poll.maxResponseBytes,
    connectionsPerHost: 1,
    userAgent: `synclag/${buildOf(world).version}`,
    nowMs: world.nowMs,
    proxy: readProxySettings(world.env),
  });
  const attempts = await askAll(endpoint, client);
  const report: ProbeReport = { url, headers, chainId, attempts, slugs: slugsOf(world) };
  const text = flags.format === "json" ? renderProbeJson(report) : renderProbeText(report, world.nowMs());
  for (const line of text.split("\n")) {
    world.out(redact(line));
  }
  const hasHeight = attempts.some(({ rows }) => rows.some(({ content }) => content.kind === "head"));
  return hasHeight ? EXIT.ok : EXIT.failure;
}

/** As chains.yaml would have it: variables, headers and secrets are the same. Or what is wrong with them, a line each. */
function configOf(
  { url, headers, timeout }: Pick<ProbeReport, "url" | "headers"> & { readonly timeout: string },
  world: CommandWorld,
): Config | string {
  const text = JSON.stringify({
    version: 1,
    poll: { timeout },
    chains: { chain: { id: 1 } },
    protocols: { probe: [{ variant: "probe", url, headers, chains: ["chain"] }] },
  });
  try {
    return parseConfig(text, { file: "command line", env: world.env, readFile: world.readFile });
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    return error.message.split("\n").map(withFlagName).join("\n");
  }
}

/** The names of well-known chains by their ids: those of the packaged chains.yaml. */
function slugsOf({ packageRoot, readFile }: CommandWorld): ReadonlyMap<number, string> {
  const file = `${packageRoot}chains.yaml`;
  const { fleet } = parseConfig(readFile(file), { file, env: {}, readFile });
  return new Map(fleet.chains.map(({ id, slug }) => [id, slug]));
}

/** Names the argument in place of its path in a chains.yaml that the user does not have. */
function withFlagName(problem: string): string {
  return problem
    .replace(/^command line:\d+:\d+: /, "")
    .replace(/^protocols\.probe\[0\]\.headers\.([^:]+): /, "--header $1: ")
    .replace(/^protocols\.probe\[0\]\.url: /, "URL: ")
    .replace(/^poll\.timeout: /, "--timeout: ")
    .replace(/; set it, or add optional: true to the indexer$/, "");
}

/** What the flags mean, or what is wrong with them; a header may hold a key and is not repeated. */
function readFlags({ header, chainId }: ProbeFlags): Pick<ProbeReport, "headers" | "chainId"> | string {
  const headers = header.flatMap((line): readonly (readonly [string, string])[] => {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  if (headers.length < header.length) {
    return "Cannot use --header: expected 'Name: value'";
  }
  if (chainId !== undefined && !/^[1-9]\d{0,14}$/.test(chainId)) {
    return `Cannot use --chain-id ${JSON.stringify(chainId)}: expected a chain's number such as 8453`;
  }
  return { headers: Object.fromEntries(headers), chainId: chainId === undefined ? null : Number(chainId) };
}

/**
 * graph-node's index-node API reports heights only of deployments that are named. It has a version; an indexer's public
 * API has the statuses alone. The id is that of IPFS's empty folder: without one, all deployments would be listed.
 */
const INDEX_NODE: readonly Question[] = [
  "{ version { version commit } }",
  '{ indexingStatuses(subgraphs: ["QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn"]) { subgraph } }',
].map((query) => ({ body: { query }, read: refuseIndexNode }));
const IndexNode = z.union([
  z.object({ version: z.object({ version: z.string(), commit: z.string() }) }),
  z.object({ indexingStatuses: z.array(z.unknown()) }),
]);

/** In the order in which they are asked. */
const QUESTIONS: readonly { readonly dialect: string; readonly question: Question }[] = [
  ...Object.entries<Dialect>(DIALECTS).flatMap(([dialect, { questions }]) =>
    questions.map((question) => ({ dialect, question })),
  ),
  ...INDEX_NODE.map((question) => ({ dialect: "graph-status", question })),
  ...rpc.questions.map((question) => ({ dialect: "rpc", question })),
];

/** Asks until a question fits, or the answer shows that no other will. */
async function askAll(endpoint: Endpoint, client: HttpClient): Promise<readonly Attempt[]> {
  const { url, headers } = endpoint;
  const attempts: Attempt[] = [];
  let left = QUESTIONS;
  for (let next = left[0]; next !== undefined; next = left[0]) {
    const { dialect, question } = next;
    const result = await client.post({ url, headers, body: question.body });
    const { isFinal, ...outcome } = readResult(question, result);
    const tookMs = result.receivedAtMs - result.sentAtMs;
    const asked = String(question.body["query"] ?? question.body["method"]);
    if (dialect === "rpc" && outcome.rows.length > 0) {
      const chain = await askChainId(endpoint, client);
      const rows = outcome.rows.map((row) => ({ ...row, chainId: chain.id }));
      return [...attempts, { dialect, asked, tookMs, ...outcome, rows }, chain.attempt];
    }
    attempts.push({ dialect, asked, tookMs, ...outcome });
    left = isFinal ? [] : left.slice(1);
    if (speaksJsonRpc(result)) {
      left = left.filter((candidate) => candidate.dialect === "rpc");
    }
  }
  return attempts;
}

/** Asks an RPC node for its chain; the id is null where it does not say. */
async function askChainId(
  { url, headers }: Endpoint,
  client: HttpClient,
): Promise<{ readonly id: number | null; readonly attempt: Attempt }> {
  const result = await client.post({ url, headers, body: CHAIN_ID_REQUEST });
  const tookMs = result.receivedAtMs - result.sentAtMs;
  const answer = result.kind === "failed" ? result : classify(result.reply, result.receivedAtMs);
  const isData = answer.kind === "data";
  const id = isData ? readChainId(answer.data) : null;
  const failure = isData ? `Cannot read result as a chain id: ${describeValue(answer.data)}` : answer.detail;
  const outcome = id === null ? failed("refused", failure, true) : served([]);
  return { id, attempt: { ...outcome, dialect: "rpc", asked: CHAIN_ID_REQUEST.method, tookMs } };
}

/** A JSON-RPC node answers a GraphQL query with a JSON-RPC error: no other query can fit. */
function speaksJsonRpc(result: PostResult): boolean {
  return result.kind === "replied" && /"jsonrpc"\s*:/.test(result.reply.body);
}

type ReadResult = Pick<Attempt, "rows" | "refusal" | "reason" | "indexNode"> & {
  /** No other question can do better. */
  readonly isFinal: boolean;
};

function failed(reason: Attempt["reason"], refusal: string, isFinal: boolean): ReadResult {
  return { rows: [], refusal, reason, indexNode: null, isFinal };
}

function served(rows: readonly Row[]): ReadResult {
  return { rows, refusal: null, reason: null, indexNode: null, isFinal: true };
}

function readResult(question: Question, result: PostResult): ReadResult {
  if (result.kind === "failed") {
    return failed(result.reason, result.detail, true);
  }
  const { reply } = result;
  if (reply.location != null) {
    const refusal = `HTTP ${reply.httpStatus.toString()} redirects to ${quote(reply.location)}, which is not followed`;
    return failed("redirect", refusal, true);
  }
  const classified = classify(reply, result.receivedAtMs);
  if (classified.kind !== "data") {
    return readError(classified);
  }
  const read = readData(question, classified.data);
  // Beside an error, a field of null means that it could not be read, and not that nothing is indexed yet.
  const hasHead = read.rows.some(({ content }) => content.kind === "head");
  return classified.error === null || hasHead ? read : readError(classified.error);
}

function readError(error: ReplyError): ReadResult {
  switch (error.kind) {
    case "refused":
      return failed("refused", error.detail, false);
    case "not_started":
      return served([{ chainId: null, content: { kind: "not_started" } }]);
    case "failed": {
      const isFinal = !["graphql", "malformed", "http_status"].includes(error.reason);
      return failed(error.reason, error.detail, isFinal);
    }
  }
}

function readData(question: Question, data: unknown): ReadResult {
  const own = question.read(data);
  if (own.kind === "rows") {
    return served(own.rows);
  }
  const plain = readMetaBlock(data);
  if (plain.kind === "rows") {
    return served(plain.rows);
  }
  const indexNode = IndexNode.safeParse(data).data;
  if (indexNode === undefined) {
    return failed("refused", own.detail, false);
  }
  const name = "version" in indexNode ? `graph-node ${quote(indexNode.version.version)}` : "a graph-node";
  return { ...served([]), indexNode: name };
}

function refuseIndexNode(): Reading {
  return { kind: "refused", detail: "the answer has neither a version nor indexingStatuses" };
}
