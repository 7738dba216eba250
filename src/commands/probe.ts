import { parseConfig } from "../config/parse.ts";
import type { Endpoint } from "../core/model/fleet.ts";
import type { PostResult } from "../core/model/http-post.ts";
import { createRedact, type Redact } from "../core/model/redact.ts";
import { classify, type ReplyError } from "../dialects/answer/classify.ts";
import type { Question, Row } from "../dialects/dialect.ts";
import { readMetaBlock } from "../dialects/graph.ts";
import { DIALECTS } from "../dialects/registry.ts";
import { rpc } from "../dialects/rpc.ts";
import { createHttpClient, type HttpClient } from "../io/http-client/client.ts";
import { readProxySettings } from "../io/http-client/proxy-settings.ts";
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
 *
 * @throws {ConfigError} If the URL, a header, a variable or the timeout cannot be used.
 */
export async function probe(url: string, flags: ProbeFlags, world: CommandWorld): Promise<number> {
  const asked = readFlags(flags);
  if (typeof asked === "string") {
    world.err(asked);
    return EXIT.usage;
  }
  const { headers, chainId } = asked;
  // As chains.yaml would have it: variables, headers, secrets and their errors are the same.
  const config = parseConfig(
    JSON.stringify({
      version: 1,
      poll: { timeout: flags.timeout },
      chains: { chain: { id: chainId ?? 1 } },
      protocols: { probe: [{ variant: "probe", url, headers, chains: ["chain"] }] },
    }),
    { file: "command line", env: world.env, readFile: world.readFile },
  );
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

/** Asks until a question fits, or the answer shows that no other will. */
async function askAll(endpoint: Endpoint, client: HttpClient, redact: Redact): Promise<readonly Attempt[]> {
  const attempts: Attempt[] = [];
  const questions = [...Object.entries(DIALECTS), ["rpc", rpc] as const].flatMap(
    ([dialect, { questions: own }]) => own.map((question) => ({ dialect, question })),
  );
  for (const { dialect, question } of questions) {
    const { url, headers } = endpoint;
    const result = await client.post({ url, headers, body: question.body });
    const outcome = readResult(question, result, redact);
    const tookMs = result.receivedAtMs - result.sentAtMs;
    const asked = String(question.body["query"] ?? question.body["method"]);
    attempts.push({ dialect, asked, tookMs, rows: outcome.rows, refusal: outcome.refusal });
    if (outcome.rows.length > 0 || outcome.isFinal) {
      break;
    }
  }
  return attempts;
}

interface ReadResult {
  readonly rows: readonly Row[];
  /** Why there are no rows, in the server's words; null where there are. */
  readonly refusal: string | null;
  /** No other question can do better. */
  readonly isFinal: boolean;
}

function readResult(question: Question, result: PostResult, redact: Redact): ReadResult {
  if (result.kind === "failed") {
    return { rows: [], refusal: `${result.reason}: ${redact(result.detail)}`, isFinal: true };
  }
  const { reply } = result;
  if (reply.location != null) {
    const refusal = `HTTP ${reply.httpStatus.toString()} redirects to ${redact(reply.location)}, which is not followed`;
    return { rows: [], refusal, isFinal: true };
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
      return { rows: [], refusal: error.detail, isFinal: false };
    case "not_started":
      return { rows: [{ chainId: null, content: { kind: "not_started" } }], refusal: null, isFinal: true };
    case "failed": {
      const isFinal = !["graphql", "malformed", "http_status"].includes(error.reason);
      return { rows: [], refusal: `${error.reason}: ${error.detail}`, isFinal };
    }
  }
}

function readData(question: Question, data: unknown): ReadResult {
  const own = question.read(data);
  const reading = own.kind === "rows" ? own : readMetaBlock(data);
  if (reading.kind === "rows") {
    return { rows: reading.rows, refusal: null, isFinal: true };
  }
  return { rows: [], refusal: own.kind === "rows" ? null : own.detail, isFinal: false };
}
