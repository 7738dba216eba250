import { createHmac, randomBytes } from "node:crypto";
import bcrypt from "bcryptjs";

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
  /** By user and client, in the order of their turns. */
  readonly #waiting = new Map<string, readonly (() => Promise<void>)[]>();
  #isComparing = false;

  /** `client`: the address of the request. */
  async admit(
    users: ReadonlyMap<string, string>,
    { authorization, client }: { readonly authorization: string | undefined; readonly client: string },
  ): Promise<Admission> {
    const credentials = readCredentials(authorization);
    if (credentials === null) {
      return "refused";
    }
    const { name, password } = credentials;
    const known = users.get(name);
    const hash = known ?? UNKNOWN_USER_HASH;
    // Differs when the name, the password or the hash does.
    const cacheKey = createHmac("sha256", this.#key)
      .update(JSON.stringify([name, hash, password]))
      .digest("base64");
    if (this.#cached.has(cacheKey)) {
      return "admitted";
    }
    // Unknown names share one turn, however many are made up.
    const turn = JSON.stringify([known === undefined ? "" : name, client]);
    // Other programs write the same hash as `2y`, `2x` or `2`, which bcryptjs does not know.
    const compare = () => bcrypt.compare(password, hash.replace(/^\$2[a-z]?\$/, "$2b$"));
    const isCorrect = await this.#inTurn(turn, compare);
    if (isCorrect === null) {
      return "busy";
    }
    if (!isCorrect || known === undefined) {
      return "refused";
    }
    if (this.#cached.size >= MAX_CACHED) {
      this.#cached.clear();
    }
    this.#cached.add(cacheKey);
    return "admitted";
  }

  /** Runs a task when it is the turn of its key: one key with many tasks delays another by one only. Null if too many wait. */
  #inTurn<Result>(key: string, task: () => Promise<Result>): Promise<Result> | null {
    const waiting = this.#waiting.get(key) ?? [];
    if (waiting.length >= MAX_WAITING) {
      return null;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.set(key, [...waiting, () => task().then(resolve, reject)]);
      void this.#compareAll();
    });
  }

  async #compareAll(): Promise<void> {
    if (this.#isComparing) {
      return;
    }
    this.#isComparing = true;
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      await next();
    }
    this.#isComparing = false;
  }

  /** The oldest task of the key whose turn it is; that key goes to the end of the line. */
  #takeNext(): (() => Promise<void>) | undefined {
    for (const [key, [task, ...rest]] of this.#waiting) {
      this.#waiting.delete(key);
      if (rest.length > 0) {
        this.#waiting.set(key, rest);
      }
      return task;
    }
    return undefined;
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
