import type { Endpoint, Target } from "../core/model/fleet.ts";
import type { PollTimes } from "../core/model/observation.ts";
import type { CarriedSelection, ParityReading, ParityValue } from "../core/model/parity.ts";
import type { Outcome, Question } from "./dialect.ts";
import { questionsFor } from "./families.ts";
import { followKeys, isLost, type Lost } from "./form.ts";
import { readBody } from "./interpret-reply.ts";
import { describeParts, quote } from "./values.ts";

/** A selection under the alias that it has in one request. */
export interface AliasedSelection extends CarriedSelection {
  readonly alias: string;
}

/** The beginning of an operation that takes more selections behind its first brace: one without variables. */
const OPERATION = /^\s*(?:query(?:\s+\w+)?\s*)?\{\s*/;

/** Why requests of a dialect cannot carry selections beside the height; null if they can. */
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
 * Puts selections into the query for the heights, one alias for each; the reply is read like that of the
 * question alone. `_meta` keeps its name: for a failed subgraph graph-node answers under that key only.
 */
export function combineQuestion<Selection extends CarriedSelection>(
  question: Question,
  carried: readonly Selection[],
  targets: readonly Pick<Target, "key" | "chainId">[],
): { readonly question: Question; readonly selections: readonly (Selection & AliasedSelection)[] } {
  const chainIds = new Map(targets.map(({ key, chainId }) => [key, chainId]));
  const probes = [...new Set(carried.map(({ probe }) => probe))];
  const selections = carried.map((selection) => {
    const { probe, target } = selection;
    return { ...selection, alias: `p${probes.indexOf(probe)}_${chainIds.get(target) ?? 0}` };
  });
  const aliased = selections.map(({ alias, select }) => `${alias}: ${select}`).join(" ");
  const query = queryIn(question.body).replace(OPERATION, (opening) => `${opening.trimEnd()} ${aliased} `);
  return { question: { ...question, body: { ...question.body, query } }, selections };
}

/**
 * What a reply to a combined question says of each selection. `outcomes`: what it said of each target; a selection whose
 * target has no height among them is left out.
 */
export function readParity(
  selections: readonly AliasedSelection[],
  body: string,
  outcomes: readonly Outcome[],
  { sentAtMs, receivedAtMs }: PollTimes,
): readonly ParityReading[] {
  const { found, errors } = readBody(withExactNumbers(body), "data");
  const blocks = new Map(
    outcomes.flatMap((outcome) =>
      outcome.kind === "head" ? [[outcome.source, outcome.head.block] as const] : [],
    ),
  );
  return selections.flatMap((selection): readonly ParityReading[] => {
    const { probe, target } = selection;
    const block = blocks.get(target);
    if (block === undefined) {
      return [];
    }
    const value = readValue(selection, found.value, errors[0]);
    const common = { probe, target, sentAtMs, receivedAtMs };
    return typeof value === "string"
      ? [{ ...common, kind: "failed", detail: quote(value) }]
      : [{ ...common, kind: "value", block, value }];
  });
}

/** The value of a selection, or why it cannot be compared: the server's words where there are some. */
function readValue(
  { alias, value: path }: AliasedSelection,
  data: unknown,
  error: string | undefined,
): ParityValue | string {
  const [field = "", ...rest] = path;
  const root = followKeys({ value: data, name: "data" }, [alias]);
  const found = isLost(root) ? root : followKeys({ value: root.value, name: `data.${field}` }, rest);
  if (isLost(found)) {
    return error ?? (!isLost(root) && isAbsentRow(found) ? NULL : found.why);
  }
  if (error !== undefined && found.value === null) {
    // GraphQL answers null where a resolver has failed.
    return error;
  }
  const { value, name } = found;
  return (
    parityValueOf(value) ??
    (typeof value === "object"
      ? `Cannot compare ${name}: expected one value, found ${describeParts(value)}`
      : `Cannot compare ${name}: it has more than ${MAX_VALUE_CHARACTERS} characters`)
  );
}

/** A list that is too short, or null on the way: there is no such row, and its value is null. */
function isAbsentRow({ value, key }: Lost): boolean {
  return value === null || (Array.isArray(value) && /^\d+$/.test(key) && Number(key) >= value.length);
}

/** The longest value that is kept; the largest number of a contract has 78 digits. */
const MAX_VALUE_CHARACTERS = 256;

const NULL: ParityValue = { text: "null", isNumber: false };

/** As JSON writes it, without an exponent. `007` and `1e5` are texts: they may be names. */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** Each row of zeros is looked at once: `/0+$/` takes quadratic time. */
const LAST_ZEROS = /(?<!0)0+$/;

/** Strings, which are skipped, and numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The text of a JSON value for the comparison; null for an object, a list and a value that is too long. */
export function parityValueOf(value: unknown): ParityValue | null {
  if (typeof value === "object" && value !== null) {
    return null;
  }
  const isNumber = DECIMAL.test(String(value));
  const text = isNumber ? canonicalNumber(String(value)) : JSON.stringify(value);
  return text.length > MAX_VALUE_CHARACTERS ? null : { text, isNumber };
}

/** The same JSON with every number as a string of its digits, because `JSON.parse` rounds what a double cannot hold. */
export function withExactNumbers(json: string): string {
  return json.replace(TOKENS, (token) => (token.startsWith('"') ? token : `"${canonicalNumber(token)}"`));
}

/** `12.50` as `12.5`, `1.5e3` as `1500`, `-0.0` as `0`. Only doubles have exponents: 20 places are enough for small ones. */
function canonicalNumber(token: string): string {
  const number = Number(token);
  if (/e/i.test(token) && Number.isFinite(number)) {
    const text = Number.isInteger(number) ? BigInt(number).toString() : String(number);
    return canonicalNumber(text.includes("e") ? number.toFixed(20) : text);
  }
  const short = token.includes(".") ? token.replace(LAST_ZEROS, "").replace(/\.$/, "") : token;
  return short === "-0" ? "0" : short;
}
