import { createRedact, MIN_SECRET_LENGTH, maskKeys } from "../../core/model/redact.ts";

/** `${NAME}` or `${file:/path}`. */
export type SecretReference =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "file"; readonly path: string };

/** The value of a reference, or why it has none. */
export type SecretReading =
  | { readonly kind: "read"; readonly text: string }
  /** The variable is not set: an optional indexer is skipped then. */
  | { readonly kind: "unset"; readonly message: string }
  | { readonly kind: "invalid"; readonly message: string };

/** Everything outside of the configuration file. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a text file, or throws. */
  readonly readFile: (path: string) => string;
}

/** A value from outside of the file, and how a shell refers to it: `$NAME` or `$(cat '/path')`. */
export interface Variable {
  readonly text: string;
  readonly shown: string;
}

/** Reads secrets and remembers them, so that none leaves the process in a log or a message. */
export class SecretStore {
  readonly #environment: Environment;
  readonly #secrets = new Set<string>();
  readonly #variables = new Map<string, Variable>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  read(reference: SecretReference): SecretReading {
    return reference.kind === "variable"
      ? this.#readVariable(reference.name)
      : this.#readFile(reference.path);
  }

  remember(texts: readonly string[]): void {
    for (const text of texts) {
      if (text.length >= MIN_SECRET_LENGTH) {
        this.#secrets.add(text);
      }
    }
  }

  /** Longest first: a secret may contain another one. */
  get all(): readonly string[] {
    return [...this.#secrets].sort((a, b) => b.length - a.length);
  }

  /** The secrets that came from variables and files, longest first. */
  get variables(): readonly Variable[] {
    return [...this.#variables.values()].sort((a, b) => b.text.length - a.text.length);
  }

  /** A text without the secrets read so far. */
  redact(text: string): string {
    return createRedact(this.all)(text);
  }

  #readVariable(name: string): SecretReading {
    const value = Object.hasOwn(this.#environment.env, name) ? this.#environment.env[name] : undefined;
    if (value === undefined || value === "") {
      // Somebody may have put the key itself in place of its name.
      return { kind: "unset", message: `${maskKeys(name)} is ${value === "" ? "empty" : "not set"}` };
    }
    this.#rememberAs(value, `$${name}`);
    return { kind: "read", text: value };
  }

  #readFile(path: string): SecretReading {
    let text: string;
    try {
      text = this.#environment.readFile(path).replace(/[\r\n]+$/, "");
    } catch (error) {
      if (!(error instanceof Error)) {
        throw error;
      }
      return { kind: "invalid", message: maskKeys(`Cannot read ${path}: ${error.message}`) };
    }
    if (text === "") {
      return { kind: "invalid", message: maskKeys(`Cannot use ${path}: the file is empty`) };
    }
    this.#rememberAs(text, `$(cat '${path.replaceAll("'", "'\\''")}')`);
    return { kind: "read", text };
  }

  #rememberAs(text: string, shown: string): void {
    this.remember([text]);
    if (this.#secrets.has(text)) {
      this.#variables.set(text, { text, shown });
    }
  }
}
