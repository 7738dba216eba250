import type { Reply } from "../core/model/http-post.ts";
import type { Failure, FailureReason } from "../core/model/observation.ts";
import { parseJson, shorten } from "../core/model/text.ts";
import { NOT_STARTED, type Question, type Row, type RowsOrReason } from "./dialect.ts";
import { findKnownError, firewallOf, isRateLimitText, readWaitMs, titleOf } from "./error-patterns.ts";
import { FAMILIES } from "./families.ts";
import { type ReplyValue, readForm } from "./form.ts";
import { quote } from "./values.ts";

/** The meaning of a reply to a question. */
export type Interpretation =
  | { readonly kind: "rows"; readonly rows: readonly Row[] }
  /** The server does not know the question. That is not a failure, because the next question may fit. */
  | { readonly kind: "refused"; readonly detail: string }
  /** Reason `schema`: the data have another shape than the question expects. The detail quotes up to 200 characters. */
  | (Failure & {
      readonly kind: "failed";
      /** How long to wait after the reply before the next request; null if the provider does not say. */
      readonly retryAfterMs: number | null;
    });

/**
 * Interprets an HTTP reply, received at `nowMs`. The body counts before the status, because most providers reply 200 to
 * everything: The Graph's gateway to a wrong key, Hasura to an unknown field. A height beside an error is used: graph-node
 * before 0.44 sends `indexing_error` with a good `_meta`.
 */
export function interpretReply(question: Question, reply: Reply, nowMs: number): Interpretation {
  const body = readBody(reply.body, question.reads);
  const error = findError(reply, body, question.reads, nowMs);
  const { value } = body.found;
  if (value === undefined || (value === null && error !== null)) {
    return error ?? fail("malformed", `Cannot read the reply: ${quote(reply.body)}`, null);
  }
  const reading = readFound(question, body.found);
  const hasHead = typeof reading !== "string" && reading.some(({ content }) => content.kind === "head");
  // A null field means that nothing is indexed yet. With an error, it means that the server could not read the field.
  if (error !== null && !hasHead) {
    return error;
  }
  if (typeof reading === "string") {
    return fail("schema", reading, null);
  }
  const isFlagged = error?.kind === "failed" && error.reason === "indexing_error";
  return { kind: "rows", rows: isFlagged ? reading.map(withIndexingErrors) : reading };
}

/** The rows in a reply. The `_meta` of graph-node is accepted from every dialect that reads data. */
function readFound(question: Question, found: ReplyValue): RowsOrReason {
  const reading = question.read(found);
  const isPlain = typeof reading === "string" && question.reads === "data";
  const plain = isPlain ? readForm(FAMILIES.graph, found) : reading;
  return typeof plain === "string" ? reading : plain;
}

function withIndexingErrors(row: Row): Row {
  const { content } = row;
  return content.kind === "head"
    ? { ...row, content: { ...content, head: { ...content.head, indexingErrors: true } } }
    : row;
}

/** The HTTP statuses that have a reason of their own. */
const STATUS_REASONS: ReadonlyMap<number, FailureReason> = new Map([
  [401, "unauthorized"],
  [402, "payment_required"],
  [403, "unauthorized"],
  [404, "not_found"],
  [429, "rate_limited"],
]);

/** How long to wait after a plan is used up: a person may pay for more at any time. */
const USED_UP_WAIT_MS = 60_000;

/** The meaning of a reply's errors; null without errors. An error of an indexer that has not started becomes a row. */
function findError(
  reply: Reply,
  body: ParsedBody,
  reads: Question["reads"],
  nowMs: number,
): Interpretation | null {
  const { httpStatus, retryAfter } = reply;
  const retryAfterMs = readRetryAfterMs(retryAfter, nowMs);
  const known = findKnownError(body.errors);
  // With a 5xx and without a time to wait, a rate limit concerns an upstream of the server, not our requests.
  if (known !== null && !(known.meaning === "rate_limited" && httpStatus >= 500 && retryAfter === null)) {
    const { meaning, text } = known;
    if (meaning === "not_started") {
      return { kind: "rows", rows: [NOT_STARTED] };
    }
    const detail = quote(text);
    return meaning === "refused"
      ? { kind: "refused", detail }
      : fail(meaning, detail, retryAfterMs ?? usualWaitMs(meaning, text));
  }
  return otherError(reply, body, reads, retryAfterMs);
}

