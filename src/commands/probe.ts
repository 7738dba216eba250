import { z } from "zod";
import type { Config } from "../config/config.ts";
import { readProxySettings } from "../config/options/proxy-settings.ts";
import { parseConfig } from "../config/parse.ts";
import { ConfigError } from "../config/yaml/config-error.ts";
import type { Endpoint } from "../core/model/fleet.ts";
import type { PostResult } from "../core/model/http-post.ts";
import { createRedact, type Redact } from "../core/model/redact.ts";
import { classify, type ReplyError } from "../dialects/answer/classify.ts";
import type { Dialect, Question, Reading, Row } from "../dialects/dialect.ts";
import { readMetaBlock } from "../dialects/graph.ts";
import { DIALECTS } from "../dialects/registry.ts";
import { rpc } from "../dialects/rpc.ts";
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
  const attempts = await askAll(endpoint, client, redact);
  const report: ProbeReport = { url, headers, chainId, attempts };
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

/** graph-node's index-node API tells heights only of deployments that are named, but it has a version. */
const INDEX_NODE: Question = { body: { query: "{ version { version commit } }" }, read: refuseVersion };
const IndexNodeVersion = z.object({ version: z.object({ version: z.string(), commit: z.string() }) });

/** In the order in which they are asked. */
const QUESTIONS: readonly { readonly dialect: string; readonly question: Question }[] = [
  ...Object.entries<Dialect>(DIALECTS).flatMap(([dialect, { questions }]) =>
    questions.map((question) => ({ dialect, question })),
  ),
  { dialect: "graph-status", question: INDEX_NODE },
  ...rpc.questions.map((question) => ({ dialect: "rpc", question })),
];

/** Asks until a question fits, or the answer shows that no other will. */
async function askAll(endpoint: Endpoint, client: HttpClient, redact: Redact): Promise<readonly Attempt[]> {
  const { url, headers } = endpoint;
  const attempts: Attempt[] = [];
  let left = QUESTIONS;
  for (let next = left[0]; next !== undefined; next = left[0]) {
    const { dialect, question } = next;
    const result = await client.post({ url, headers, body: question.body });
    const { isFinal, ...outcome } = readResult(question, result, redact);
    const tookMs = result.receivedAtMs - result.sentAtMs;
    const asked = String(question.body["query"] ?? question.body["method"]);
    attempts.push({ dialect, asked, tookMs, ...outcome });
    left = isFinal ? [] : left.slice(1);
    if (speaksJsonRpc(result)) {
      left = left.filter((candidate) => candidate.dialect === "rpc");
    }
  }
  return attempts;
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

function readResult(question: Question, result: PostResult, redact: Redact): ReadResult {
  if (result.kind === "failed") {
    return failed(result.reason, redact(result.detail), true);
  }
  const { reply } = result;
  if (reply.location != null) {
    const refusal = `HTTP ${reply.httpStatus.toString()} redirects to ${redact(reply.location)}, which is not followed`;
    return failed("redirect", refusal, true);
  }
  const classified = classify({ ...reply, body: redact(reply.body) }, result.receivedAtMs);
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
  const reading = own.kind === "rows" ? own : readMetaBlock(data);
  if (reading.kind === "rows") {
    return served(reading.rows);
  }
  const indexNode = IndexNodeVersion.safeParse(data).data?.version.version ?? null;
  return indexNode === null
    ? failed("refused", own.kind === "rows" ? "" : own.detail, false)
    : { ...served([]), indexNode };
}

function refuseVersion(): Reading {
  return { kind: "refused", detail: "the answer has no version" };
}
