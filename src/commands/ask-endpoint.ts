import { z } from "zod";
import {
  fillWithoutValues,
  type Headers,
  readHeaders,
  readWebUrl,
  withCredentials,
} from "../config/address.ts";
import { readProxySettings } from "../config/options.ts";
import type { Flaws } from "../config/problems.ts";
import { type Secrets, secretsInUrl } from "../config/secrets.ts";
import type { Endpoint } from "../core/model/fleet.ts";
import type { PostResult } from "../core/model/http-post.ts";
import type { FailureReason } from "../core/model/observation.ts";
import { askedBy, type Question, type Row, requestOf } from "../dialects/dialect.ts";
import { CHAIN_ID_QUESTION, DIALECTS, FAMILY_QUESTIONS, RPC_QUESTIONS } from "../dialects/families.ts";
import { interpretReply } from "../dialects/interpret-reply.ts";
import { quote } from "../dialects/values.ts";
import { createHttpClient, type HttpClient } from "../io/http-client/client.ts";
import { buildOf, CommandError, type CommandWorld } from "./command-world.ts";

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

/** Whether the endpoint answered this request in its dialect. */
export function isFit({ rows, indexNode }: Attempt): boolean {
  return rows.length > 0 || indexNode !== null;
}

/** The default of `poll.max_response`. */
const MAX_RESPONSE_BYTES = 2 ** 20;

/** A client for a few requests to endpoints that no configuration names. */
export function openClient(timeoutMs: number, world: CommandWorld): HttpClient {
  return createHttpClient({
    timeoutMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    connectionsPerHost: 1,
    userAgent: `synclag/${buildOf(world).version}`,
    nowMs: world.nowMs,
    proxy: readProxySettings(world.env),
  });
}

/** Headers by their names. An error does not repeat the text, which may be a key. */
export function readHeaderFlags(lines: readonly string[]): Headers {
  const headers = lines.map((line): readonly [string, string] => {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new CommandError("Cannot use --header: expected 'Name: value'");
    }
    return [name, value];
  });
  return Object.fromEntries(headers);
}

export function readChainId(text: string | undefined): number | null {
  if (text !== undefined && !/^[1-9]\d{0,14}$/.test(text)) {
    throw new CommandError(
      `Cannot use --chain-id ${JSON.stringify(text)}: expected a chain's number such as 8453`,
    );
  }
  return text === undefined ? null : Number(text);
}

export type Address = Pick<Endpoint, "url" | "headers">;

