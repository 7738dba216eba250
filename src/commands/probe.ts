import { z } from "zod";
import type { Config } from "../config/config.ts";
import { readProxySettings } from "../config/options.ts";
import { parseConfig } from "../config/parse.ts";
import { ConfigError } from "../config/problems.ts";
import type { Endpoint } from "../core/model/fleet.ts";
import type { PostResult } from "../core/model/http-post.ts";
import { createRedact } from "../core/model/redact.ts";
import { askedBy, type Question } from "../dialects/dialect.ts";
import { CHAIN_ID_QUESTION, FAMILY_QUESTIONS, RPC_QUESTIONS } from "../dialects/families.ts";
import { interpretReply } from "../dialects/interpret-reply.ts";
import { quote } from "../dialects/values.ts";
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
    return parseConfig(text, {
      file: "command line",
      env: world.env,
      readFile: world.readFile,
      takesKeysInPath: true,
    });
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
const INDEX_NODE = [
  "{ version { version commit } }",
  '{ indexingStatuses(subgraphs: ["QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn"]) { subgraph } }',
].map(
  (query): Question => ({
    body: { query },
    reads: "data",
    read: ({ value }) =>
      IndexNode.safeParse(value).success ? [] : "the answer has neither a version nor indexingStatuses",
  }),
);
const IndexNode = z.union([
  z.object({ version: z.object({ version: z.string(), commit: z.string() }) }),
  z.object({ indexingStatuses: z.array(z.unknown()) }),
]);

interface AskedQuestion {
  readonly dialect: string;
  readonly question: Question;
}

/** In the order in which they are asked. */
const QUESTIONS: readonly AskedQuestion[] = Object.entries({
  ...Object.fromEntries(FAMILY_QUESTIONS),
  "graph-status": INDEX_NODE,
  rpc: RPC_QUESTIONS,
}).flatMap(([dialect, questions]) => questions.map((question) => ({ dialect, question })));

/** After these, another question may still fit. */
const MAY_FIT_ANOTHER: ReadonlySet<Attempt["reason"]> = new Set([
  "refused",
  "graphql",
  "malformed",
  "http_status",
]);

/** Asks until a question fits, or the reply shows that no other will. */
async function askAll({ url, headers }: Endpoint, client: HttpClient): Promise<readonly Attempt[]> {
  const attempts: Attempt[] = [];
  let left = QUESTIONS;
  for (let next = left[0]; next !== undefined; next = left[0]) {
    const result = await client.post({ url, headers, body: next.question.body });
    const attempt = attemptOf(next, result);
    if (next.dialect === "rpc" && attempt.rows.length > 0) {
      const asked = { dialect: "rpc", question: CHAIN_ID_QUESTION };
      const chain = attemptOf(asked, await client.post({ url, headers, body: CHAIN_ID_QUESTION.body }));
      const chainId = chain.rows[0]?.chainId ?? null;
      const rows = attempt.rows.map((row) => ({ ...row, chainId }));
      return [...attempts, { ...attempt, rows }, { ...chain, rows: [] }];
    }
    attempts.push(attempt);
    left = MAY_FIT_ANOTHER.has(attempt.reason) ? left.slice(1) : [];
    // A JSON-RPC node answers a GraphQL query with a JSON-RPC error: no other query can fit.
    if (result.kind === "replied" && /"jsonrpc"\s*:/.test(result.reply.body)) {
      left = left.filter(({ dialect }) => dialect === "rpc");
    }
  }
  return attempts;
}

function attemptOf({ dialect, question }: AskedQuestion, result: PostResult): Attempt {
  const tookMs = result.receivedAtMs - result.sentAtMs;
  const attempt = {
    dialect,
    asked: askedBy(question),
    tookMs,
    rows: [],
    refusal: null,
    reason: null,
    indexNode: null,
  };
  if (result.kind === "failed") {
    return { ...attempt, refusal: result.detail, reason: result.reason };
  }
  const { reply } = result;
  if (reply.location != null) {
    const refusal = `HTTP ${reply.httpStatus.toString()} redirects to ${quote(reply.location)}, which is not followed`;
    return { ...attempt, refusal, reason: "redirect" };
  }
  const read = interpretReply(question, reply, result.receivedAtMs);
  switch (read.kind) {
    case "rows":
      return {
        ...attempt,
        rows: read.rows,
        indexNode: dialect === "graph-status" ? indexNodeIn(reply.body) : null,
      };
    case "refused":
      return { ...attempt, refusal: read.detail, reason: "refused" };
    case "failed":
      return { ...attempt, refusal: read.detail, reason: read.reason === "schema" ? "refused" : read.reason };
  }
}

function indexNodeIn(body: string): string {
  const { data } = z.object({ data: IndexNode }).parse(JSON.parse(body));
  return "version" in data ? `graph-node ${quote(data.version.version)}` : "a graph-node";
}
