import { type Headers, readHeaders, readWebUrl, withCredentials } from "../config/address.ts";
import { readUrlOption } from "../config/options.ts";
import type { Flaws } from "../config/problems.ts";
import { Secrets } from "../config/secrets.ts";
import { type Question, type Row, requestOf } from "../dialects/dialect.ts";
import { CHAIN_ID_QUESTION, DIALECTS, FAMILIES, questionsFor, RPC_DIALECT } from "../dialects/families.ts";
import { interpretReply } from "../dialects/interpret-reply.ts";
import type { HttpClient } from "../io/http-client/client.ts";
import { openClient } from "./ask-daemon.ts";
import { CommandError, type CommandWorld, cannotUse, type Flags } from "./command-world.ts";
import { readDuration } from "./load-config.ts";

/** A question for a URL. The URL is as the user typed it, with `${VAR}`. */
interface Asked {
  readonly url: string;
  readonly dialect: string;
  readonly question: Question;
}

/** One request and its result. */
export interface Attempt extends Asked {
  readonly tookMs: number;
  readonly rows: readonly Row[];
  /** Why the reply does not fit the dialect: a failure reason or `refused`, and the server's message. Null: it fits. */
  readonly refusal: { readonly reason: string; readonly detail: string } | null;
}

/** The results of asking. */
export interface Findings {
  readonly attempts: readonly Attempt[];
  /** One reply for each URL at which a dialect fits. */
  readonly fits: readonly Attempt[];
  /** The fit with the most heights and block times; a height counts twice. */
  readonly best: Attempt | undefined;
}

/** Why a reply does not fit, in one line. */
export function describeRefusal({ reason, detail }: NonNullable<Attempt["refusal"]>): string {
  return reason === "refused" ? detail : `${detail} (${reason})`;
}

/**
 * Recognises an index-node API. Its heights are not read, because a query must name deployments for that. The id is the one of
 * IPFS's empty folder. Without an id, the API would list all deployments.
 */
const INDEX_NODE: Question = {
  body: {
    query: '{ indexingStatuses(subgraphs: ["QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn"]) { subgraph } }',
  },
  reads: "data",
  read: ({ value }) =>
    typeof value === "object" && value !== null && "indexingStatuses" in value
      ? "the index-node API of a graph-node: use it in the status block of a graph indexer, or with dialect graph-status and the ids of its deployments"
      : "the reply has no indexingStatuses",
};

/** The questions for an unknown endpoint, in this order. */
const QUESTIONS = [...Object.keys(FAMILIES), RPC_DIALECT]
  .flatMap((dialect) => questionsFor({ dialect, targets: [] }).map((question) => ({ dialect, question })))
  .concat({ dialect: "graph-status", question: INDEX_NODE });
const PAGES = Object.entries(DIALECTS).flatMap(([dialect, { path }]) =>
  path ? questionsFor({ dialect, targets: [] }).map((question) => ({ path, dialect, question })) : [],
);
/** Questions at the usual paths below a server. The empty path is last, because every URL ends with it. */
const USUAL = [
  ...["/v1/graphql", "/graphql"].flatMap((path) => QUESTIONS.map((one) => ({ path, ...one }))),
  ...PAGES,
  ...QUESTIONS.map((one) => ({ path: "", ...one })),
];

const USUAL_ENDING = new RegExp(`(?:${USUAL.map(({ path }) => trimmed(path)).join("|")})$`);