/** The error of a reply without a known message: by its HTTP status, or because the reply lacks the data of the question. */
function otherError(
  reply: Reply,
  { form, errors }: ParsedBody,
  reads: Question["reads"],
  retryAfterMs: number | null,
): Interpretation | null {
  const { body, httpStatus, location, retryAfter } = reply;
  const isApi = form === "api";
  if (isApi && errors.length === 0 && httpStatus < 300) {
    return null;
  }
  const isLimited = retryAfter !== null || isRateLimitText(body);
  const words = quote(errors[0] ?? titleOf(body) ?? body);
  if (httpStatus >= 300) {
    const reason = reasonOfStatus(httpStatus, isLimited, isApi && errors.length > 0);
    const detail = location === undefined ? statusText(httpStatus, body, errors[0]) : redirectText(location);
    return fail(reason, `HTTP ${httpStatus}${detail}`, retryAfterMs ?? usualWaitMs(reason, body));
  }
  if (isLimited) {
    return fail("rate_limited", words, retryAfterMs ?? usualWaitMs("rate_limited", body));
  }
  const found = `Cannot read the reply as ${LANGUAGES[reads]}: ${words || "the body is empty"}`;
  return isApi ? fail("graphql", words, null) : fail("malformed", found, null);
}

function reasonOfStatus(httpStatus: number, isLimited: boolean, hasErrors: boolean): FailureReason {
  return httpStatus === 403 && isLimited
    ? "rate_limited"
    : (STATUS_REASONS.get(httpStatus) ?? (hasErrors ? "graphql" : "http_status"));
}

/** How long to wait if there is no `Retry-After` header. */
function usualWaitMs(reason: FailureReason, body: string): number | null {
  switch (reason) {
    case "rate_limited":
      return readWaitMs(body);
    case "payment_required":
      return USED_UP_WAIT_MS;
    default:
      return null;
  }
}

/** The target of a redirect without its query, which may contain a token. */
function redirectText(location: string): string {
  return ` redirects to ${quote(location.replace(/[?#].*/s, "?…"))}; redirects are not followed`;
}

/** The title of a proxy's page, as in ` (Bad Gateway)`, and the vendor of its firewall; without a title, the text of the body. */
function statusText(status: number, body: string, error: string | undefined): string {
  const title = error === undefined ? titleOf(body) : null;
  const words = quote(error ?? title ?? body).replace(new RegExp(`^(?:HTTP )?${status}[ :|-]*`), "");
  if (words === "" || title === null) {
    return words === "" ? "" : `: ${words}`;
  }
  const firewall = status === 403 || status === 503 ? firewallOf(body) : null;
  return ` (${words})${firewall === null ? "" : ` from a firewall of ${firewall}`}`;
}

const LANGUAGES = { data: "GraphQL", reply: "JSON", metrics: "a metrics page" } as const;

function fail(reason: FailureReason, detail: string, retryAfterMs: number | null): Interpretation {
  return { kind: "failed", reason, detail, retryAfterMs };
}

/**
 * How long a `Retry-After` header asks to wait, from `nowMs`: seconds or an HTTP date (RFC 9110, section 10.2.3). Null if it is
 * absent or cannot be read.
 */
function readRetryAfterMs(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) {
    return Number(text) * 1000;
  }
  // Date.parse accepts much that is not a date, such as "1.5".
  const atMs = /^[A-Z][a-z]+, .*\d\d:\d\d:\d\d GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

/** A parsed body, not yet classified. */
interface ParsedBody {
  /**
   * `api`: GraphQL, JSON-RPC, JSON that is read whole, or a metrics page. `text`: plain text, or JSON with a `message`. `none`:
   * anything else, such as an empty body or truncated JSON.
   */
  readonly form: "api" | "text" | "none";
  /** The value that the question reads; undefined if the body lacks it. */
  readonly found: ReplyValue;
  /** The error messages of the body, each with its code in brackets. */
  readonly errors: readonly string[];
  /** For each error, the field of the data that it names, or null. */
  readonly fields: readonly (string | null)[];
}

