import { z } from "zod";
import type { Part, ReadPart } from "../io/state/parts.ts";
import type { ScriptRunner } from "../io/store/redis-store.ts";
import { LEASE_KEY, type StoreReply, storeScript, Whole } from "../io/store/store-script.ts";
import { FENCE } from "../leader/lease-scripts.ts";

/** `fenced`: another replica leads by now. */
type Written = "written" | "fenced";

interface PartReading {
  /** The parts that have changed since the last read or write, the latest last. */
  readonly parts: readonly ReadPart[];
  /** How long ago the last write was; null: there was none, or the store has lost it. */
  readonly ageMs: number | null;
}

/** A call, which must end within a second, has at most this number of characters of texts, or one larger text. */
const CALL_CHARS = 524_288;

/** Parts in the store, which the leader writes and the other replicas read. Calls are made one at a time. */
export class SharedParts {
  readonly #store: ScriptRunner;
  readonly #keys: readonly string[];
  /** The number of the last part read or written; 0: no part. */
  #number = 0;
  /** The version of each part that the store has; null: unknown, so that all is written. */
  #written: ReadonlyMap<string, unknown> | null = null;
  /** The token of the last write of this process. */
  #token: number | null = null;

  /** `key`: the key of the parts; the key of their order begins with it. */
  constructor(store: ScriptRunner, key: string) {
    this.#store = store;
    this.#keys = [key, `${key}-order`];
  }

  /** Makes the next write or read include all parts. */
  startOver(): void {
    this.#number = 0;
    this.#written = null;
  }

  /**
   * Writes the parts that the store lacks, or all parts if the store has unusable ones. A write without changes renews the time
   * of the last write.
   */
  async write(parts: readonly Part[], token: number): Promise<StoreReply<Written>> {
    const reply = await this.#writeChanged(parts, token);
    const isUnusable = reply.kind === "failed" && reply.reason === "unusable";
    return isUnusable ? await this.#writeChanged(parts, token) : reply;
  }

