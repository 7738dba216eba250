import { looksLikeKey, MIN_SECRET_LENGTH } from "../core/model/redact.ts";
import { whyUnreadable } from "../core/model/why-unreadable.ts";
import type { Variable } from "./config.ts";

/** Everything outside of the configuration file. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a text file, or throws. */
  readonly readFile: (path: string) => string;
}

/** A piece of a filled template: literal text, a chain's value, or a value from outside of the file. */
export interface Part {
  readonly text: string;
  readonly source: "text" | "value" | "secret";
}

/** Why a piece of a template has no value. */
export interface TemplateProblem {
  /** `flaw`: what is wrong. `missing`: the name of a placeholder. `unset`: `NAME is not set`, or empty. */
  readonly kind: "flaw" | "missing" | "unset";
  readonly what: string;
}

/** A filled template, which can be used where there is no problem. */
export interface Filled {
  readonly parts: readonly Part[];
  /** All parts, with `unknown` for parts without a value. */
  readonly text: string;
  readonly problems: readonly TemplateProblem[];
}

const BRACES = /(\$?\{[^{}]*\})/;
const VALUE = /^\{([A-Za-z_][\w-]*)\}$/;
const VARIABLE = /^\$\{([A-Za-z_]\w*)\}$/;
const FILE = /^\$\{file:([^{}]+)\}$/;

interface Piece {
  readonly text: string | undefined;
  readonly source: Part["source"];
  readonly problem: TemplateProblem | null;
}

/** The names of the placeholders in a text, `{name}` as in a URL, even if the rest of it is not a valid template. */
export function placeholdersOf(text: string | null | undefined): readonly string[] {
  return (text ?? "").split(BRACES).flatMap((piece) => VALUE.exec(piece)?.[1] ?? []);
}

