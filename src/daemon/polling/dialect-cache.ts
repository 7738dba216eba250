import { createHash } from "node:crypto";
import { type Endpoint, endpointsOf, type Fleet } from "../../core/model/fleet.ts";
import { memoize } from "../../core/model/memoize.ts";
import { NEW_SEARCH, type QuestionSearch } from "../../dialects/search.ts";

/** Which question each endpoint answered last, and whether it has answered or failed at all. */
export class DialectCache {
  #searches = new Map<string, QuestionSearch>();
  #polled = new Set<string>();
  #revision = 0;
  /** Of one fleet, as of the last call. */
  #unpolled: { readonly fleet: Fleet; readonly endpoints: readonly Endpoint[] } | null = null;

  /** Which of the dialect's questions the next poll begins with, and which were refused. */
  searchOf(endpoint: Endpoint): QuestionSearch {
    return this.#searches.get(identityOf(endpoint)) ?? NEW_SEARCH;
  }

  /** Endpoints of a fleet without evidence, neither from a poll nor from an earlier process. */
  unpolledOf(fleet: Fleet): readonly Endpoint[] {
    // What was polled stays so: only the others are checked again.
    const candidates = this.#unpolled?.fleet === fleet ? this.#unpolled.endpoints : endpointsOf(fleet);
    const endpoints = candidates.filter((endpoint) => !this.#polled.has(identityOf(endpoint)));
    this.#unpolled = { fleet, endpoints };
    return endpoints;
  }

  note(endpoint: Endpoint, search: QuestionSearch): void {
    const identity = identityOf(endpoint);
    if (this.#searches.get(identity)?.questionIndex !== search.questionIndex) {
      this.#revision += 1;
    }
    this.#searches.set(identity, search);
  }

  /** Changes whenever `save()` would return something else. */
  get revision(): number {
    return this.#revision;
  }

  /** A poll brought evidence of it, good or bad. */
  markPolled(endpoint: Endpoint): void {
    this.#polled.add(identityOf(endpoint));
  }

  /** Forgets what the fleet no longer has; RPC nodes are asked for their chain again. */
  retain(fleet: Fleet): void {
    const known = new Set(endpointsOf(fleet).map(identityOf));
    this.#revision += 1;
    this.#searches = new Map(
      [...this.#searches].flatMap(([identity, search]) =>
        known.has(identity) ? [[identity, { ...search, isOfChain: false }]] : [],
      ),
    );
    this.#polled = new Set([...this.#polled].filter((identity) => known.has(identity)));
  }

  /** For the state file. */
  save(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      [...this.#searches].map(([identity, { questionIndex }]) => [identity, questionIndex]),
    );
  }

  /** Takes over what an earlier process saved of this fleet; `isEvident` says of which endpoints evidence is left. */
  restore(
    saved: ReadonlyMap<string, number>,
    fleet: Fleet,
    isEvident: (endpoint: Endpoint) => boolean,
  ): void {
    this.#revision += 1;
    for (const endpoint of endpointsOf(fleet)) {
      const identity = identityOf(endpoint);
      const questionIndex = saved.get(identity);
      if (questionIndex === undefined) {
        continue;
      }
      const isAnswered = isEvident(endpoint);
      this.#searches.set(identity, { ...NEW_SEARCH, questionIndex, isAnswered });
      if (isAnswered) {
        this.#polled.add(identity);
      }
    }
  }
}

/**
 * What was learned of an endpoint no longer holds once its URL or dialect changes. A digest, because it is written to
 * disk and a URL may hold a key.
 */
const identityOf = memoize(({ key, url, dialect }: Endpoint): string =>
  createHash("sha256").update(`${key} ${dialect} ${url}`).digest("hex").slice(0, 32),
);
