/** A body, taken apart but not yet judged. */
export interface Answer {
  /** `answer`: GraphQL or JSON-RPC; `text`: words, maybe JSON of another kind; `none`: empty, cut short, or no JSON of any use. */
  readonly form: "answer" | "text" | "none";
  /** The `data` of GraphQL or the `result` of JSON-RPC; undefined where the answer has none. */
  readonly data: unknown;
  /** What it says went wrong, in its own words, each with its error code in brackets. */
  readonly complaints: readonly string[];
}

/** Beyond these, an answer is not worth reading: both bound what a hostile megabyte can cost. */
const MAX_COMPLAINTS = 100;
const MAX_COMPLAINT_CHARACTERS = 10_000;

const NO_COMPLAINTS: readonly string[] = [];

/** Takes a body apart: GraphQL, JSON-RPC, `{"error": …}` of graph-node's own 400s, `{"message": …}` of proxies, plain text. */
export function readAnswer(body: string): Answer {
  const json = parseJson(body);
  if (json === undefined) {
    return readText(body);
  }
  if (!isObject(json)) {
    return { form: "none", data: undefined, complaints: [] };
  }
  const data = json["data"] ?? json["result"] ?? ("data" in json || "result" in json ? null : undefined);
  const complaints = complaintsIn(json);
  if (data !== undefined || complaints.length > 0) {
    return { form: "answer", data, complaints };
  }
  const message = json["message"];
  return typeof message === "string"
    ? { form: "text", data, complaints: [cut(message)] }
    : { form: "none", data, complaints: [] };
}

function complaintsIn(json: Readonly<Record<string, unknown>>): readonly string[] {
  const { errors, error } = json;
  if (errors === undefined && error === undefined) {
    return NO_COMPLAINTS;
  }
  return [...asList(errors), ...asList(error)].slice(0, MAX_COMPLAINTS).map((one) => complain(one, json));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Some engines overflow their stack on lists nested too deep.
    if (error instanceof SyntaxError || error instanceof RangeError) {
      return undefined;
    }
    throw error;
  }
}

/** A page or a broken JSON text is no statement; the words of a proxy that answers in plain text are. */
function readText(body: string): Answer {
  const text = body.trim();
  return text === "" || /^[<{["]/.test(text)
    ? { form: "none", data: undefined, complaints: [] }
    : { form: "text", data: undefined, complaints: [cut(text)] };
}

function complain(error: unknown, answer: Readonly<Record<string, unknown>>): string {
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
  return text.slice(0, MAX_COMPLAINT_CHARACTERS);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
