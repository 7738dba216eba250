import { z } from "zod";
import type { ScriptRunner } from "../io/store/redis-store.ts";
import { LEASE_KEY, type StoreReply, storeScript, Whole } from "../io/store/store-script.ts";
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

/** What was read. */
export type PartReading =
  | {
      readonly kind: "read";
      /** What has changed since the last reading or writing, the latest last. */
      readonly parts: readonly ReadPart[];
      /** How long ago the last write was. */
      readonly ageMs: number;
      /** How far the writer's clock was ahead of ours. */
      readonly aheadMs: number;
    }
  /** Nothing was written, or the store has lost it. */
  | { readonly kind: "nothing" }
  /** What was written had an unusable value, and is gone. */
  | { readonly kind: "unreadable" }
  | { readonly kind: "other format"; readonly format: string }
  | { readonly kind: "failed" };

export interface SharedPartsOptions {
  readonly store: ScriptRunner;
  /** The name of the keys. */
  readonly key: string;
  /** The version of the format of the parts. */
  readonly format: number;
  readonly nowMs: () => number;
  /** A part is too long to be handed over. Default: that is ignored. */
  readonly onTooLong?: (part: string, length: number) => void;
}

/** A call carries so much at once, so that it is done within its second. */
const CALL_CHARS = 524_288;
const LONGEST_PART_CHARS = 16_777_216;

/** Parts in the store, which the leader writes and the others read. Calls are made one at a time. */
export class SharedParts {
  readonly #options: SharedPartsOptions;
  readonly #keys: readonly string[];
  /** The sequence number of the last part read or written; 0: no part. */
  #number = 0;
  /** What the store has, by the part's name; null: unknown, so that all is written. */
  #written: Map<string, unknown> | null = null;
  /** With which this process has written last. */
  #token: string | null = null;

  constructor(options: SharedPartsOptions) {
    this.#options = options;
    this.#keys = [options.key, `${options.key}-order`];
  }

  /** The next write or reading is of everything. */
  startOver(): void {
    this.#number = 0;
    this.#written = null;
  }