/** All questions for a URL. If its path is the usual path of a dialect, the questions of that dialect come first. */
export function questionsAt(url: string): readonly Asked[] {
  const [path = ""] = url.split(/[?#]/);
  const pages = PAGES.filter((page) => trimmed(path).endsWith(trimmed(page.path)));
  return [...pages, ...QUESTIONS].map((one) => ({ ...one, url }));
}

/** The questions at the other usual paths of a server. They replace a usual path at the end of the URL, or follow the URL. */
export function questionsBeside(typed: string): readonly Asked[] {
  const [, server = "", rest = ""] = /^(https?:\/\/[^?#]+)(.*)$/i.exec(typed) ?? [];
  const base = trimmed(server).replace(USUAL_ENDING, "");
  return USUAL.filter(({ path }) => trimmed(base + path) !== trimmed(server)).map((one) => ({
    ...one,
    url: `${base}${one.path}${rest}`,
  }));
}

function trimmed(path: string): string {
  return path.replace(/\/$/, "");
}

/** The largest number of requests for these questions: an RPC node is asked a second time, for its chain. */
export function mostRequests(questions: readonly Asked[]): number {
  return questions.length + new Set(questions.map(({ url }) => url)).size;
}

/** The default of `poll.max_response`. */
const MAX_RESPONSE_BYTES = 2 ** 20;
/** After these reasons no further question is sent. */
export const FINAL_REASONS: ReadonlySet<string> = new Set([
  "timeout",
  "dns",
  "connect",
  "tls",
  "rate_limited",
]);
/** After these reasons another question of the same language may still fit the same URL. */
const QUESTION_REASONS: ReadonlySet<string> = new Set(["refused", "graphql"]);

/** Asks endpoints without a configuration. */
export class Prober implements AsyncDisposable {
  /** The chain's number that the user gave, or null. */
  readonly chainId: number | null;
  /** As the user typed them. */
  readonly headers: Headers;
  readonly #filledHeaders: Headers;
  readonly #secrets: Secrets;
  readonly #client: HttpClient;

  /** @throws {CommandError | ConfigError} If a URL or an option cannot be used. */
  constructor(urls: readonly string[], flags: Flags, world: CommandWorld) {
    this.#secrets = new Secrets(world);
    this.headers = parseHeaders(flags.header);
    this.#filledHeaders = fillHeaders(this.headers, this.#secrets);
    this.chainId = readChainId(flags.chainId);
    for (const [index, url] of urls.entries()) {
      this.#addressOf(url, urls.length > 1 ? `URL ${index + 1}` : "URL");
    }
    world.keepSecret(this.#secrets.all);
    this.#client = openClient(world, readDuration("--timeout", flags.timeout), MAX_RESPONSE_BYTES);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }

  /** Asks one question after the other. Once a reply fits, its URL gets no further question. */
  async ask(questions: readonly Asked[]): Promise<Findings> {
    const attempts: Attempt[] = [];
    const fits: Attempt[] = [];
    // URLs to which no further question is sent; an entry `language URL` ends only the questions of that language.
    const done = new Set<string>();
    for (const asked of questions) {
      const inLanguage = `${languageOf(asked.question)} ${asked.url}`;
      if (done.has(asked.url) || done.has(inLanguage)) {
        continue;
      }
      const [attempt, ...others] = await this.#sendWithChain(asked);
      attempts.push(attempt, ...others);
      const reason = attempt.refusal?.reason;
      if (reason === undefined) {
        fits.push(attempt);
        done.add(asked.url);
      } else if (FINAL_REASONS.has(reason)) {
        break;
      } else if (!QUESTION_REASONS.has(reason)) {
        done.add(inLanguage);
      }
    }
    return { attempts, fits, best: fits.toSorted((a, b) => worthOf(b) - worthOf(a))[0] };
  }

  /** Sends a question. If an RPC node replies to it, also asks the node for its chain. */
  async #sendWithChain(asked: Asked): Promise<readonly [Attempt, ...Attempt[]]> {
    const attempt = await this.#send(asked);
    if (asked.dialect !== RPC_DIALECT || attempt.refusal !== null) {
      return [attempt];
    }
    const chain = await this.#send({ ...asked, question: CHAIN_ID_QUESTION });
    const chainId = chain.rows[0]?.chainId ?? null;
    return [{ ...attempt, rows: attempt.rows.map((row) => ({ ...row, chainId })) }, chain];
  }

  async #send(asked: Asked): Promise<Attempt> {
    const { question } = asked;
    const result = await this.#client.post(requestOf(this.#addressOf(asked.url), question));
    const attempt = { ...asked, tookMs: result.receivedAtMs - result.sentAtMs, rows: [], refusal: null };
    if (result.kind === "failed") {
      return { ...attempt, refusal: { reason: result.reason, detail: result.detail } };
    }
    const read = interpretReply(question, result.reply, result.receivedAtMs);
    if (read.kind === "rows") {
      return { ...attempt, rows: read.rows };
    }
    const isRpcNode = languageOf(question) === "graphql" && /"jsonrpc"\s*:/.test(result.reply.body);
    const reason = read.kind === "refused" || read.reason === "schema" ? "refused" : read.reason;
    return { ...attempt, refusal: { reason: isRpcNode ? "malformed" : reason, detail: read.detail } };
  }

  /** The body of the reply to a GET; null unless its HTTP status is 200. */
  async get(url: string): Promise<string | null> {
    const result = await this.#client.post({ ...this.#addressOf(url), body: null });
    return result.kind === "replied" && result.reply.httpStatus === 200 ? result.reply.body : null;
  }

  /** Where a request goes. Variables and files are filled in, as in chains.yaml. */
  #addressOf(url: string, name = "URL") {
    const filled = readUrlOption(name, url, this.#secrets, readWebUrl);
    return { url: filled.href, headers: withCredentials(this.#filledHeaders, filled, this.#secrets) };
  }
}

function worthOf({ rows }: Attempt): number {
  const heads = rows.flatMap(({ content }) => (content.kind === "head" ? content.head : []));
  return heads.length * 2 + heads.filter(({ timestampSec }) => timestampSec !== null).length;
}

/** The language of a question. A URL that does not speak one language may speak another. */
function languageOf({ body }: Question): "page" | "graphql" | "rpc" {
  if (body === null) {
    return "page";
  }
  return "query" in body ? "graphql" : "rpc";
}

/** Headers by their names. The error does not repeat the text, which may be a key. */
function parseHeaders(lines: readonly string[]): Headers {
  const headers = lines.map((line) => /^([^:\s]+):\s*(.*)$/.exec(line)?.slice(1));
  if (headers.includes(undefined)) {
    throw new CommandError("Cannot use --header: expected 'Name: value'");
  }
  return Object.fromEntries(headers.map(([name = "", value = ""] = []) => [name, value]));
}

function fillHeaders(headers: Headers, secrets: Secrets): Headers {
  const flaws: string[] = [];
  const spotOf = (name: string): Flaws => ({
    at: (...steps) => spotOf([name, ...steps].join(" ")),
    add: (message) => flaws.push(`${name}: ${message}`),
  });
  const filled = readHeaders(headers, spotOf("--header"), { secrets });
  if (filled === null) {
    throw new CommandError(flaws.join("\n"));
  }
  return filled;
}

function readChainId(text: string | undefined): number | null {
  if (text !== undefined && !/^[1-9]\d{0,14}$/.test(text)) {
    throw cannotUse("--chain-id", text, "a chain's number such as 8453");
  }
  return text === undefined ? null : Number(text);
}