/** Fills templates and remembers their secrets, so that no secret leaves the process in a log or a message. */
export class Secrets {
  readonly #environment: Environment;
  readonly #secrets = new Set<string>();
  readonly #variables = new Map<string, Variable>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Longest first: a secret may contain another one. */
  get all(): readonly string[] {
    return [...this.#secrets].sort((a, b) => b.length - a.length);
  }

  /** Those that came from variables and files, longest first. */
  get variables(): readonly Variable[] {
    return [...this.#variables.values()].sort((a, b) => b.text.length - a.text.length);
  }

  remember(texts: readonly string[]): void {
    for (const text of texts) {
      if (text.length >= MIN_SECRET_LENGTH) {
        this.#secrets.add(text);
      }
    }
  }

  /**
   * Fills `${VAR}`, `${file:/path}` and, with the values, `{name}`. Without values, as in a header, other braces than
   * those of `${` are literal.
   */
  fill(template: string, values: ReadonlyMap<string, string> | null): Filled {
    const pieces = template.split(BRACES).map((piece) => this.#fillPiece(piece, values));
    const parts = pieces.map(({ text, source }) => ({ text: text ?? "unknown", source }));
    return {
      parts,
      text: parts.map(({ text }) => text).join(""),
      problems: pieces.flatMap(({ problem }) => problem ?? []),
    };
  }

  #fillPiece(piece: string, values: ReadonlyMap<string, string> | null): Piece {
    const name = VALUE.exec(piece)?.[1];
    if (name !== undefined) {
      const text = values?.get(name);
      return { text, source: "value", problem: text === undefined ? { kind: "missing", what: name } : null };
    }
    const variable = VARIABLE.exec(piece)?.[1];
    if (variable !== undefined) {
      const text = Object.hasOwn(this.#environment.env, variable)
        ? this.#environment.env[variable]
        : undefined;
      this.#rememberAs(text ?? "", `$${variable}`);
      const what = `${variable} is ${text === "" ? "empty" : "not set"}`;
      return { text, source: "secret", problem: text ? null : { kind: "unset", what } };
    }
    const path = FILE.exec(piece)?.[1];
    if (path !== undefined) {
      return { source: "secret", ...this.#readFile(path) };
    }
    const isWrong = values === null ? piece.includes("${") : /[{}]/.test(piece);
    const expected = `${values === null ? "" : "{name}, "}\${VARIABLE} or \${file:/path}`;
    const what = `unclosed or invalid braces, expected ${expected}`;
    return { text: piece, source: "text", problem: isWrong ? { kind: "flaw", what } : null };
  }

  #readFile(path: string): Pick<Piece, "text" | "problem"> {
    try {
      const text = this.#environment.readFile(path).replace(/[\r\n]+$/, "");
      this.#rememberAs(text, `$(cat '${path.replaceAll("'", "'\\''")}')`);
      return { text, problem: text === "" ? { kind: "flaw", what: `empty file ${path}` } : null };
    } catch (error) {
      const what = `cannot read ${path}: ${whyUnreadable(error)}`;
      return { text: undefined, problem: { kind: "flaw", what } };
    }
  }

  #rememberAs(text: string, shown: string): void {
    this.remember([text]);
    if (this.#secrets.has(text)) {
      this.#variables.set(text, { text, shown });
    }
  }
}

/** Replaces a part of a URL that is not examined. */
const GAP = "\u0000";
/** Public identifiers of subgraphs and projects, however much they look like keys. */
const PUBLIC_ID = /\/(?:public|(?:subgraphs|deployments)\/id)\/[^/]+|\/Qm[1-9A-HJ-NP-Za-km-z]{44}(?![^/])/g;
/** `max-age=3600`, `?v=2`: redacting such numbers would garble block numbers. */
const SHORT_NUMBER = /^\d{1,7}$/;
const MIN_PAIR_VALUE_LENGTH = 6;
const NAME_OF_KEY = /key|token|secret|auth|pass/i;

/** What may be a key in a URL: user, password, values of the query, and what looks like one in a path from outside of the file. */
export function secretsInUrl(parts: readonly Part[]): readonly string[] {
  const { username, password } = new URL(parts.map(({ text }) => text).join(""));
  const [path = "", query = ""] = pathAndQuery(parts, "value");
  const values = query.split("&").flatMap((pair) => pair.slice(pair.indexOf("=") + 1).split(GAP));
  const found = [username, password, ...values.filter((value) => !SHORT_NUMBER.test(value)), ...keysIn(path)];
  return [...new Set(found.flatMap((text) => [text, decodePercent(text)]))].filter((text) => text !== "");
}

/** Whether the file has a URL with a path segment that looks like a key. */
export function hasKeyInPath(parts: readonly Part[]): boolean {
  const [path = ""] = pathAndQuery(parts, "value", "secret");
  return keysIn(path).length > 0;
}

/** What is written in front of a key in a URL, and the key. */
export interface WrittenKey {
  readonly before: string;
  readonly key: string;
  readonly kind: "KEY" | "PASSWORD";
}

/** What looks like a key in a URL as it was typed: a password, a lone user, values of the query, parts of the path. */
export function writtenKeys(parts: readonly Part[]): readonly WrittenKey[] {
  const text = parts.map((part) => (part.source === "text" ? part.text : GAP)).join("");
  const [, user = "", password] = /^https?:\/\/([^/?#:@]*)(?::([^/?#@]*))?@/i.exec(text) ?? [];
  const [path = "", query = ""] = pathAndQuery(parts, "value", "secret");
  const found: readonly WrittenKey[] = [
    password === undefined
      ? { before: "//", key: user, kind: "KEY" }
      : { before: `//${user}:`, key: password, kind: "PASSWORD" },
    ...keysIn(path).map((key) => ({ before: "", key, kind: "KEY" as const })),
    ...query.split("&").flatMap((pair) => {
      const [name = "", key = ""] = pair.split(/=(.*)/s);
      return looksLikeKey(key) || NAME_OF_KEY.test(name)
        ? [{ before: `${name}=`, key, kind: "KEY" as const }]
        : [];
    }),
  ];
  return found.filter(({ key }) => key !== "" && !key.includes(GAP));
}

/** Path and query of a URL, with a gap for the parts from these sources: names and numbers of chains are no keys. */
function pathAndQuery(parts: readonly Part[], ...hidden: readonly Part["source"][]): readonly string[] {
  const written = parts.map(({ text, source }) => (hidden.includes(source) ? GAP : text)).join("");
  return written.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/);
}

function keysIn(path: string): readonly string[] {
  return path
    .replace(PUBLIC_ID, "")
    .split(new RegExp(`[/=:;,@${GAP}]`))
    .filter(looksLikeKey);
}

/** The parts of a header's value that may be keys, and the whole: `Bearer KEY`, `session=KEY; a=b`, `token="KEY"`. */
export function secretsInHeader(value: string): readonly string[] {
  const withoutScheme = value.replace(/^\S+ +(?=\S+$)/, "");
  const words = value.split(/[\s;,]+/).map(unquoted);
  const values = words.map((word) => unquoted(/^[^="]*=(?!=*$)(.+)$/.exec(word)?.[1] ?? ""));
  const longValues = values.filter(
    (text) => text.length >= MIN_PAIR_VALUE_LENGTH && !SHORT_NUMBER.test(text),
  );
  const keys = value.split(/[^A-Za-z0-9_-]+/).filter(looksLikeKey);
  const pair = Buffer.from(/^Basic +(\S+)$/i.exec(value)?.[1] ?? "", "base64").toString();
  const found = [value, withoutScheme, ...longValues, ...keys, pair, pair.slice(pair.indexOf(":") + 1)];
  return [...new Set(found)].filter((text) => text !== "");
}

function unquoted(word: string): string {
  return word.replace(/^["']|["']$/g, "");
}

/** Percent-encoded text as it reads; text that is not encoded correctly stays as it is. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) {
      return text;
    }
    throw error;
  }
}

/** A URL with one of these schemes, or the fault, without the URL, which may contain a key. `expected` names the schemes. */
export function readUrl(text: string, schemes: RegExp, expected: string): URL | string {
  if (/\s/.test(text)) {
    return `invalid URL: a space ${text.trim() === text ? "in it" : "before or after it"}`;
  }
  if (!schemes.test(text)) {
    const found = /^[a-z][a-z0-9+.-]{0,11}:\/\//i.exec(text)?.[0] ?? "no scheme";
    return `invalid URL: found ${found}, expected ${expected}`;
  }
  if (!URL.canParse(text)) {
    return "invalid host, port or password in the URL; write / ? # and @ in a password as %2F %3F %23 and %40";
  }
  const url = new URL(text);
  return url.username !== "" && url.pathname.includes("@")
    ? "found an @ in the URL's path; write / and @ in a password as %2F and %40"
    : url;
}

/** An http or https URL, or its fault. */
export function readWebUrl(text: string): URL | string {
  return readUrl(text, /^https?:\/\//i, "http:// or https://");
}

/** The `Authorization` header for the user and password of a URL (RFC 7617), which HTTP clients drop; null without both. */
export function basicAuthorization({ username, password }: URL): string | null {
  const pair = `${decodePercent(username)}:${decodePercent(password)}`;
  return pair === ":" ? null : `Basic ${Buffer.from(pair).toString("base64")}`;
}
