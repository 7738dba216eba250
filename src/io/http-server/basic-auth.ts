import { createHmac, randomBytes } from "node:crypto";
import bcrypt from "bcryptjs";
import pLimit from "p-limit";

/** What became of the credentials of a request; `busy`: too many are being looked at already. */
export type Admission = "admitted" | "refused" | "busy";

interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** More passwords than that wait for no turn: each takes the processor for a while, which the polls need too. */
const MAX_WAITING = 32;
/** Right passwords only are remembered, so that there are few however many are tried. */
const MAX_REMEMBERED = 1_000;
/** What an unknown name is measured against, so that the time tells nobody which names there are. */
const NOBODY = "$2b$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";

/**
 * Tells whether a request may come in. A hash takes long by design: one at a time is worked out, and who was right
 * once need not wait again, for what was right is remembered under a keyed hash, never as a password.
 */
export class BasicAuth {
  readonly #key = randomBytes(32);
  readonly #remembered = new Set<string>();
  readonly #turn = pLimit(1);

  /** `authorization`: the header as it came. */
  async admit(users: ReadonlyMap<string, string>, authorization: string | undefined): Promise<Admission> {
    const credentials = readCredentials(authorization);
    if (credentials === null) {
      return "refused";
    }
    const known = users.get(credentials.name);
    const hash = known ?? NOBODY;
    const memory = this.#memoryOf(credentials, hash);
    if (this.#remembered.has(memory)) {
      return "admitted";
    }
    if (this.#turn.pendingCount >= MAX_WAITING) {
      return "busy";
    }
    const isRight = await this.#turn(() => bcrypt.compare(credentials.password, sameVersion(hash)));
    if (!isRight || known === undefined) {
      return "refused";
    }
    this.#remember(memory);
    return "admitted";
  }

  /** Differs when the name, the password or the hash does; without the key it can't be made from a guess. */
  #memoryOf({ name, password }: Credentials, hash: string): string {
    return createHmac("sha256", this.#key)
      .update(JSON.stringify([name, hash, password]))
      .digest("base64");
  }

  #remember(memory: string): void {
    if (this.#remembered.size >= MAX_REMEMBERED) {
      this.#remembered.clear();
    }
    this.#remembered.add(memory);
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

/** `2y`, `2x` and `2` are what other programs call the same; ours knows not all of them. */
function sameVersion(hash: string): string {
  return hash.replace(/^\$2[a-z]?\$/, "$2b$");
}