  /**
   * Writes what has changed since the last write, or all where that failed. A write without changes renews the time of the last one. A
   * null token writes whoever leads.
   */
  async write(parts: readonly Part[], token: number | null): Promise<WriteResult> {
    const { store, format, nowMs } = this.#options;
    const keys = [LEASE_KEY, ...this.#keys];
    const former = this.#written;
    const written = new Map(former);
    this.#written = null;
    this.#token = token?.toString() ?? "";
    let last: number | "" = former === null ? "" : this.#number;
    let oldest: number | null = null;
    const hasChanged = ({ name, version }: Part): boolean =>
      version === undefined || written.get(name) !== version;
    for (const batch of this.#batches(parts.filter(hasChanged))) {
      const texts = batch.flatMap(({ name, text }) => [name, text]);
      const reply = await store.run(WRITE, keys, [this.#token, last, nowMs(), format, ...texts]);
      if (reply.kind === "failed") {
        return reply;
      }
      if (reply.value === "fenced" || reply.value === "lost") {
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
      // What an earlier configuration had; the rest of it goes at the next start.
      await store.run(PRUNE, keys, [this.#token, oldest]);
    }
    return { kind: "written" };
  }

  /**
   * Reads the parts that another process has written since; own parts are skipped, because memory is newer.
   */
  async read(): Promise<PartReading> {
    const parts: ReadPart[] = [];
    this.#written = null;
    for (;;) {
      const reply = await this.#options.store.run(READ, this.#keys, [this.#number]);
      const page = reply.kind === "reply" ? reply.value : null;
      if (page === null) {
        // Parts that were read before it are lost with this reading.
        this.#number = parts.length > 0 ? 0 : this.#number;
        return withoutPage(reply);
      }
      const { format, storeNowMs } = page;
      if (format !== String(this.#options.format)) {
        return otherFormat(format);
      }
      parts.push(...(page.token === this.#token ? [] : page.parts));
      this.#number = page.reached;
      if (page.isLast) {
        const ownAheadMs = this.#options.nowMs() - storeNowMs;
        const ageMs = Math.max(0, storeNowMs - page.writtenAtMs);
        return { kind: "read", parts, ageMs, aheadMs: page.writerAheadMs - ownAheadMs };
      }
    }
  }

  /** At least one, so that the time of the last write is renewed. */
  *#batches(parts: readonly Part[]): Iterable<readonly EncodedPart[]> {
    let batch: EncodedPart[] = [];
    let length = 0;
    for (const { name, version, text: encode } of parts) {
      const text = encode();
      if (text.length > LONGEST_PART_CHARS) {
        this.#options.onTooLong?.(name, text.length);
        continue;
      }
      if (batch.length > 0 && length + text.length > CALL_CHARS) {
        yield batch;
        [batch, length] = [[], 0];
      }
      batch.push({ name, version, text });
      length += text.length;
    }
    yield batch;
  }
}

/** Who leads must poll, whatever the store replies. */
function withoutPage(reply: StoreReply<unknown>): PartReading {
  return { kind: reply.kind === "failed" && reply.reason !== "unusable" ? "failed" : "nothing" };
}

function otherFormat(format: string): PartReading {
  return format === UNREADABLE ? { kind: "unreadable" } : { kind: "other format", format };
}

type EncodedPart = ReadPart & Pick<Part, "version">;

// Parts are kept in a hash, each with a number in a sorted set that says in which order they changed, so that a reader asks
// for what has changed since. The field '#' of both holds the last number: where they differ, the store has lost something.

const UNREADABLE = "unreadable";

/** Keys with an unusable value are emptied, and say so: the leader then writes all of its parts again. */
const REPLACE_PARTS = `
local function replace_parts(hash, order)
  remove(hash)
  remove(order)
  redis.call('HSET', hash, '#', text(now), '#at', text(now), '#ahead', '0', '#format', '${UNREADABLE}')
  redis.call('ZADD', order, text(now), '#')
  return replaced(hash .. ' and ' .. order)
end
`;

/**
 * Writes parts, if the token is still the newest. KEYS: the lease, the hash, the order. ARGV: the token, the number of the last
 * write or '' to begin, the writer's clock in Unix milliseconds, the version of the format, then names and texts. Returns the number
 * of the last part, 'fenced', or 'lost' where the store no longer has what was written before.
 *
 * Numbers go on from the store's clock, so that they rise even where the store has lost its memory.
 */
export const WRITE = storeScript(
  `${FENCE}${REPLACE_PARTS}
local last = redis.pcall('HGET', KEYS[2], '#') or '0'
local ordered = redis.pcall('ZSCORE', KEYS[3], '#') or '0'
if not whole(last) or failed(ordered) then return replace_parts(KEYS[2], KEYS[3]) end
local number
if ARGV[2] == '' then
  number = math.max(now, last + 1)
else
  if last ~= ARGV[2] or tonumber(ordered) ~= tonumber(last) then return 'lost' end
  number = tonumber(last)
end
for index = 5, #ARGV, 2 do
  number = number + 1
  redis.call('HSET', KEYS[2], ARGV[index], ARGV[index + 1])
  redis.call('ZADD', KEYS[3], text(number), ARGV[index])
end
redis.call('ZADD', KEYS[3], text(number), '#')
redis.call('HSET', KEYS[2], '#', text(number), '#at', text(now), '#ahead', text(ARGV[3] - now), '#format', ARGV[4], '#token', ARGV[1])
return text(number)
`,
  z.union([z.enum(["fenced", "lost"]), Whole]),
);

/** Removes the parts that were not written since. KEYS as above. ARGV: the token, a number. */
export const PRUNE = storeScript(
  `${FENCE}
local names = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ARGV[2], 'LIMIT', 0, 1000)
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
/** So far ahead of the store's clock a write may be, for a server that took over with another clock. */
const CLOCK_DIFFERENCE_MS = 60_000;

const Page = z.union([
  z.tuple([]).transform(() => null),
  z
    .tuple(
      [Whole, Whole, z.string().regex(/^-?\d{1,13}$/), z.string(), z.string(), Whole, z.literal([0, 1])],
      z.string(),
    )
    .transform(([storeNowMs, writtenAtMs, ahead, format, token, reached, isLast, ...texts]) => ({
      storeNowMs,
      writtenAtMs,
      writerAheadMs: Number(ahead),
      format,
      token,
      reached,
      isLast: isLast === 1,
      parts: texts.flatMap((name, index) =>
        index % 2 === 0 ? [{ name, text: texts[index + 1] ?? "" }] : [],
      ),
    })),
]);

/**
 * Reads parts. KEYS: the hash, the order. ARGV: the number of the last part read, or '0'. Returns the store's time, the time of the
 * last write, how far its writer's clock was ahead, the version of the format, its token, the number reached, whether that is all (1), then
 * names and texts; or nothing where there is nothing.
 */
export const READ = storeScript(
  `${REPLACE_PARTS}
local head = redis.pcall('HMGET', KEYS[1], '#', '#at', '#ahead', '#format', '#token')
local lowest = redis.pcall('ZRANGEBYSCORE', KEYS[2], '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
if failed(head) or failed(lowest) then return replace_parts(KEYS[1], KEYS[2]) end
if not head[1] and not lowest[1] then return {} end
local last, ordered, ahead = whole(head[1]), redis.call('ZSCORE', KEYS[2], '#'), head[3] or ''
local is_whole = last and tonumber(ordered or '0') == last and whole(lowest[2])
local is_sound = whole(head[2], now + ${CLOCK_DIFFERENCE_MS}) and #ahead <= 13 and string.find(ahead, '^%-?%d+$')
if not (is_whole and is_sound and head[4]) then return replace_parts(KEYS[1], KEYS[2]) end
local since = tonumber(ARGV[1])
if since > last then since = 0 end
local names = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. text(since), '+inf', 'WITHSCORES', 'LIMIT', 0, 500)
local parts, bytes, reached = {}, 0, since
for index = 1, #names, 2 do
  if bytes > ${READ_BYTES} then break end
  if not whole(names[index + 1], last) then return replace_parts(KEYS[1], KEYS[2]) end
  reached = tonumber(names[index + 1])
  local value = names[index] ~= '#' and redis.call('HGET', KEYS[1], names[index])
  if value then
    bytes = bytes + #value
    parts[#parts + 1] = names[index]
    parts[#parts + 1] = value
  end
end
local reply = { text(now), head[2], head[3], head[4], head[5] or '', text(reached), (reached >= last or #names == 0) and 1 or 0 }
for _, part in ipairs(parts) do reply[#reply + 1] = part end
return reply
`,
  Page,
);
