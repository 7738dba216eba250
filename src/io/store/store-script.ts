import { z } from "zod";

/** The key of the leader's lease, which is a Redis hash. Its `token` rises with each leader, so that late writes of earlier leaders are refused. */
export const LEASE_KEY = "lease";

/** A Lua script that the store runs as one step. */
export interface StoreScript<Reply> {
  readonly lua: string;
  readonly reply: z.ZodType<Reply>;
}

/** A whole number that a double holds exactly: a safe integer, or a text of at most 15 digits. */
export const Whole = z.union([z.string().regex(/^\d{1,15}$/), z.int().nonnegative()]).transform(Number);

/** The beginning of all scripts. `now`: the store's clock in Unix milliseconds; `text`: a number as text; `remove`: removes a key. */
const COMMON = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
local function remove(key) redis.call('PEXPIRE', key, '0') end
`;

/** Makes a script from its text and the schema of its result. Keys are `KEYS`, arguments `ARGV`. */
export function storeScript<Reply>(lua: string, reply: z.ZodType<Reply>): StoreScript<Reply> {
  return { lua: `${COMMON}${lua}`, reply };
}

/** The result of a script, or why there is none. */
export type StoreReply<Value> = { readonly kind: "reply"; readonly value: Value } | StoreFailure;

/** A call that failed. The script may still have run: the connection may have broken after the server received it. */
export interface StoreFailure {
  readonly kind: "failed";
  /**
   * `away`: not connected, no reply within a second, or the server accepts no writes. `refused`: the server does not run this
   * script, for example for lack of a permission. `unusable`: the script failed on a value, or its reply does not have the
   * script's schema.
   */
  readonly reason: "away" | "refused" | "unusable";
  /** For people, without a host or password. */
  readonly detail: string;
}

/** The failure without a connection: the call was not sent. */
export const NOT_CONNECTED: StoreFailure = { kind: "failed", reason: "away", detail: "no connection" };
