import { type Headers, readHeaders, readWebUrl, withCredentials } from "../config/address.ts";
import { readProxySettings, readUrlOption } from "../config/options.ts";
import type { Flaws } from "../config/problems.ts";
import { Secrets } from "../config/secrets.ts";
import { createRedact } from "../core/model/redact.ts";
import { askedBy, type Question, type Row, requestOf } from "../dialects/dialect.ts";
import { CHAIN_ID_QUESTION, DIALECTS, FAMILIES, questionsFor, RPC_DIALECT } from "../dialects/families.ts";
import { interpretReply } from "../dialects/interpret-reply.ts";
import { quote } from "../dialects/values.ts";
import { createHttpClient, type HttpClient } from "../io/http-client/client.ts";
import { buildOf, CommandError, type CommandWorld } from "./command-world.ts";
import type { Flags } from "./flags.ts";
import { readDuration } from "./load-config.ts";

/** A question to send to a URL, which is as it was typed: `${VAR}` stays. */
interface Asked {
  readonly url: string;
  readonly dialect: string;
  readonly question: Question;
}

/** One request and its result. */
export interface Attempt {
  readonly url: string;
  readonly dialect: string;
  readonly query: string;
  readonly tookMs: number;
  readonly rows: readonly Row[];
  /** Why the reply does not fit the dialect: a failure reason or `refused`, and the server's words. Null: it fits. */
  readonly refusal: { readonly reason: string; readonly detail: string } | null;
}

/** Why a reply does not fit, in one line. */
export function describeRefusal({ reason, detail }: NonNullable<Attempt["refusal"]>): string {
  return reason === "refused" ? detail : `${detail} (${reason})`;
}

/**
 * An indexer's index-node API reports heights only of deployments that are named, so no query without a configuration fits.
 * The id is that of IPFS's empty folder: without one, all deployments would be listed.
 */
const INDEX_NODE: Question = {
  body: {
    query: '{ indexingStatuses(subgraphs: ["QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn"]) { subgraph } }',
  },
  reads: "data",
  read: ({ value }) =>
    typeof value === "object" && value !== null && "indexingStatuses" in value
      ? "the index-node API of a graph-node: use it as status: beside a graph indexer, or with dialect graph-status and the ids of its deployments"
      : "the reply has no indexingStatuses",
};

/** What is asked where nothing is known, in this order. */
const QUESTIONS = [...Object.keys(FAMILIES), RPC_DIALECT]
  .flatMap((dialect) => questionsFor({ dialect, targets: [] }).map((question) => ({ dialect, question })))
  .concat({ dialect: "graph-status", question: INDEX_NODE });
const PAGES = Object.entries(DIALECTS).flatMap(([dialect, { usualPath: path }]) =>
  path ? questionsFor({ dialect, targets: [] }).map((question) => ({ path, dialect, question })) : [],
);
/** Where something usually is below an indexer's address; the empty path, which every address ends with, is last. */
const USUAL = [
  ...["/v1/graphql", "/graphql"].flatMap((path) => QUESTIONS.map((one) => ({ path, ...one }))),
  ...PAGES,
  ...QUESTIONS.map((one) => ({ path: "", ...one })),
];

