import { createHash } from "node:crypto";
import { type Endpoint, endpointsOf, type Fleet } from "../../core/model/fleet.ts";
import { memoize } from "../../core/model/memoize.ts";

/** What is remembered of each endpoint beside what it said: which question fitted last, and whether it was heard at all. */
export class DialectCache {
  #questions = new Map<string, number>();
  #heard = new Set<string>();
  /** Of one fleet, as of the last look. */
  #unheard: { readonly fleet: Fleet; readonly endpoints: readonly Endpoint[] } | null = null;

  /** Where the next poll begins among the dialect's questions. */
  questionOf(endpoint: Endpoint): number {
    return this.#questions.get(identityOf(endpoint)) ?? 0;
  }

  /** Those of a fleet of which there is no evidence, neither from a poll nor still from a former process. */
  unheardOf(fleet: Fleet): readonly Endpoint[] {
    // Who was heard of stays so: only the others are looked at again.
    const former = this.#unheard?.fleet === fleet ? this.#unheard.endpoints : endpointsOf(fleet);
    const endpoints = former.filter((endpoint) => !this.#heard.has(identityOf(endpoint)));
    this.#unheard = { fleet, endpoints };
    return endpoints;
  }

  note(endpoint: Endpoint, questionIndex: number): void {
    const identity = identityOf(endpoint);
    this.#questions.set(identity, questionIndex);
    this.#heard.add(identity);
  }

  /** Forgets all that the fleet lacks. */
  retain(fleet: Fleet): void {
    const known = new Set(endpointsOf(fleet).map(identityOf));
    this.#questions = new Map([...this.#questions].filter(([identity]) => known.has(identity)));
    this.#heard = new Set([...this.#heard].filter((identity) => known.has(identity)));
  }

  /** For the state file. */
  save(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#questions);
  }

  /** Takes over what a former process has saved of this fleet; `isEvident` tells of which endpoints evidence is left. */
  restore(
    saved: ReadonlyMap<string, number>,
    fleet: Fleet,
    isEvident: (endpoint: Endpoint) => boolean,
  ): void {
    for (const endpoint of endpointsOf(fleet)) {
      const identity = identityOf(endpoint);
      const questionIndex = saved.get(identity);
      if (questionIndex !== undefined) {
        this.#questions.set(identity, questionIndex);
      }
      if (questionIndex !== undefined && isEvident(endpoint)) {
        this.#heard.add(identity);
      }
    }
  }
}

/**
 * An endpoint that was given another URL or dialect is another one: what was learned of it no longer holds. A digest, for
 * it is written to disk, and a URL may hold a key.
 */
const identityOf = memoize(({ key, url, dialect }: Endpoint): string =>
  createHash("sha256").update(`${key} ${dialect} ${url}`).digest("hex").slice(0, 32),
);
