import type { Form } from "../core/model/fleet.ts";
import type { Head } from "../core/model/observation.ts";
import { NOT_STARTED, type Question, type Row, type RowContent, type RowsOrReason } from "./dialect.ts";
import {
  describeParts,
  describeValue,
  isUnknownTime,
  quote,
  readDeployment,
  readHash,
  readPositiveInteger,
  readTimestampSec,
} from "./values.ts";

export interface ReplyValue {
  readonly value: unknown;
  /** Its path, such as `data._meta.0`; empty for the whole reply. */
  readonly name: string;
}

/** The end of a path that cannot be followed: the last value that was found, the key that it lacks, and a sentence about both. */
export interface Lost extends ReplyValue {
  readonly key: string;
  readonly why: string;
}

/** Follows names of fields, and positions in lists from 0. */
export function followKeys(from: ReplyValue, keys: readonly string[]): ReplyValue | Lost {
  let at = from;
  for (const key of keys) {
    if (!hasKey(at.value, key)) {
      return lost(at, key, keys);
    }
    at = inside(at, key, at.value[key]);
  }
  return at;
}

function lost({ value, name }: ReplyValue, key: string, keys: readonly string[]): Lost {
  return {
    value,
    name,
    key,
    // The sentence is made only when it is read, because an optional path is often absent.
    get why() {
      const where = `no "${key}" in ${nameOf({ value, name })}, which is ${describeParts(value)}`;
      return `Cannot follow path "${keys.join(".")}": ${where}`;
    },
  };
}

function hasKey(value: unknown, key: string): value is Readonly<Record<string, unknown>> {
  // `length` is an own property of a list, but not a value of the reply.
  const isPosition = !Array.isArray(value) || /^\d+$/.test(key);
  return typeof value === "object" && value !== null && isPosition && Object.hasOwn(value, key);
}

function nameOf({ name }: ReplyValue): string {
  return name === "" ? "the reply" : name;
}

function inside({ name }: ReplyValue, key: string, value: unknown): ReplyValue {
  return { value, name: name === "" ? key : `${name}.${key}` };
}

export function isLost(found: ReplyValue | Lost): found is Lost {
  return "why" in found;
}

interface RowValue extends ReplyValue {
  /** The key of a row that is a value of an object. */
  readonly key?: string;
}

/** The result if there is no path, or if an optional path cannot be followed. */
const NOTHING: ReplyValue = { value: undefined, name: "nothing" };

/** Follows a path of a form. `$` is the value itself, `$key` the key of the row, and `a|b` is b if a is absent or null. */
function follow(from: RowValue, path: string | undefined): ReplyValue | Lost {
  if (path === undefined) {
    return NOTHING;
  }
  const { isOptional, alternatives } = parsePath(path);
  let found: ReplyValue | Lost = NOTHING;
  for (const keys of alternatives) {
    found = keys[0] === "$key" ? { value: from.key, name: "the key" } : followKeys(from, keys);
    if (!isLost(found) && found.value !== null) {
      return found;
    }
  }
  return isOptional ? NOTHING : found;
}

interface Path {
  readonly isOptional: boolean;
  /** The keys of each alternative; an empty list for `$`. */
  readonly alternatives: readonly (readonly string[])[];
}

/** The parsed paths. There are only a few, and every reply is read by them. */
const paths = new Map<string, Path>();

function parsePath(path: string): Path {
  const known = paths.get(path);
  if (known !== undefined) {
    return known;
  }
  const alternatives = path.replace(/\?$/, "").split("|");
  const parsed = {
    isOptional: path.endsWith("?"),
    alternatives: alternatives.map((one) => (one === "$" ? [] : one.split("."))),
  };
  paths.set(path, parsed);
  return parsed;
}

/** The questions of a form: one for each of its queries, in their order. */
export function questionsOf(form: Form): readonly Question[] {
  const { query, body, root } = form;
  const bodies = query === undefined ? [body ?? null] : [query].flat().map((text) => ({ query: text }));
  return bodies.map((sent) => ({
    body: sent,
    reads: sent === null || root !== undefined ? "reply" : "data",
    read: (found) => readForm(form, found),
  }));
}

export function readForm(form: Form, found: ReplyValue): RowsOrReason {
  const root = follow(found, form.root ?? "$");
  if (isLost(root)) {
    return root.why;
  }
  if (form.rows !== undefined) {
    return readRows(form, root, form.rows);
  }
  const height = follow(root, form.height);
  return isLost(height) && !isNotStarted(form, height, root) ? height.why : [readRow(form, root)];
}