/** What a URL may be asked: all questions, after those of a page that usually has this path. */
export function questionsAt(url: string): readonly Asked[] {
  const [path = ""] = url.split(/[?#]/);
  const pages = PAGES.filter((page) => endsWith(path, page.path));
  return [...pages, ...QUESTIONS].map(({ dialect, question }) => ({ url, dialect, question }));
}

/** What the usual URLs of the same server may be asked: they are in place of a usual ending, or below the URL. */
export function questionsBeside(typed: string): readonly Asked[] {
  const [, origin = "", path = "", query = ""] = /^(https?:\/\/[^/?#]+)([^?#]*)(.*)$/i.exec(typed) ?? [];
  const ending = USUAL.find((one) => endsWith(path, one.path))?.path ?? "";
  const base = trimmed(path).slice(0, trimmed(path).length - trimmed(ending).length);
  return USUAL.map((one) => ({ ...one, url: `${origin}${base}${one.path}${query}` })).filter(
    (one) => origin !== "" && trimmed(base + one.path) !== trimmed(path),
  );
}

function endsWith(path: string, ending: string): boolean {
  return trimmed(path).endsWith(trimmed(ending));
}

function trimmed(path: string): string {
  return path.replace(/\/$/, "");
}

/** The default of `poll.max_response`. */
const MAX_RESPONSE_BYTES = 2 ** 20;
/** After these reasons nothing more is asked. */
const FINAL: ReadonlySet<string> = new Set(["timeout", "dns", "connect", "tls", "rate_limited"]);

/** Whether the server is not to be asked again. */
export function isOver(attempts: readonly Attempt[]): boolean {
  return attempts.some(({ refusal }) => refusal !== null && FINAL.has(refusal.reason));
}

/** Asks endpoints that no configuration names. */
export class Prober implements AsyncDisposable {
  /** The chain's number that the user gave, or null. */
  readonly chainId: number | null;
  /** As they were typed. */
  readonly headers: Headers;
  /** Removes secrets. */
  readonly redact: (text: string) => string;
  readonly #secrets: Secrets;
  readonly #client: HttpClient;

  /** @throws {CommandError | ConfigError} If a URL or an option cannot be used. */
  constructor(urls: readonly string[], flags: Flags, world: CommandWorld) {
    this.headers = readHeaderFlags(flags.header);
    this.chainId = readChainId(flags.chainId);
    this.#secrets = new Secrets(world);
    for (const url of urls) {
      this.addressOf(url);
    }
    world.keepSecret(this.#secrets.all);
    this.redact = createRedact(this.#secrets.all);
    this.#client = createHttpClient({
      timeoutMs: readDuration("--timeout", flags.timeout),
      maxResponseBytes: MAX_RESPONSE_BYTES,
      connectionsPerHost: 1,
      userAgent: `synclag/${buildOf(world).version}`,
      nowMs: world.nowMs,
      proxy: readProxySettings(world.env),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }

  /** Where a request goes: variables and files are filled in, in the headers as in chains.yaml. */
  addressOf(url: string) {
    const filled = readUrlOption("URL", url, this.#secrets, readWebUrl);
    const flaws: string[] = [];
    const flawsOf = (name: string): Flaws => ({
      at: (...steps) => flawsOf([name, ...steps].join(" ")),
      add: (message) => flaws.push(`${name}: ${message}`),
    });
    const headers = readHeaders(this.headers, flawsOf("--header"), { secrets: this.#secrets });
    if (headers === null) {
      throw new CommandError(flaws.join("\n"));
    }
    return { url: filled.href, headers: withCredentials(headers, filled, this.#secrets) };
  }

  /** Asks in turn until a reply fits: that is the last attempt, unless an RPC node was asked for its chain. */
  async ask(questions: readonly Asked[]): Promise<readonly Attempt[]> {
    const attempts: Attempt[] = [];
    let left = questions;
    for (let next = left[0]; next !== undefined; next = left[0]) {
      const attempt = await this.#send(next);
      if (attempt.refusal === null && attempt.dialect === RPC_DIALECT) {
        const chain = await this.#send({ ...next, question: CHAIN_ID_QUESTION });
        const chainId = chain.rows[0]?.chainId ?? null;
        const rows = attempt.rows.map((row) => ({ ...row, chainId }));
        return [...attempts, { ...attempt, rows }, chain];
      }
      attempts.push(attempt);
      left = stillOpen(left.slice(1), next, attempt);
    }
    return attempts;
  }

  async #send({ url, dialect, question }: Asked): Promise<Attempt> {
    const result = await this.#client.post(requestOf(this.addressOf(url), question));
    const tookMs = result.receivedAtMs - result.sentAtMs;
    const attempt = { url, dialect, query: askedBy(question), tookMs, rows: [], refusal: null };
    if (result.kind === "failed") {
      return { ...attempt, refusal: { reason: result.reason, detail: result.detail } };
    }
    const { body, httpStatus, location } = result.reply;
    if (location != null) {
      const detail = `HTTP ${httpStatus} redirects to ${quote(location)}, which is not followed: probe that if you trust it`;
      return { ...attempt, refusal: { reason: "http_status", detail } };
    }
    const read = interpretReply(question, result.reply, result.receivedAtMs);
    if (read.kind === "rows") {
      return { ...attempt, rows: read.rows };
    }
    const isRpcNode = languageOf(question) === "graphql" && /"jsonrpc"\s*:/.test(body);
    const reason = read.kind === "refused" || read.reason === "schema" ? "refused" : read.reason;
    return { ...attempt, refusal: { reason: isRpcNode ? "malformed" : reason, detail: read.detail } };
  }
}

/** The questions that may fit after this attempt. */
function stillOpen(left: readonly Asked[], { url, question }: Asked, attempt: Attempt): readonly Asked[] {
  const reason = attempt.refusal?.reason;
  if (reason === undefined || FINAL.has(reason)) {
    return [];
  }
  // Else the server does not speak this language there: it may speak another.
  return reason === "refused" || reason === "graphql"
    ? left
    : left.filter((other) => other.url !== url || languageOf(other.question) !== languageOf(question));
}

function languageOf({ body }: Question): "page" | "graphql" | "rpc" {
  if (body === null) {
    return "page";
  }
  return "query" in body ? "graphql" : "rpc";
}

/** Headers by their names. An error does not repeat the text, which may be a key. */
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
    const expected = "expected a chain's number such as 8453";
    throw new CommandError(`Cannot use --chain-id ${JSON.stringify(text)}: ${expected}`);
  }
  return text === undefined ? null : Number(text);
}
