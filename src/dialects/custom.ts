import type { CustomQuery } from "../core/model/fleet.ts";
import { type Found, followPath, type Place } from "./answer/follow-path.ts";
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

function followOptional(from: Place, path: string | null): Found | null {
  return path === null ? null : follow(from, path);
}

/** Follows a path such as `indexer.blocks.0.number`. */
function follow(from: Place, path: string): Found {
  return followPath(from, path.split("."));
}
