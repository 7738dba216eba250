import { looksLikeKey } from "../core/model/redact.ts";
import { MIN_SECRET_LENGTH } from "../core/model/secret-search.ts";
import { whyFailed } from "../core/model/why-failed.ts";
import type { Variable } from "./config.ts";

/** Where the values of `${VAR}` and `${file:/path}` come from. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a text file, or throws. */
  readonly readFile: (path: string) => string;
}

/** Texts by the names of the placeholders that they replace. */
export type Values = ReadonlyMap<string, string>;

/** Why a piece of a template has no value. */
export interface TemplateProblem {
  readonly kind: "flaw" | "missing" | "unset";
  /** For a flaw, what is wrong; for `missing`, the name of a placeholder; for `unset`, `NAME is not set` or `NAME is empty`. */
  readonly what: string;
}

/** A filled template; usable if it has no problem. */
export interface Filled {
  /** Pieces without a value are replaced by `unknown`. */
  readonly text: string;
  readonly problems: readonly TemplateProblem[];
}

/** `${VAR}` or `${file:/path}`, and `{name}`. */
const REFERENCE = /\$\{([^{}]*)\}|\{([A-Za-z_][\w-]*)\}/g;

/** The names of the placeholders `{name}` in a text, even if the rest of the text is not a valid template. */
export function placeholdersOf(text: string | null | undefined): readonly string[] {
  return [...(text ?? "").matchAll(REFERENCE)].flatMap(([, , name]) => name ?? []);
}

/** Fills in `{name}` and nothing else. */
export function fillPlaceholders(text: string, values: Values, onMissing: (name: string) => void): string {
  return text.replace(REFERENCE, (piece, _, name: string | undefined) => {
    if (name !== undefined && !values.has(name)) {
      onMissing(name);
    }
    return values.get(name ?? "") ?? piece;
  });
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

  /** The secrets that came from variables and files, longest first. */
  get variables(): readonly Variable[] {
    return [...this.#variables.values()].sort((a, b) => b.text.length - a.text.length);
  }

  remember(texts: readonly string[]): void {
    for (const text of texts.filter(({ length }) => length >= MIN_SECRET_LENGTH)) {
      this.#secrets.add(text);
    }
  }

  /**
   * Fills `${VAR}`, `${file:/path}` and `{name}`. Without `values`, as in a header, `{name}` is a problem and other braces
   * are literal. `encode` is applied to the values of variables and files.
   */
  fill(template: string, values: Values | null, encode = (secret: string) => secret): Filled {
    const problems: TemplateProblem[] = [];
    const text = template.replace(REFERENCE, (_, reference: string | undefined, name: string) => {
      const found = reference === undefined ? values?.get(name) : this.#read(reference);
      if (found === undefined) {
        const flaw = { kind: "flaw", what: "placeholders do not work in headers" } as const;
        problems.push(values === null ? flaw : { kind: "missing", what: name });
      } else if (typeof found === "object") {
        problems.push(found);
      } else {
        return reference === undefined ? found : encode(found);
      }
      return "unknown";
    });
    const rest = template.replace(REFERENCE, "");
    if (values === null ? rest.includes("${") : /[{}]/.test(rest)) {
      problems.push({ kind: "flaw", what: "unclosed or invalid braces" });
    }
    return { text, problems };
  }

  /** The value of a variable or the content of a file. */
  #read(reference: string): string | TemplateProblem {
    const path = /^file:(.+)$/.exec(reference)?.[1];
    if (path !== undefined) {
      return this.#readFile(path);
    }
    if (!/^[A-Za-z_]\w*$/.test(reference)) {
      return { kind: "flaw", what: `invalid reference, expected \${VARIABLE} or \${file:/path}` };
    }
    const { env } = this.#environment;
    const text = Object.hasOwn(env, reference) ? env[reference] : undefined;
    if (text === undefined || text === "") {
      return { kind: "unset", what: `${reference} is ${text === "" ? "empty" : "not set"}` };
    }
    return this.#rememberAs(text, `$${reference}`);
  }

  #readFile(path: string): string | TemplateProblem {
    try {
      const text = this.#environment.readFile(path).replace(/[\r\n]+$/, "");
      return text === ""
        ? { kind: "flaw", what: `empty file ${path}` }
        : this.#rememberAs(text, `$(cat '${path.replaceAll("'", "'\\''")}')`);
    } catch (error) {
      return { kind: "flaw", what: `cannot read ${path}: ${whyFailed(error)}` };
    }
  }

  #rememberAs(text: string, shown: string): string {
    this.remember([text]);
    if (this.#secrets.has(text)) {
      this.#variables.set(text, { text, shown });
    }
    return text;
  }
}

