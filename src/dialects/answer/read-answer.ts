import { shorten } from "../../core/model/text.ts";

/** A parsed body, not yet classified. */
export interface Answer {
  /** `answer`: GraphQL or JSON-RPC; `text`: plain text or a JSON `message`; `none`: empty, truncated or other JSON. */
  readonly form: "answer" | "text" | "none";
  /** The `data` of GraphQL or the `result` of JSON-RPC; undefined where the answer has none. */
  readonly data: unknown;
  /** Its error messages, each with its error code in brackets. */
  readonly errors: readonly string[];
}

/** Both bound what a hostile megabyte can cost: every message is searched for several patterns. */
const MAX_ERRORS = 100;
const MAX_ERROR_CHARACTERS = 2_000;

/** Parses a body: GraphQL, JSON-RPC, the `{"error": …}` of graph-node's own 400s, the `{"message": …}` of proxies, plain text. */
export function readAnswer(body: string): Answer {
  const json = parseJson(body);
  if (json === undefined) {
    return readText(body);
  }
  if (!isObject(json)) {
    return { form: "none", data: undefined, errors: [] };
  }
  const data = json["data"] ?? json["result"] ?? ("data" in json || "result" in json ? null : undefined);
  const errors = [...asList(json["errors"]), ...asList(json["error"])]
    .slice(0, MAX_ERRORS)
    .map((error) => messageOf(error, json));
  if (data !== undefined || errors.length > 0) {
    return { form: "answer", data, errors };
  }
  const message = json["message"];
  return typeof message === "string"
    ? { form: "text", data, errors: [cut(message)] }
    : { form: "none", data, errors: [] };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Some engines overflow their stack on deeply nested lists.
    if (error instanceof SyntaxError || error instanceof RangeError) {
      return undefined;
    }
    throw error;
  }
}

/** The words of a proxy that answers in plain text; a page or broken JSON has none of use. */
function readText(body: string): Answer {
  const text = body.trim();
  return text === "" || /^[<{["]/.test(text)
    ? { form: "none", data: undefined, errors: [] }
    : { form: "text", data: undefined, errors: [cut(text)] };
}

function messageOf(error: unknown, answer: Readonly<Record<string, unknown>>): string {
  if (typeof error === "string") {
    const details = answer["details"];
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

function asList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) {
    return [];
  }
  return Array.isArray(value) ? value : [value];
}

function cut(text: string): string {
  return shorten(text, MAX_ERROR_CHARACTERS);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
