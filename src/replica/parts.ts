import { z } from "zod";
import type { ScriptRunner } from "../io/store/redis-store.ts";
import { LEASE_KEY, storeScript, Whole } from "../io/store/store-script.ts";
import { FENCE } from "../leader/lease-scripts.ts";

/** A part of what one replica hands to the others; parts change separately. */
export interface Part {
  readonly name: string;
  /** Another one, by identity, once the part has changed. Absent: it always has. */
  readonly version?: unknown;
  readonly text: () => string;
}

/** A part as it was read from the store. */
export interface ReadPart {
  readonly name: string;
  readonly text: string;
}

/**
 * `fenced`: another replica leads by now. `lost`: the store no longer has what was written before, so that all parts must be written.
 * `failed`: the store did not answer.
 */
export type WriteResult =
  | { readonly kind: "written" | "fenced" | "lost" }
  | { readonly kind: "failed"; readonly detail: string };

/** What was read. `nothing`: nothing was written, or the store has lost it. `unusable`: the store holds something else there. */
export type PartReading =
  | {
      readonly kind: "read";
      /** What has changed since the last reading or writing, the latest last. */
      readonly parts: readonly ReadPart[];
      /** How long ago the last write was. */
      readonly ageMs: number;
    }
  | { readonly kind: "nothing" | "unusable" | "other format" | "failed" };

export interface SharedPartsOptions {
  readonly store: ScriptRunner;
  /** The name of the keys. */
  readonly key: string;
  /** The version of the format of the parts. */
  readonly format: number;
}

/** A call carries so much at once, so that it is done within its second. */
const CALL_CHARS = 524_288;

/** Parts in the store, which the leader writes and the others read. Calls are made one at a time. */
export class SharedParts {
  readonly #options: SharedPartsOptions;
  readonly #keys: readonly string[];
  /** The number of the last part read or written; 0: no part. */
  #number = 0;
  /** What the store has, by the part's name; null: unknown, so that all is written. */
  #written: Map<string, unknown> | null = null;
  /** With which this process has written last. */
  #token: number | null = null;

  constructor(options: SharedPartsOptions) {
    this.#options = options;
    this.#keys = [options.key, `${options.key}-order`];
  }

  /** Whether the next write is of everything. */
  get isWriteOfAll(): boolean {
    return this.#written === null;
  }

  /** The next write or reading is of everything. */
  startOver(): void {
    this.#number = 0;
    this.#written = null;
  }