/** Takes the place of a variable or placeholder, which is not searched for keys. */
const GAP = "\u0000";
/** Public identifiers of subgraphs and projects, which look like keys. */
const PUBLIC_ID = /\/(?:public|(?:subgraphs|deployments)\/id)\/[^/]+|\/Qm[1-9A-HJ-NP-Za-km-z]{44}(?![^/])/g;
/** Short numbers, as in `?v=2`, are not secrets: if they were redacted, block numbers with these digits would be garbled. */
const SHORT_NUMBER = /^\d{1,7}$/;
/** Shorter words of a header are not secrets: they may occur in any text. */
const MIN_WORD_LENGTH = 8;
const NAME_OF_KEY = /key|token|secret|auth|pass/i;

/**
 * The secrets in a URL: user, password, values of the query, and parts of the path that look like keys. The texts
 * that replaced placeholders (`values`) are not secret.
 */
export function secretsInUrl(url: URL, values: Values): readonly string[] {
  const publicTexts = new Set(values.values());
  const inQuery = url.search.split("&").map((pair) => pair.slice(pair.indexOf("=") + 1));
  const texts = [...inQuery, ...keysIn(url.pathname)].filter(
    (text) => !SHORT_NUMBER.test(text) && !publicTexts.has(decodePercent(text)),
  );
  return [url.username, url.password, ...texts].flatMap((text) => [text, decodePercent(text)]);
}

/** Whether a URL as written has a key in its path. */
export function hasKeyInPath(template: string): boolean {
  return keysIn(writtenPathAndQuery(template)[0] ?? "").length > 0;
}

/** A key in a URL as written, and the text before it; in a path, `before` is empty. */
export interface WrittenKey {
  readonly before: string;
  readonly key: string;
  readonly kind: "KEY" | "PASSWORD";
}

/** The texts that look like keys in a URL as it was typed: a password, a user without a password, values of the query, parts of the path. */
export function writtenKeys(template: string): readonly WrittenKey[] {
  const text = template.replace(REFERENCE, GAP);
  const [, user = "", password] = /^https?:\/\/([^/?#:@]*)(?::([^/?#@]*))?@/i.exec(text) ?? [];
  const [path = "", query = ""] = writtenPathAndQuery(template);
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

function writtenPathAndQuery(template: string): readonly string[] {
  return template
    .replace(REFERENCE, GAP)
    .replace(/^https?:\/\/[^/?#]*/i, "")
    .split(/[?#]/);
}

function keysIn(path: string): readonly string[] {
  return path
    .replace(PUBLIC_ID, "")
    .split(new RegExp(`[/=:;,@${GAP}]`))
    .filter(looksLikeKey);
}

/**
 * The secrets in a header: the whole value, the text after its first word, all long words, and the decoded user and password
 * of `Basic`.
 */
export function secretsInHeader(value: string): readonly string[] {
  const pair = Buffer.from(/^Basic +(\S+)$/i.exec(value)?.[1] ?? "", "base64").toString();
  const words = value.split(/[\s;,="']+/).filter(({ length }) => length >= MIN_WORD_LENGTH);
  return [value, value.replace(/^\S+ +/, ""), ...words, pair, pair.slice(pair.indexOf(":") + 1)];
}

/** Decodes percent-encoded text; text that is not encoded correctly stays as it is. */
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