function readRows(form: Form, root: ReplyValue, path: string): RowsOrReason {
  const ofObject = /^(.*?)\.?\*$/.exec(path)?.[1];
  const found = follow(root, (ofObject ?? path) || "$");
  if (isLost(found)) {
    return found.why;
  }
  const { value } = found;
  if (typeof value !== "object" || value === null || Array.isArray(value) !== (ofObject === undefined)) {
    const expected = ofObject === undefined ? "a list" : "an object";
    return `Cannot read ${nameOf(found)} as ${expected} of rows: ${describeValue(value)}`;
  }
  const values = Object.entries(value).map(([key, row]) => ({ ...inside(found, key, row), key }));
  if (values.length === 0) {
    // An indexer with an object of rows writes all rows when it starts, so this one has not started.
    return ofObject === undefined ? [] : [NOT_STARTED];
  }
  const rows = values.filter((row) => !hasUnlistedWord(form, row)).map((row) => readRow(form, row));
  const words = values.map((row) => describeValue(wordOf(form, row))).join(", ");
  return rows.length > 0
    ? rows
    : `Cannot tell which chain a row belongs to: found ${quote(words)}; ${MAP_WORDS}`;
}

const MAP_WORDS = "map each word to a chain with custom.chains in chains.yaml";

/** Whether a row has a word for its chain that `chains` does not list: then the chain is not wanted. */
function hasUnlistedWord(form: Form, row: RowValue): boolean {
  const word = wordOf(form, row);
  return form.chains !== undefined && typeof word === "string" && chainIdOf(form, word) === null;
}

function wordOf(form: Form, row: RowValue): unknown {
  const found = follow(row, form.chainId);
  return isLost(found) ? undefined : found.value;
}

function chainIdOf({ chainIds }: Form, value: unknown): number | null {
  const named =
    typeof value === "string" || typeof value === "number" ? chainIds?.get(String(value)) : undefined;
  return named ?? readPositiveInteger(value);
}

function readRow(form: Form, row: RowValue): Row {
  const found = follow(row, form.chainId);
  const chainId = isLost(found) ? null : chainIdOf(form, found.value);
  if (chainId !== null || form.chainId === undefined || form.chainId.endsWith("?")) {
    return { chainId, content: readContent(form, row) };
  }
  if (isLost(found)) {
    return { chainId, content: unreadable(found.why) };
  }
  const isWord = form.chainIds !== undefined && typeof found.value === "string";
  const why = `Cannot read ${nameOf(found)} as a chain id: ${describeValue(found.value)}${isWord ? `; ${MAP_WORDS}` : ""}`;
  return { chainId, content: unreadable(why) };
}

function readContent(form: Form, row: RowValue): RowContent {
  const height = follow(row, form.height);
  if (isNotStarted(form, height, row)) {
    return NOT_STARTED.content;
  }
  const paths = [form.time, form.hash, form.deployment, form.failed, form.completed];
  const found = paths.map((path) => follow(row, path));
  const lost = [height, ...found].find(isLost);
  if (lost !== undefined) {
    return unreadable(lost.why);
  }
  const [time, hash, deployment, failed, phase] = found.map(({ value }) => value);
  const timestampSec = readTimestampSec(time);
  if (timestampSec === null && form.time?.endsWith("?") === false && !isUnknownTime(time)) {
    return unreadable(
      `Cannot read ${form.time} as a time: ${describeValue(time)}; remove time from chains.yaml to read only the height`,
    );
  }
  return readHead(height, {
    timestampSec,
    hash: readHash(hash),
    deployment: readDeployment(deployment),
    indexingErrors: failed === undefined ? null : meansFailure(failed),
    ...(/completed$/.test(String(phase)) && { completed: true }),
  });
}

/**
 * Whether a height means "not started". A path that stops at a null inside the row counts as null, and so does an absent
 * optional path. A row or a reply that is itself null cannot be read.
 */
function isNotStarted({ notStarted = [] }: Form, height: ReplyValue | Lost, row: ReplyValue): boolean {
  if (isLost(height)) {
    return height.name !== row.name && height.value === null && notStarted.includes(null);
  }
  const { value = null } = height;
  return notStarted.some((known) => known === value || (known !== null && String(known) === value));
}

/** Whether a value means a failure: anything but `false`, `null`, 0, or an empty text, list or object. */
function meansFailure(value: unknown): boolean {
  return typeof value === "object" && value !== null
    ? Object.keys(value).length > 0
    : Boolean(value) && value !== "false";
}

/**
 * The head at a height. Zero means that nothing is indexed yet: graph-node reports 0 for a deployment that starts at block 1,
 * and Ponder for an app that starts at genesis.
 */
export function readHead(height: ReplyValue, details: Omit<Head, "block">): RowContent {
  const { value } = height;
  if (value === 0 || (typeof value === "string" && /^(?:0|0x0+)$/.test(value))) {
    return NOT_STARTED.content;
  }
  const block = readPositiveInteger(value);
  return block === null
    ? unreadable(`Cannot read ${nameOf(height)} as a height: ${describeValue(value)}`)
    : { kind: "head", head: { block, ...details } };
}

/** The content of a row that cannot be read. Other rows may still be good. */
export function unreadable(detail: string): RowContent {
  return { kind: "failed", reason: "schema", detail };
}
