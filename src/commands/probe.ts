import { z } from "zod";
import { type Headers, readHeaders, withCredentials } from "../config/address.ts";
import { describeTemplateProblem, readProxySettings } from "../config/options.ts";
import { parseConfig } from "../config/parse.ts";
import type { Flaws } from "../config/problems.ts";
import { readWebUrl, Secrets, secretsInUrl } from "../config/secrets.ts";
import type { Endpoint } from "../core/model/fleet.ts";
import type { PostResult } from "../core/model/http-post.ts";
import { createRedact } from "../core/model/redact.ts";
import { askedBy, type Question } from "../dialects/dialect.ts";
import { CHAIN_ID_QUESTION, FAMILY_QUESTIONS, RPC_QUESTIONS } from "../dialects/families.ts";
import { interpretReply } from "../dialects/interpret-reply.ts";
import { quote } from "../dialects/values.ts";
import { createHttpClient, type HttpClient } from "../io/http-client/client.ts";
import { buildOf, CommandError, type CommandWorld, EXIT } from "./command-world.ts";
import { type Attempt, type ProbeReport, renderProbeJson, renderProbeText } from "./describe-probe.ts";
import { readDuration } from "./load-config.ts";

export interface ProbeFlags {
  readonly header: readonly string[];
  readonly chainId?: string;
  readonly timeout: string;
  readonly format: "table" | "json";
}

/** As in chains.yaml, where the usual fleet does not change it. */
const MAX_RESPONSE_BYTES = 2 ** 20;

/**
 * `synclag probe URL`: asks one endpoint the questions of every dialect until one fits, and says what it serves.
 *
 * @throws {CommandError} If the URL or a flag cannot be used.
 */
export async function probe(url: string, flags: ProbeFlags, world: CommandWorld): Promise<number> {
  const headers = readHeaderFlags(flags.header);
  const chainId = readChainId(flags.chainId);
  const timeoutMs = readDuration("--timeout", flags.timeout);
  const secrets = new Secrets(world);
  const endpoint = readEndpoint(url, headers, secrets);
  world.keepSecret(secrets.all);
  const redact = createRedact(secrets.all);
  await using client = createHttpClient({
    timeoutMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
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

/** Headers by their names. What is wrong may be a key, and is not repeated. */
function readHeaderFlags(lines: readonly string[]): Headers {
  const headers = lines.map((line): readonly [string, string] => {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new CommandError("Cannot use --header: expected 'Name: value'");
    }
    return [name, value];
  });
  return Object.fromEntries(headers);
}

function readChainId(text: string | undefined): number | null {
  if (text !== undefined && !/^[1-9]\d{0,14}$/.test(text)) {
    throw new CommandError(
      `Cannot use --chain-id ${JSON.stringify(text)}: expected a chain's number such as 8453`,
    );
  }
  return text === undefined ? null : Number(text);
}

type Address = Pick<Endpoint, "url" | "headers">;

/** Fills in variables and files, as in chains.yaml. @throws {CommandError} A line for each mistake. */
function readEndpoint(written: string, headers: Headers, secrets: Secrets): Address {
  const flaws: string[] = [];
  const flawsOf = (name: string): Flaws => ({
    at: (...steps) => flawsOf([name, ...steps].join(" ")),
    add: (message) => flaws.push(`${name}: ${String(message)}`),
  });
  const fill = (text: string, spot: Flaws, values: ReadonlyMap<string, string> | null = null) => {
    const filled = secrets.fill(text, values);
    for (const problem of filled.problems) {
      spot.add(describeTemplateProblem(problem));
    }
    return filled.problems.length === 0 ? filled : null;
  };
  const address = fill(written, flawsOf("URL"), new Map());
  const url = address && readWebUrl(address.text);
  if (typeof url === "string") {
    flawsOf("URL").add(url);
  }
  const sent = readHeaders(headers, flawsOf("--header"), secrets, fill);
  if (address === null || url === null || typeof url === "string" || sent === null) {
    throw new CommandError(flaws.join("\n"));
  }
  secrets.remember(secretsInUrl(address.parts));
  return { url: url.href, headers: withCredentials(sent, url, secrets) };
}

/** The names of well-known chains by their ids: those of the packaged chains.yaml. */
function slugsOf({ packageRoot, readFile }: CommandWorld): ReadonlyMap<number, string> {
  const file = `${packageRoot}chains.yaml`;
  const { fleet } = parseConfig(readFile(file), { file, env: {}, readFile });
  return new Map(fleet.chains.map(({ id, slug }) => [id, slug]));
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
      IndexNode.safeParse(value).success ? [] : "the reply has neither a version nor indexingStatuses",
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
async function askAll({ url, headers }: Address, client: HttpClient): Promise<readonly Attempt[]> {
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
  if (read.kind === "rows") {
    const indexNode = dialect === "graph-status" ? indexNodeIn(reply.body) : null;
    return { ...attempt, rows: read.rows, indexNode };
  }
  const isRefused = read.kind === "refused" || read.reason === "schema";
  return { ...attempt, refusal: read.detail, reason: isRefused ? "refused" : read.reason };
}

function indexNodeIn(body: string): string {
  const { data } = z.object({ data: IndexNode }).parse(JSON.parse(body));
  return "version" in data ? `graph-node ${quote(data.version.version)}` : "a graph-node";
}
