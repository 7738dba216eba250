/** One field that a query asks for. */
export interface Field {
  /** The key of the answer: the alias, or the name. */
  readonly key: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Null: the query asks for nothing below it. */
  readonly fields: readonly Field[] | null;
}

/** A text that is not GraphQL, or uses what no poll uses: fragments, variables, mutations. */
export class QuerySyntaxError extends Error {
  override readonly name = "QuerySyntaxError";
}

/**
 * Reads a GraphQL query as far as a simulated indexer has to: nested fields, aliases, literal arguments.
 * @throws {QuerySyntaxError}
 */
export function parseQuery(text: string): readonly Field[] {
  const cursor = new Cursor(text);
  if (cursor.peek() === "query") {
    cursor.next();
    if (cursor.peek() !== "{") {
      cursor.name();
    }
  }
  const fields = parseFields(cursor);
  if (cursor.peek() !== null) {
    throw new QuerySyntaxError(`Unexpected "${cursor.peek()}"`);
  }
  return fields;
}

const TOKEN = /[A-Za-z_]\w*|-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|\.\.\.|[{}()[\]:$!=@|&]/y;
const IGNORED = /(?:[\s,\uFEFF]|#[^\n]*)*/y;
const NAME = /^[A-Za-z_]/;

/** The place in a text that has been read so far. */
class Cursor {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  peek(): string | null {
    return this.#tokens[this.#at] ?? null;
  }

  next(): string {
    const token = this.peek();
    if (token === null) {
      throw new QuerySyntaxError("Unexpected end of the query");
    }
    this.#at += 1;
    return token;
  }

  name(): string {
    const token = this.next();
    if (!NAME.test(token)) {
      throw new QuerySyntaxError(`Expected a name, found "${token}"`);
    }
    return token;
  }

  expect(wanted: string): void {
    const token = this.next();
    if (token !== wanted) {
      throw new QuerySyntaxError(`Expected "${wanted}", found "${token}"`);
    }
  }

  /** Reads items until the closing token, which is read too. */
  until<Item>(closing: string, readItem: () => Item): readonly Item[] {
    const items: Item[] = [];
    while (this.peek() !== closing) {
      items.push(readItem());
    }
    this.next();
    return items;
  }
}

function parseFields(cursor: Cursor): readonly Field[] {
  cursor.expect("{");
  const fields = cursor.until("}", () => parseField(cursor));
  if (fields.length === 0) {
    throw new QuerySyntaxError("Expected a field, found none");
  }
  return fields;
}

function parseField(cursor: Cursor): Field {
  const key = cursor.name();
  const name = cursor.peek() === ":" ? parseAliased(cursor) : key;
  const args = cursor.peek() === "(" ? parseArguments(cursor, ")") : {};
  return { key, name, args, fields: cursor.peek() === "{" ? parseFields(cursor) : null };
}

function parseAliased(cursor: Cursor): string {
  cursor.next();
  return cursor.name();
}

function parseArguments(cursor: Cursor, closing: string): Readonly<Record<string, unknown>> {
  cursor.next();
  return Object.fromEntries(
    cursor.until(closing, () => {
      const name = cursor.name();
      cursor.expect(":");
      return [name, parseValue(cursor)];
    }),
  );
}

function parseValue(cursor: Cursor): unknown {
  if (cursor.peek() === "{") {
    return parseArguments(cursor, "}");
  }
  const token = cursor.next();
  if (token === "[") {
    return cursor.until("]", () => parseValue(cursor));
  }
  if (token === "true" || token === "false" || token === "null" || /^["\d-]/.test(token)) {
    return JSON.parse(token);
  }
  if (NAME.test(token)) {
    return token;
  }
  throw new QuerySyntaxError(`Expected a value, found "${token}"`);
}

function tokenize(text: string): readonly string[] {
  const tokens: string[] = [];
  let at = skipIgnored(text, 0);
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) {
      throw new QuerySyntaxError(`Unexpected "${text.charAt(at)}"`);
    }
    tokens.push(token);
    at = skipIgnored(text, at + token.length);
  }
  return tokens;
}

function skipIgnored(text: string, from: number): number {
  IGNORED.lastIndex = from;
  return from + (IGNORED.exec(text)?.[0].length ?? 0);
}
