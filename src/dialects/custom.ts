import type { CustomQuery } from "../core/model/fleet.ts";
import { describeValue } from "./answer/quote.ts";
import { readHash, readPositiveInteger, readTimestampSec } from "./answer/read-scalars.ts";
import type { Question, Reading, Row, RowContent } from "./dialect.ts";
import { readHead, unreadable } from "./read-rows.ts";

/** The question of a `custom` block: any GraphQL query, whose answer is read by paths. */
export function customQuestions(custom: CustomQuery): readonly Question[] {
  return [{ body: { query: custom.query }, read: (data) => readCustom(custom, data) }];
}

function readCustom(custom: CustomQuery, data: unknown): Reading {
  if (custom.rows === null) {
    return { kind: "rows", rows: [readRow(custom, { value: data, name: "data" })] };
  }
  const list = follow({ value: data, name: "data" }, custom.rows);
  if (list.kind === "lost") {
    return { kind: "failed", reason: "schema", detail: list.detail };
  }
  if (!Array.isArray(list.value)) {
    const detail = `Cannot read ${list.name} as a list of rows: ${describeValue(list.value)}`;
    return { kind: "failed", reason: "schema", detail };
  }
  const rows = list.value.map((value: unknown, index) =>
    readRow(custom, { value, name: `${list.name}.${index.toString()}` }),
  );
  return { kind: "rows", rows };
}

/** A value of the answer, and where it stands there. */
interface Place {
  readonly value: unknown;
  readonly name: string;
}

function readRow(custom: CustomQuery, row: Place): Row {
  const chainId = followOptional(row, custom.chainId);
  if (chainId?.kind === "lost") {
    return { chainId: null, content: lostContent(chainId.detail) };
  }
  const id = readPositiveInteger(chainId?.value);
  if (chainId !== null && id === null) {
    return { chainId: null, content: unreadable(`${chainId.name} as a chain id`, chainId.value) };
  }
  return { chainId: id, content: readContent(custom, row) };
}

function readContent(custom: CustomQuery, row: Place): RowContent {
  const height = follow(row, custom.height);
  const time = followOptional(row, custom.time);
  const hash = followOptional(row, custom.hash);
  const failed = followOptional(row, custom.failed);
  for (const found of [height, time, hash, failed]) {
    if (found?.kind === "lost") {
      return lostContent(found.detail);
    }
  }
  return height.kind === "lost"
    ? lostContent(height.detail)
    : readHead(height.name, height.value, {
        timestampSec: readTimestampSec(foundValue(time)),
        hash: readHash(foundValue(hash)),
        indexingErrors: failed === null ? null : isBadNews(foundValue(failed)),
      });
}

function lostContent(detail: string): RowContent {
  return { kind: "failed", reason: "schema", detail };
}

function foundValue(found: Found | null): unknown {
  return found?.kind === "found" ? found.value : null;
}

/** `false`, `null`, 0, an empty text and an empty list mean that nothing has failed. */
function isBadNews(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value) && value !== "false";
}

type Found =
  | ({ readonly kind: "found" } & Place)
  /** The path leads nowhere. */
  | { readonly kind: "lost"; readonly detail: string };

function followOptional(from: Place, path: string | null): Found | null {
  return path === null ? null : follow(from, path);
}

/** Follows a path such as `indexer.blocks.0.number`: names of fields, and positions in lists from 0. */
function follow(from: Place, path: string): Found {
  let place = from;
  for (const key of path.split(".")) {
    if (!hasKey(place.value, key)) {
      const found = describePlace(place.value);
      return {
        kind: "lost",
        detail: `Cannot follow path "${path}": no "${key}" in ${place.name}, which is ${found}`,
      };
    }
    place = { value: place.value[key], name: `${place.name}.${key}` };
  }
  return { kind: "found", ...place };
}

function hasKey(value: unknown, key: string): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}

const MAX_NAMED_KEYS = 10;

/** What stands where a path ends too early: an object by its fields, a list by its length. */
function describePlace(value: unknown): string {
  if (Array.isArray(value)) {
    return `a list of ${value.length.toString()}`;
  }
  if (typeof value !== "object" || value === null) {
    return describeValue(value);
  }
  const keys = Object.keys(value);
  const named = keys.slice(0, MAX_NAMED_KEYS).map((key) => describeValue(key));
  const more = keys.length > named.length ? ", …" : "";
  return keys.length === 0 ? "an empty object" : `an object with ${named.join(", ")}${more}`;
}
