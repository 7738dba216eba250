import type { TemplatePart } from "./template.ts";

/** What a `${…}` stands for, or why it stands for nothing. */
export type SecretReading =
  | { readonly kind: "read"; readonly text: string }
  /** A variable that is not set: an optional indexer may do without. */
  | { readonly kind: "unset"; readonly message: string }
  | { readonly kind: "unreadable"; readonly message: string };

/** The world outside of the configuration file. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a text file, or throws. */
  readonly readFile: (path: string) => string;
}

/** A text that was read from outside of the file, and what a shell says instead: `$NAME` or `$(cat /path)`. */
export interface Variable {
  readonly text: string;
  readonly shown: string;
}

/** Shorter values would blot out half of every message, and protect nothing. */
const MIN_SECRET_LENGTH = 4;

/** Reads secrets, and remembers each, so that none leaves the process in a log or a message. */
export class SecretStore {
  readonly #outside: Environment;
  readonly #secrets = new Set<string>();
  readonly #variables = new Map<string, Variable>();

  constructor(outside: Environment) {
    this.#outside = outside;
  }

  read(part: Extract<TemplatePart, { kind: "variable" | "file" }>): SecretReading {
    return part.kind === "variable" ? this.#readVariable(part.name) : this.#readFile(part.path);
  }

  remember(...texts: readonly string[]): void {
    for (const text of texts) {
      if (text.length >= MIN_SECRET_LENGTH) {
        this.#secrets.add(text);
      }
    }
  }

  /** Longest first: a secret may hold another one. */
  get all(): readonly string[] {
    return [...this.#secrets].sort((a, b) => b.length - a.length);
  }

  /** Those of them that a shell can say by a name, longest first. */
  get variables(): readonly Variable[] {
    return [...this.#variables.values()].sort((a, b) => b.text.length - a.text.length);
  }

  /** A text without the secrets that are known so far. */
  redact(text: string): string {
    return this.all.reduce((redacted, secret) => redacted.replaceAll(secret, "***"), text);
  }

  #readVariable(name: string): SecretReading {
    const value = Object.hasOwn(this.#outside.env, name) ? this.#outside.env[name] : undefined;
    if (value === undefined || value === "") {
      return { kind: "unset", message: `${name} is ${value === "" ? "empty" : "not set"}` };
    }
    this.#rememberAs(value, `$${name}`);
    return { kind: "read", text: value };
  }

  #readFile(path: string): SecretReading {
    let text: string;
    try {
      text = this.#outside.readFile(path).replace(/[\r\n]+$/, "");
    } catch (error) {
      if (!(error instanceof Error)) {
        throw error;
      }
      return { kind: "unreadable", message: `Cannot read ${path}: ${error.message}` };
    }
    if (text === "") {
      return { kind: "unreadable", message: `Cannot use ${path}: it is empty` };
    }
    this.#rememberAs(text, `$(cat '${path.replaceAll("'", "'\\''")}')`);
    return { kind: "read", text };
  }

  #rememberAs(text: string, shown: string): void {
    this.remember(text);
    if (this.#secrets.has(text)) {
      this.#variables.set(text, { text, shown });
    }
  }
}
