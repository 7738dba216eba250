import type { Headers } from "../config/address.ts";
import { writtenKeys } from "../config/secrets.ts";

/** Replaces values that look like keys by `${VARIABLE}`, so that no file or output contains a key. Equal keys get one name. */
export class KeyVariables {
  readonly #namesByKey = new Map<string, string>();
  readonly #taken: Set<string>;

  /** Variables in `written`, what was typed, keep their names. */
  constructor(written: readonly string[]) {
    this.#taken = new Set([...written.join(" ").matchAll(/\$\{(\w+)\}/g)].flatMap(([, name]) => name ?? []));
  }

  /** The variables that must be set, including those in the given URLs. */
  get names(): readonly string[] {
    return [...this.#taken];
  }

  inUrl(written: string): string {
    const host = /^https?:\/\/(?:[^/?#]*@)?([^/?#:]*)/i.exec(written)?.[1] ?? "";
    // The second-level label of the host name; an IP address has no label.
    const label = /[a-z]/i.test(host) ? (host.split(".").at(-2) ?? "") : "";
    return writtenKeys(written).reduce((url, { before, key, kind }) => {
      const name = this.#nameOf(key, `${label === "" ? "ENDPOINT" : label}_${kind}`);
      return url.replaceAll(`${before}${key}`, () => `${before}\${${name}}`);
    }, written);
  }

  inHeaders(headers: Headers): Headers {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => {
        const [, scheme = "", key = ""] = /^((?:Basic|Bearer|Token) +)?(.*)$/i.exec(value) ?? [];
        const base = /key|token/i.test(name) ? name : `${name}_KEY`;
        return [name, value.includes("${") ? value : `${scheme}\${${this.#nameOf(key, base)}}`];
      }),
    );
  }

  #nameOf(key: string, proposed: string): string {
    const base = proposed
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, "_")
      .replace(/^(?=\d)/, "_");
    let name = this.#namesByKey.get(key) ?? base;
    for (let count = 2; !this.#namesByKey.has(key) && this.#taken.has(name); count += 1) {
      name = `${base}_${count}`;
    }
    this.#namesByKey.set(key, name);
    this.#taken.add(name);
    return name;
  }
}