/** Every message is searched for several patterns, so both limits bound the cost of a hostile megabyte. */
const MAX_ERRORS = 100;
const MAX_ERROR_CHARACTERS = 2_000;

/** A line of a metrics page: a comment that the format defines, a name with labels, or a number after a name with an underscore. */
const METRICS_PAGE =
  /^(?:# (?:HELP|TYPE|UNIT|EOF)\b|[a-z_:][\w:]*\{[a-z_]\w*="|[a-z:]*_[\w:]*[ \t]+[-+.\dNI])/im;

const NOTHING: ReplyValue = { value: undefined, name: "data" };

/** Parses a body: GraphQL, JSON-RPC, the `{"error": …}` of graph-node's own 400s, the `{"message": …}` of proxies, plain text. */
export function readBody(body: string, reads: Question["reads"]): ParsedBody {
  if (reads === "metrics" && METRICS_PAGE.test(body) && !/^\s*</.test(body)) {
    return { form: "api", found: { value: body, name: "" }, errors: [], fields: [] };
  }
  const json = parseJson(body);
  if (json === undefined) {
    return readText(body);
  }
  const whole: ReplyValue = { value: json, name: "" };
  if (!isObject(json)) {
    return reads === "reply"
      ? { form: "api", found: whole, errors: [], fields: [] }
      : { form: "none", found: NOTHING, errors: [], fields: [] };
  }
  const { data, message } = json;
  if (typeof message === "string" && typeof data === "string") {
    // A cache quotes the server behind it in `data`. In GraphQL, `data` is never a text.
    return { form: "text", found: NOTHING, errors: [cut(`${message}: ${data}`)], fields: [null] };
  }
  const found = { data: dataOf(json), reply: whole, metrics: NOTHING }[reads];
  const all = [json["errors"], json["error"]].flatMap((error: unknown) => error ?? []).slice(0, MAX_ERRORS);
  if (found.value !== undefined || all.length > 0) {
    const errors = all.map((error) => messageOf(error, json));
    return { form: "api", found, errors, fields: all.map(fieldOf) };
  }
  return typeof message === "string"
    ? { form: "text", found, errors: [cut(message)], fields: [null] }
    : { form: "none", found, errors: [], fields: [] };
}

function fieldOf(error: unknown): string | null {
  const path = isObject(error) ? error["path"] : undefined;
  const first: unknown = Array.isArray(path) ? path[0] : undefined;
  return typeof first === "string" ? first : null;
}

/** The `data` of GraphQL, or the `result` of JSON-RPC. */
function dataOf(json: Readonly<Record<string, unknown>>): ReplyValue {
  const name = ["data", "result"].find((key) => json[key] != null) ?? ("data" in json ? "data" : "result");
  return { value: json[name], name };
}

/** The text of a proxy that replies in plain text; an HTML page or broken JSON has no useful text. */
function readText(body: string): ParsedBody {
  const text = body.trim();
  return text === "" || /^[<{["]/.test(text)
    ? { form: "none", found: NOTHING, errors: [], fields: [] }
    : { form: "text", found: NOTHING, errors: [cut(text)], fields: [null] };
}

function messageOf(error: unknown, reply: Readonly<Record<string, unknown>>): string {
  if (typeof error === "string") {
    const details = reply["details"];
    return cut(typeof details === "string" ? `${error}: ${details}` : error);
  }
  if (!isObject(error)) {
    return "an error without a message";
  }
  const message = typeof error["message"] === "string" ? error["message"] : "an error without a message";
  const extensions = error["extensions"];
  const code = error["code"] ?? (isObject(extensions) ? extensions["code"] : undefined);
  return typeof code === "string" || typeof code === "number"
    ? `${cut(message)} (${cut(String(code))})`
    : cut(message);
}

function cut(text: string): string {
  return shorten(text, MAX_ERROR_CHARACTERS);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
