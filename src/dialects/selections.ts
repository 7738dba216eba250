import type { Endpoint, Target } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import type { Observation, PollTimes } from "../core/model/observation.ts";
import type { ParityReading, ParityValue } from "../core/model/parity.ts";
import { type QueryResult, queryKeyOf, type Selection } from "../core/model/selection.ts";
import { formatDuration } from "../core/model/text.ts";
import type { Question } from "./dialect.ts";
import { questionsFor } from "./families.ts";
import { followKeys, isLost, type Lost, type ReplyValue } from "./form.ts";
import { readBody } from "./interpret-reply.ts";
import { describeParts, quote } from "./values.ts";

/** A selection with its alias in one request. */
export interface AliasedSelection extends Selection {
  readonly alias: string;
}

/** The beginning of an operation without variables. More selections can be inserted after its first brace. */
const OPERATION = /^\s*(?:query(?:\s+\w+)?\s*)?\{\s*/;

/** Why the query for the height cannot carry selections; null if it can. */
export function whyNotCarried(asked: Pick<Endpoint, "dialect" | "custom">): string | null {
  if (asked.dialect === "graph-status") {
    return "dialect graph-status asks the index-node API, which has no data";
  }
  const questions = questionsFor({ ...asked, targets: [] });
  return questions.every(({ body }) => OPERATION.test(queryIn(body)))
    ? null
    : `dialect ${asked.dialect} sends no query that begins with { or with query NAME {`;
}

function queryIn(body: Question["body"]): string {
  return String(body?.["query"] ?? "");
}

/**
 * Adds selections to the query for the heights, each with an alias. The fields of the heights keep their names, so the heights
 * are read as before.
 */
export function combineQuestion<Carried extends Selection>(
  question: Question,
  carried: readonly Carried[],
  targets: readonly Pick<Target, "key" | "chainId">[],
): { readonly question: Question; readonly selections: readonly (Carried & AliasedSelection)[] } {
  const { selections, text } = aliased(carried, targets);
  const query = queryIn(question.body).replace(OPERATION, (opening) => `${opening.trimEnd()} ${text} `);
  return { question: { ...question, body: { ...question.body, query } }, selections };
}

/** A question that has only selections. Its reply has no heights. */
export function separateQuestion(
  asked: readonly Selection[],
  targets: readonly Pick<Target, "key" | "chainId">[],
): { readonly question: Question; readonly selections: readonly AliasedSelection[] } {
  const { selections, text } = aliased(asked, targets);
  return { question: { body: { query: `{ ${text} }` }, reads: "data", read: () => [] }, selections };
}

function aliased<Asked extends Selection>(
  asked: readonly Asked[],
  targets: readonly Pick<Target, "key" | "chainId">[],
): { readonly selections: readonly (Asked & AliasedSelection)[]; readonly text: string } {
  const chainIds = new Map(targets.map(({ key, chainId }) => [key, chainId]));
  const probes = [...new Set(asked.map(({ probe }) => probe))];
  const selections = asked.map((selection) => {
    const { probe, target } = selection;
    return { ...selection, alias: `p${probes.indexOf(probe)}_${chainIds.get(target) ?? 0}` };
  });
  return { selections, text: selections.map(({ alias, select }) => `${alias}: ${select}`).join(" ") };
}

/** The results of the selections in a reply. */
export interface SelectionReplies {
  /** The results by the key of the target. */
  readonly queries: ReadonlyMap<string, readonly QueryResult[]>;
  /** The values of selections of parity. */
  readonly readings: readonly ParityReading[];
}

/**
 * Reads a reply to a combined question. `heights`: the observations of the same reply. A selection whose target has no height
 * among them is left out, because its value may belong to another chain or time.
 */
export function readSelections(
  selections: readonly AliasedSelection[],
  body: string,
  heights: readonly Observation[],
  { sentAtMs, receivedAtMs }: PollTimes,
): SelectionReplies {
  const read = readBody(withExactNumbers(body), "data");
  const blocks = new Map(
    heights.flatMap((one) => (one.kind === "head" ? [[one.source, one.head.block] as const] : [])),
  );
  const tookMs = receivedAtMs - sentAtMs;
  const queries = new Map<string, QueryResult[]>();
  const readings: ParityReading[] = [];
  for (const selection of selections) {
    const { expect, probe, target } = selection;
    const block = blocks.get(target);
    if (block !== undefined) {
      const reply = replyTo(selection, read);
      const failure = typeof reply === "string" ? reply : whyUnexpected(selection, reply.value, tookMs);
      const result = { probe, queryKey: queryKeyOf(selection), tookMs, failure };
      queries.set(target, [...(queries.get(target) ?? []), result]);
      if (expect.kind === "compared" && typeof reply !== "string") {
        const value = readValue(reply, expect.path);
        const common = { probe, target, sentAtMs, receivedAtMs };
        readings.push(
          typeof value === "string"
            ? { ...common, kind: "unreadable", detail: quote(value) }
            : { ...common, kind: "value", block, value },
        );
      }
    }
  }
  return { queries, readings };
}

/** The results of selections that a server refused, although it returned the heights. `words`: the error of the server. */
export function refusedSelections(
  selections: readonly Selection[],
  words: string,
  { sentAtMs, receivedAtMs }: PollTimes,
): SelectionReplies {
  const tookMs = receivedAtMs - sentAtMs;
  const byTarget = groupBy(selections, ({ target }) => target);
  const queries = Array.from(byTarget, ([target, own]) => {
    const results = own.map((one) => ({
      probe: one.probe,
      queryKey: queryKeyOf(one),
      tookMs,
      failure: words,
    }));
    return [target, results] as const;
  });
  return { queries: new Map(queries), readings: [] };
}

/** The reply to a selection, or why there is none: the server's error if there is one. */
function replyTo(
  { alias, expect }: AliasedSelection,
  { errors, fields, found: { value: data } }: ReturnType<typeof readBody>,
): ReplyValue | string {
  // An error that names the field of another selection is not about this one.
  const error = errors[fields.indexOf(alias)] ?? errors[fields.indexOf(null)];
  const root = followKeys({ value: data, name: "data" }, [alias]);
  if (isLost(root)) {
    const words = error ?? errors[0];
    return words === undefined ? `data is ${describeParts(data)}, without a reply to the query` : said(words);
  }
  // GraphQL returns null if a resolver has failed.
  const [, ...rest] = expect.kind === "compared" ? expect.path : [];
  const found = followKeys(root, rest);
  const isVoid = isLost(found) || found.value === null || isListOfNull(found.value);
  return error !== undefined && isVoid ? said(error) : root;
}

function isListOfNull(value: unknown): boolean {
  return Array.isArray(value) && value[0] === null;
}

function said(words: string): string {
  return `"${quote(words)}"`;
}

/** Why a reply is not what the probe expects, or null. */
function whyUnexpected({ expect, maxLatencyMs }: Selection, reply: unknown, tookMs: number): string | null {
  if (maxLatencyMs !== null && tookMs > maxLatencyMs) {
    return `took ${formatDuration(tookMs)}, more than the max_latency of ${formatDuration(maxLatencyMs)}`;
  }
  if (expect.kind === "rows") {
    return hasRows(reply) ? null : "found no rows, expected at least one";
  }
  if (expect.kind !== "equal") {
    return null;
  }
  const found = parityValueOf(firstValue(reply));
  return found?.text === expect.value.text
    ? null
    : `found ${found?.text ?? "a long text"}, expected ${expect.value.text}`;
}

/** Whether the first list in a reply has an item: `{ items: [] }` has no rows. A reply without a list has rows unless it is null. */
function hasRows(reply: unknown): boolean {
  let at = reply;
  while (typeof at === "object" && at !== null && !Array.isArray(at)) {
    at = firstOf(at);
  }
  return Array.isArray(at) ? at.length > 0 : reply !== null;
}

/** The first value of a reply, in its first row if there are several; null without any. */
function firstValue(reply: unknown): unknown {
  let at = reply;
  while (typeof at === "object" && at !== null) {
    at = firstOf(at);
  }
  return at;
}

function firstOf(parts: object): unknown {
  const values: readonly unknown[] = Object.values(parts);
  return values[0] ?? null;
}

/** The value at a path of a reply, or why it cannot be compared. */
function readValue(reply: ReplyValue, [field = "", ...rest]: readonly string[]): ParityValue | string {
  const found = followKeys({ value: reply.value, name: `data.${field}` }, rest);
  if (isLost(found)) {
    return isAbsentRow(found) ? NULL : found.why;
  }
  const { value, name } = found;
  return (
    parityValueOf(value) ??
    (typeof value === "object"
      ? `Cannot compare ${name}: expected one value, found ${describeParts(value)}`
      : `Cannot compare ${name}: it has more than ${MAX_VALUE_CHARACTERS} characters`)
  );
}

/** Whether a path ends at null, or at a list that is too short: then the row does not exist, and its value counts as null. */
function isAbsentRow({ value, key }: Lost): boolean {
  return value === null || (Array.isArray(value) && /^\d+$/.test(key) && Number(key) >= value.length);
}

/** The longest value that is compared. The largest number of a contract has 78 digits. */
const MAX_VALUE_CHARACTERS = 256;

const NULL: ParityValue = { text: "null", isNumber: false };

/** A number as JSON writes it, without an exponent. `007` and `1e5` are texts, because they may be names. */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** The zeros at the end of a text. The lookbehind makes the search linear: `/0+$/` takes quadratic time. */
const LAST_ZEROS = /(?<!0)0+$/;

/** Each string and each number in a text of JSON. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The text of a JSON value for the comparison; null for an object, a list or a value that is too long. */
export function parityValueOf(value: unknown): ParityValue | null {
  if (typeof value === "object" && value !== null) {
    return null;
  }
  const isNumber = DECIMAL.test(String(value));
  const text = isNumber ? canonicalNumber(String(value)) : JSON.stringify(value);
  return text.length > MAX_VALUE_CHARACTERS ? null : { text, isNumber };
}

/** Turns every number of JSON into a string of its digits, because `JSON.parse` rounds numbers that a double cannot hold. */
export function withExactNumbers(json: string): string {
  return json.replace(TOKENS, (token) => (token.startsWith('"') ? token : `"${canonicalNumber(token)}"`));
}

/** `12.50` as `12.5`, `1.5e3` as `1500`, `-0.0` as `0`. Small numbers with an exponent are rounded to 20 decimal places. */
function canonicalNumber(token: string): string {
  const number = Number(token);
  if (/e/i.test(token) && Number.isFinite(number)) {
    const text = Number.isInteger(number) ? BigInt(number).toString() : String(number);
    return canonicalNumber(text.includes("e") ? number.toFixed(20) : text);
  }
  const short = token.includes(".") ? token.replace(LAST_ZEROS, "").replace(/\.$/, "") : token;
  return short === "-0" ? "0" : short;
}