  /** Writes what has changed since the last write, or all where that failed. A write without changes renews the time of the last one. */
  async write(parts: readonly Part[], token: number): Promise<WriteResult> {
    const { store, format } = this.#options;
    const keys = [LEASE_KEY, ...this.#keys];
    const former = this.#written;
    const written = new Map(former);
    this.#written = null;
    this.#token = token;
    let last: number | "" = former === null ? "" : this.#number;
    let oldest: number | null = null;
    const changed = parts.filter(
      ({ name, version }) => version === undefined || written.get(name) !== version,
    );
    for (const batch of batchesOf(changed)) {
      const texts = batch.flatMap(({ name, text }) => [name, text]);
      const reply = await store.run(WRITE, keys, [token, last, format, ...texts]);
      if (reply.kind === "failed" && reply.reason !== "unusable") {
        return reply;
      }
      if (reply.kind === "failed") {
        await store.run(CLEAR, keys, [token]);
        return { kind: "lost" };
      }
      if (typeof reply.value === "string") {
        return { kind: reply.value };
      }
      last = reply.value;
      oldest ??= last - batch.length;
      this.#number = last;
      for (const { name, version } of batch) {
        written.set(name, version);
      }
    }
    this.#written = written;
    if (former === null && oldest !== null) {
      // What an earlier configuration had.
      await store.run(PRUNE, keys, [token, oldest]);
    }
    return { kind: "written" };
  }

  /** Reads the parts that another process has written since; own parts are skipped, because memory is newer. */
  async read(): Promise<PartReading> {
    const { store, format } = this.#options;
    const parts: ReadPart[] = [];
    const from = this.#number;
    this.#written = null;
    for (;;) {
      const reply = await store.run(READ, this.#keys, [this.#number]);
      if (reply.kind === "failed") {
        this.#number = from;
        return { kind: reply.reason === "unusable" ? "unusable" : "failed" };
      }
      const page = reply.value;
      if (page === null) {
        return { kind: "nothing" };
      }
      if (page.format !== format) {
        return { kind: "other format" };
      }
      parts.push(...(page.token === this.#token ? [] : page.parts));
      this.#number = page.reached;
      if (page.reached >= page.number) {
        return { kind: "read", parts, ageMs: Math.max(0, page.nowMs - page.writtenAtMs) };
      }
    }
  }
}

type EncodedPart = ReadPart & Pick<Part, "version">;

/** At least one, so that the time of the last write is renewed. */
function* batchesOf(parts: readonly Part[]): Iterable<readonly EncodedPart[]> {
  let batch: EncodedPart[] = [];
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

// Parts are kept in a hash, each with a number in a sorted set that says in which order they changed, so that a reader asks
// for what has changed since. The hash's field '#' holds the last number, the time of the write, the format and the token.
// A value of another type makes a script fail; the leader then removes both keys and writes all of its parts again.

/**
 * Writes parts, if the token is still the newest. KEYS: the lease, the hash, the order. ARGV: the token, the number of the last
 * write or '' to begin, the version of the format, then names and texts. Returns the number of the last part, 'fenced', or 'lost'
 * where the store no longer has what was written before.
 *
 * Numbers go on from the store's clock, so that they rise even where the store has lost its memory.
 */
export const WRITE = storeScript(
  `${FENCE}
local last = string.match(redis.call('HGET', KEYS[2], '#') or '', '^%d+') or '0'
local newest = redis.call('ZRANGEBYSCORE', KEYS[3], last, '+inf', 'LIMIT', 0, 1)[1]
if ARGV[2] ~= '' and not (last == ARGV[2] and newest) then return 'lost' end
local number = ARGV[2] == '' and math.max(now, last + 1) or tonumber(last)
for index = 4, #ARGV, 2 do
  number = number + 1
  redis.call('HSET', KEYS[2], ARGV[index], ARGV[index + 1])
  redis.call('ZADD', KEYS[3], text(number), ARGV[index])
end
redis.call('HSET', KEYS[2], '#', table.concat({ text(number), text(now), ARGV[3], ARGV[1] }, ' '))
return text(number)
`,
  z.union([z.enum(["fenced", "lost"]), Whole]),
);

/** Removes all parts, also where a key has a value of another type. KEYS as above. ARGV: the token. */
export const CLEAR = storeScript(
  `${FENCE}
remove(KEYS[2])
remove(KEYS[3])
return 'cleared'
`,
  z.enum(["fenced", "cleared"]),
);

/** Removes the parts that were not written since. KEYS as above. ARGV: the token, a number. */
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

/** So many bytes are read at once; one part is read however long it is. */
const READ_BYTES = 1_048_576;

const Page = z.union([
  z.tuple([]).transform(() => null),
  z
    .tuple([Whole, z.string().regex(/^\d{1,15} \d{1,15} \d{1,15} \d{1,15}$/), Whole], z.string())
    .transform(([nowMs, head, reached, ...texts]) => {
      const [number = 0, writtenAtMs = 0, format, token] = head.split(" ").map(Number);
      const parts = texts.flatMap((name, index) =>
        index % 2 === 0 ? [{ name, text: texts[index + 1] ?? "" }] : [],
      );
      return { nowMs, number, writtenAtMs, format, token, reached, parts };
    }),
]);

/**
 * Reads parts. KEYS: the hash, the order. ARGV: the number of the last part read, or '0'. Returns the store's time, the field '#',
 * the number reached, then names and texts; or nothing where there is nothing.
 */
export const READ = storeScript(
  `
local head = redis.call('HGET', KEYS[1], '#')
local last = head and string.match(head, '^%d+')
local newest = redis.call('ZRANGEBYSCORE', KEYS[2], last or '-inf', '+inf', 'LIMIT', 0, 1)[1]
if not head and not newest then return {} end
if not (last and newest) then return redis.error_reply('ERR some parts are missing') end
local since = tonumber(ARGV[1]) <= tonumber(last) and ARGV[1] or '0'
local names = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. since, '+inf', 'WITHSCORES')
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
