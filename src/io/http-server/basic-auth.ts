import { createHmac, randomBytes } from "node:crypto";
import bcrypt from "bcryptjs";
import { FairQueue } from "./fair-queue.ts";

/** The result for the credentials of a request; `busy`: too many of this user and client are waiting already. */
export type Admission = "admitted" | "refused" | "busy";

interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** Passwords that wait for each user and client: each takes the processor for a while, which the polls need too. */
const MAX_WAITING = 8;
/** Only correct passwords are cached, so that there are few however many are tried. */
const MAX_CACHED = 1_000;
/** Compared for an unknown name, so that the response time does not reveal which names exist. */
const UNKNOWN_USER_HASH = "$2b$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";

/**
 * Checks the credentials of a request. bcrypt is slow by design: one hash is computed at a time, users and clients take
 * turns, and a correct password is cached under a keyed hash, never as itself.
 */
export class BasicAuth {
  readonly #key = randomBytes(32);
  readonly #cached = new Set<string>();
  readonly #queue = new FairQueue(MAX_WAITING);

  /** `client`: the address of the request. */
  async admit(
    users: ReadonlyMap<string, string>,
    { authorization, client }: { readonly authorization: string | undefined; readonly client: string },
  ): Promise<Admission> {
    const credentials = readCredentials(authorization);
    if (credentials === null) {
      return "refused";
    }
    const known = users.get(credentials.name);
    const hash = known ?? UNKNOWN_USER_HASH;
    const cacheKey = this.#cacheKeyOf(credentials, hash);
    if (this.#cached.has(cacheKey)) {
      return "admitted";
    }
    // Unknown names share one turn, however many are made up.
    const user = known === undefined ? "" : credentials.name;
    const isCorrect = await this.#queue.run(JSON.stringify([user, client]), () =>
      bcrypt.compare(credentials.password, toVersion2b(hash)),
    );
    if (isCorrect === null) {
      return "busy";
    }
    if (!isCorrect || known === undefined) {
      return "refused";
    }
    this.#cache(cacheKey);
    return "admitted";
  }

  /** Differs when the name, the password or the hash does. */
  #cacheKeyOf({ name, password }: Credentials, hash: string): string {
    return createHmac("sha256", this.#key)
      .update(JSON.stringify([name, hash, password]))
      .digest("base64");
  }

  #cache(cacheKey: string): void {
    if (this.#cached.size >= MAX_CACHED) {
      this.#cached.clear();
    }
    this.#cached.add(cacheKey);
  }
}

function readCredentials(authorization: string | undefined): Credentials | null {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined) {
    return null;
  }
  const [, name, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString("utf8")) ?? [];
  return name === undefined || password === undefined ? null : { name, password };
}

/** Other programs write the same hash as `2y`, `2x` or `2`, which bcryptjs does not know. */
function toVersion2b(hash: string): string {
  return hash.replace(/^\$2[a-z]?\$/, "$2b$");
}