/** Fills in variables and files, as in chains.yaml. @throws {CommandError} A line for each mistake. */
export function readEndpoint(written: string, headers: Headers, secrets: Secrets): Address {
  const flaws: string[] = [];
  const flawsOf = (name: string): Flaws => ({
    at: (...steps) => flawsOf([name, ...steps].join(" ")),
    add: (message) => flaws.push(`${name}: ${message}`),
  });
  const fill = fillWithoutValues(secrets);
  const address = fill(written, flawsOf("URL"), new Map());
  const url = address === null ? null : readWebUrl(address);
  if (typeof url === "string") {
    flawsOf("URL").add(url);
  }
  const sent = readHeaders(headers, flawsOf("--header"), secrets, fill);
  if (url === null || typeof url === "string" || sent === null) {
    throw new CommandError(flaws.join("\n"));
  }
  secrets.remember(secretsInUrl(url, new Map()));
  return { url: url.href, headers: withCredentials(sent, url, secrets) };
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

/** A URL with the questions to send to it. */
export interface Place {
  /** As it was typed: `${VAR}` stays. */
  readonly url: string;
  readonly questions: readonly AskedQuestion[];
  /** After these reasons, another question may still fit. */
  readonly mayFit: ReadonlySet<Attempt["reason"]>;
}

/** What the requests to one place came to. */
export interface PlaceResult {
  readonly url: string;
  readonly attempts: readonly Attempt[];
}

const REFUSED: ReadonlySet<Attempt["reason"]> = new Set(["refused", "graphql"]);
const UNREAD: ReadonlySet<Attempt["reason"]> = new Set([...REFUSED, "malformed", "http_status"]);
/** Reasons without any reply of the server. */
export const UNREACHED: ReadonlySet<string | null> = new Set(["timeout", "dns", "connect", "tls"]);

const GRAPHQL_PATHS = ["/v1/graphql", "/graphql", ""];
const PAGES = Object.entries(DIALECTS).flatMap(([dialect, { usualPath: path = "", questions }]) => {
  const asked = questions({ targets: [] }).map((question) => ({ dialect, question }));
  return path === "" ? [] : [{ path, questions: asked }];
});

/** The address that was typed: asked for everything, first for the page that is usually at such a path. */
export function typedPlace(url: string): Place {
  const [path = ""] = url.split(/[?#]/);
  const pages = PAGES.filter((page) => endsWith(path, page.path));
  return { url, questions: [...pages.flatMap(({ questions }) => questions), ...QUESTIONS], mayFit: UNREAD };
}

/** The usual URLs of the same server: in place of a usual ending, or below the URL. */
export function placesBeside(typed: string): readonly Place[] {
  const [, origin, path = "", query = ""] = /^(https?:\/\/[^/?#]+)([^?#]*)(.*)$/i.exec(typed) ?? [];
  if (origin === undefined) {
    return [];
  }
  const endings = [...GRAPHQL_PATHS, ...PAGES.map((page) => page.path)];
  const ending = endings.find((one) => endsWith(path, one)) ?? "";
  const base = trimmed(path).slice(0, trimmed(path).length - trimmed(ending).length);
  const graphql = GRAPHQL_PATHS.map((own) => ({ path: own, questions: QUESTIONS }));
  return [...graphql, ...PAGES]
    .filter((place) => trimmed(base + place.path) !== trimmed(path))
    .map((place) => ({
      url: `${origin}${base}${place.path}${query}`,
      questions: place.questions,
      mayFit: REFUSED,
    }));
}

/** The most requests that these places take: an RPC node is also asked for its chain. */
export function mostRequests(places: readonly Place[]): number {
  return places.reduce((sum, { questions }) => sum + questions.length, 1);
}

/** Ranks a place: a dialect that fits, heads, and block times. */
function worthOf({ attempts }: PlaceResult): number {
  const heads = attempts.flatMap(({ rows }) =>
    rows.flatMap(({ content }) => (content.kind === "head" ? content.head : [])),
  );
  const isKnown = attempts.some(isFit);
  return (
    Number(isKnown) + heads.length * 2 + heads.filter(({ timestampSec }) => timestampSec !== null).length
  );
}

/** The place that answers for most chains, with most block times; the first of equals. */
export function bestOf(results: readonly PlaceResult[]): PlaceResult | undefined {
  return results.toSorted((a, b) => worthOf(b) - worthOf(a))[0];
}

/** Asks at each place in turn, until `isEnough` or nobody answers. */
export async function askPlaces(
  places: readonly Place[],
  addressOf: (url: string) => Address,
  client: HttpClient,
  isEnough: (attempts: readonly Attempt[]) => boolean,
): Promise<readonly PlaceResult[]> {
  const results: PlaceResult[] = [];
  for (const place of places) {
    const attempts = await askAll(addressOf(place.url), place, client);
    results.push({ url: place.url, attempts });
    if (isEnough(attempts) || attempts.some(({ reason }) => UNREACHED.has(reason))) {
      break;
    }
  }
  return results;
}

function endsWith(path: string, ending: string): boolean {
  return trimmed(path).endsWith(trimmed(ending));
}

function trimmed(path: string): string {
  return path.replace(/\/$/, "");
}

/** Asks until a question fits, or the reply shows that no other will. */
async function askAll(
  address: Address,
  { questions, mayFit }: Place,
  client: HttpClient,
): Promise<readonly Attempt[]> {
  const attempts: Attempt[] = [];
  let left = questions;
  for (let next = left[0]; next !== undefined; next = left[0]) {
    const result = await client.post(requestOf(address, next.question));
    const attempt = attemptOf(next, result);
    if (next.dialect === "rpc" && attempt.rows.length > 0) {
      const asked = { dialect: "rpc", question: CHAIN_ID_QUESTION };
      const chain = attemptOf(asked, await client.post(requestOf(address, CHAIN_ID_QUESTION)));
      const chainId = chain.rows[0]?.chainId ?? null;
      const rows = attempt.rows.map((row) => ({ ...row, chainId }));
      return [...attempts, { ...attempt, rows }, { ...chain, rows: [] }];
    }
    attempts.push(attempt);
    left = mayFit.has(attempt.reason) ? left.slice(1) : [];
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
