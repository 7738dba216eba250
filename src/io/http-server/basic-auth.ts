import { createHmac, randomBytes } from "node:crypto";
import bcrypt from "bcryptjs";
import type { FastifyInstance } from "fastify";
import type { WebSettingsSource } from "../../config/config.ts";
import { FairTurns } from "../fair-turns.ts";
import { sendProblem } from "./routes/replies.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route needs no password. */
    readonly isOpen?: boolean;
  }
}

/** Adds the configured headers and authentication, before all other hooks. */
export function addWebGuard(server: FastifyInstance, web: WebSettingsSource): void {
  const auth = new BasicAuth();

  server.addHook("onRequest", async (request, reply) => {
    const { headers, users } = web.current;
    void reply.headers(headers);
    if (users.size === 0 || request.routeOptions.config.isOpen === true) {
      return;
    }
    switch (await auth.admit(users, { authorization: request.headers.authorization, client: request.ip })) {
      case "admitted":
        return;
      case "busy":
        return sendProblem(reply.header("retry-after", "1"), 429, "Too many logins at once");
      case "refused":
        void reply.header("www-authenticate", 'Basic realm="synclag", charset="UTF-8"');
        return sendProblem(reply, 401, "User name and password required");
    }
  });
}

/**
 * At most this number of passwords waits for each user and client, because checking one takes processor time from the polls.
 */
const MAX_WAITING = 8;
/** The size of the cache of correct passwords. A full cache is cleared. */
const MAX_CACHED = 1_000;
/** Compared for an unknown name, so that the response time does not reveal which names exist. */
const UNKNOWN_USER_HASH = "$2b$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";

/**
 * Checks the credentials of a request. bcrypt is slow by design, so one hash is computed at a time, and users and clients take
 * turns. A correct password is remembered by a keyed hash, never in clear text.
 */
export class BasicAuth {
  readonly #key = randomBytes(32);
  /** The checks that passed, run or wait, by a keyed hash of the credentials. */
  readonly #checks = new Map<string, Promise<boolean>>();
  /** The turns of users and clients. */
  readonly #turns = new FairTurns();

  /** `client`: the address of the request. `busy`: too many passwords of this user and client are waiting. */
  async admit(
    users: ReadonlyMap<string, string>,
    { authorization, client }: { readonly authorization: string | undefined; readonly client: string },
  ): Promise<"admitted" | "refused" | "busy"> {
    const credentials = readCredentials(authorization);
    if (credentials === null) {
      return "refused";
    }
    const { name, password } = credentials;
    const known = users.get(name);
    const hash = known ?? UNKNOWN_USER_HASH;
    // A change of the name, the password or the hash changes the key.
    const cacheKey = createHmac("sha256", this.#key)
      .update(JSON.stringify([name, hash, password]))
      .digest("base64");
    // Unknown names share one turn, so a client gains nothing by inventing names.
    const turn = JSON.stringify([known === undefined ? "" : name, client]);
    const isCorrect = await (this.#checks.get(cacheKey) ?? this.#check(cacheKey, turn, password, hash));
    if (isCorrect === null) {
      return "busy";
    }
    return isCorrect && known !== undefined ? "admitted" : "refused";
  }

  /** Whether the password is correct; null if too many wait. */
  async #check(cacheKey: string, turn: string, password: string, hash: string): Promise<boolean | null> {
    if (this.#turns.waiting(turn) >= MAX_WAITING) {
      return null;
    }
    if (this.#checks.size >= MAX_CACHED) {
      this.#checks.clear();
    }
    // Other programs write `2y`, `2x` or `2` for the same hash; bcryptjs knows only `2b`.
    const compare = () => bcrypt.compare(password, hash.replace(/^\$2[a-z]?\$/, "$2b$"));
    const check = this.#turns.run(turn, compare);
    this.#checks.set(cacheKey, check);
    const isCorrect = await check;
    if (!isCorrect) {
      this.#checks.delete(cacheKey);
    }
    return isCorrect;
  }
}

function readCredentials(authorization: string | undefined) {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization ?? "") ?? [];
  if (encoded === undefined) {
    return null;
  }
  const [, name, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString("utf8")) ?? [];
  return name === undefined || password === undefined ? null : { name, password };
}