  /** Reads the parts that another process has written since the last read or write. Own parts are skipped: memory is newer. */
  async read(): Promise<StoreReply<PartReading>> {
    const parts: ReadPart[] = [];
    const from = this.#number;
    this.#written = null;
    for (;;) {
      const reply = await this.#store.run(READ, this.#keys, [this.#number]);
      if (reply.kind === "failed") {
        this.#number = from;
        return reply;
      }
      const page = reply.value;
      parts.push(...(page.token === this.#token ? [] : page.parts));
      this.#number = page.reached;
      if (page.reached >= page.number) {
        return { kind: "reply", value: { parts, ageMs: page.ageMs } };
      }
    }
  }

  async #writeChanged(parts: readonly Part[], token: number): Promise<StoreReply<Written>> {
    const keys = [LEASE_KEY, ...this.#keys];
    const written = new Map(this.#written);
    let last: number | "" = this.#written === null ? "" : this.#number;
    let oldest: number | null = null;
    // Unknown until the store has confirmed all parts.
    this.#written = null;
    this.#token = token;
    for (const batch of batchesOf(parts.filter(({ name, version }) => written.get(name) !== version))) {
      const texts = batch.flatMap(({ name, text }) => [name, text]);
      const reply = await this.#store.run(WRITE, keys, [token, last, ...texts]);
      if (reply.kind === "failed") {
        return reply;
      }
      if (typeof reply.value === "string") {
        return reply.value === "lost" ? LOST : { kind: "reply", value: reply.value };
      }
      oldest ??= last === "" ? reply.value - batch.length : null;
      last = reply.value;
      this.#number = last;
      for (const { name, version } of batch) {
        written.set(name, version);
      }
    }
    if (oldest !== null) {
      // Removes parts of an earlier configuration.
      await this.#store.run(PRUNE, keys, [token, oldest]);
    }
    this.#written = written;
    return WRITTEN;
  }
}

const WRITTEN = { kind: "reply", value: "written" } as const;
/** All parts must be written. */
const LOST = { kind: "failed", reason: "unusable", detail: "it has lost what was written before" } as const;

/** At least one batch, so that each write renews the time of the last write. */
function* batchesOf(parts: readonly Part[]) {
  let batch: (ReadPart & Pick<Part, "version">)[] = [];
  let length = 0;
  for (const { name, version, text: encode } of parts) {
    const text = encode();
    if (batch.length > 0 && length + text.length > CALL_CHARS) {
      yield batch;
      [batch, length] = [[], 0];
    }
    batch.push({ name, version, text });
    length += text.length;
  }
  yield batch;
}

// Parts are in a hash, each with a number in a sorted set that has the order of their changes, so that a reader can ask for the
// changes since its last read. The hash's field '#' has the last number, the time of the write and the token. If one of the
// keys has a value of another type, the leader removes both and writes all of its parts again.

/**
 * Writes parts, if the token is still the newest. KEYS: the lease, the hash, the order. ARGV: the token, the number of the last
 * write or '' to begin, then names and texts. Returns the number of the last part, 'fenced', or 'lost' where the store no
 * longer has what was written before.
 *
 * Numbers continue from the store's clock, so they rise even after the store has lost its memory.
 */
export const WRITE = storeScript(
  `${FENCE}
local head = redis.pcall('HGET', KEYS[2], '#')
local last = type(head) == 'string' and string.match(head, '^%d+') or '0'
local newest = redis.pcall('ZRANGEBYSCORE', KEYS[3], last, '+inf', 'LIMIT', 0, 1)
-- Numbers of the store's clock have 13 digits; one of 15 could not rise any more.
if type(head) == 'table' or newest.err or #last > 14 then
  remove(KEYS[2])
  remove(KEYS[3])
  return redis.error_reply('ERR the parts were unusable and have been removed')
end
if ARGV[2] ~= '' and not (last == ARGV[2] and newest[1]) then return 'lost' end
local number = ARGV[2] == '' and math.max(now, last + 1) or tonumber(last)
for index = 3, #ARGV, 2 do
  number = number + 1
  redis.call('HSET', KEYS[2], ARGV[index], ARGV[index + 1])
  redis.call('ZADD', KEYS[3], text(number), ARGV[index])
end
redis.call('HSET', KEYS[2], '#', table.concat({ text(number), text(now), ARGV[1] }, ' '))
return text(number)
`,
  z.union([z.enum(["fenced", "lost"]), Whole]),
);

/** Removes parts that were not written since a number. KEYS as above. ARGV: the token, a number. */
export const PRUNE = storeScript(
  `${FENCE}
local names = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ARGV[2])
for _, name in ipairs(names) do
  redis.call('HDEL', KEYS[2], name)
  redis.call('ZREM', KEYS[3], name)
end
return #names
`,
  z.union([z.literal("fenced"), Whole]),
);

/** One call reads whole parts until it has more than this number of bytes. */
const READ_BYTES = 1_048_576;

const Page = z.union([
  z.tuple([]).transform(() => ({ number: 0, token: null, reached: 0, parts: [], ageMs: null })),
  z
    .tuple([Whole, z.string().regex(/^\d{1,15} \d{1,15} \d{1,15}$/), Whole], z.string())
    .transform(([nowMs, head, reached, ...texts]) => {
      const [number = 0, writtenAtMs = 0, token] = head.split(" ").map(Number);
      const parts = texts.flatMap((name, index) =>
        index % 2 === 0 ? [{ name, text: texts[index + 1] ?? "" }] : [],
      );
      return { number, token, reached, parts, ageMs: Math.max(0, nowMs - writtenAtMs) };
    }),
]);

/**
 * Reads parts. KEYS: the hash, the order. ARGV: the number of the last part read, or '0'. Returns the store's time, the field
 * '#', the number reached, then names and texts; or nothing if there are no parts.
 */
export const READ = storeScript(
  `
local head = redis.call('HGET', KEYS[1], '#')
local last = head and string.match(head, '^%d+')
local newest = redis.call('ZRANGEBYSCORE', KEYS[2], last or '-inf', '+inf', 'LIMIT', 0, 1)[1]
if not head and not newest then return {} end
if not (last and newest) then return redis.error_reply('ERR the parts are unusable: some are missing') end
local is_known = ARGV[1] ~= '0' and tonumber(ARGV[1]) <= tonumber(last)
local names = redis.call('ZRANGEBYSCORE', KEYS[2], is_known and '(' .. ARGV[1] or '-inf', '+inf', 'WITHSCORES')
local reply, bytes = { text(now), head, last }, 0
for index = 1, #names, 2 do
  if bytes > ${READ_BYTES} then break end
  local value = redis.call('HGET', KEYS[1], names[index]) or ''
  bytes = bytes + #value
  reply[3] = names[index + 1]
  reply[#reply + 1] = names[index]
  reply[#reply + 1] = value
end
return reply
`,
  Page,
);
