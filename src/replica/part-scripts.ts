import { z } from "zod";
import { storeScript, Whole } from "../io/store/store-script.ts";
import { FENCE } from "../leader/lease-scripts.ts";

// Parts are kept in a hash, each with a number in a sorted set that says in which order they changed, so that a reader asks
// for what has changed since. The field '#' of both holds the last number: where they differ, the store has lost something.

// Keys with an unusable value are removed: the leader then writes all of its parts again.

const REPLACE_PARTS = `
local function replace_parts(hash, order)
  remove(hash)
  remove(order)
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
redis.call('HSET', KEYS[2], '#', text(number), '#at', text(now), '#ahead', text(ARGV[3] - now), '#format', ARGV[4])
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
      [Whole, Whole, z.string().regex(/^-?\d{1,13}$/), z.string(), z.string(), z.literal([0, 1])],
      z.string(),
    )
    .transform(([storeNowMs, writtenAtMs, ahead, format, reached, isLast, ...texts]) => ({
      storeNowMs,
      writtenAtMs,
      writerAheadMs: Number(ahead),
      format,
      reached,
      isLast: isLast === 1,
      parts: texts.flatMap((name, index) =>
        index % 2 === 0 ? [{ name, text: texts[index + 1] ?? "" }] : [],
      ),
    })),
]);

/**
 * Reads parts. KEYS: the hash, the order. ARGV: the number of the last part read, or '0'. Returns the store's time, the time of the
 * last write, how far its writer's clock was ahead, the version of the format, the number reached, whether that is all (1), then
 * names and texts; or nothing where there is nothing.
 */
export const READ = storeScript(
  `${REPLACE_PARTS}
local head = redis.pcall('HMGET', KEYS[1], '#', '#at', '#ahead', '#format')
local ordered = redis.pcall('ZRANGEBYSCORE', KEYS[2], '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
if failed(head) or failed(ordered) then return replace_parts(KEYS[1], KEYS[2]) end
if not head[1] then return {} end
local last, lowest, ahead = whole(head[1]), ordered[2] or '0', head[3] or ''
local is_sound = last and whole(head[2], now + ${CLOCK_DIFFERENCE_MS}) and #ahead <= 13 and string.find(ahead, '^%-?%d+$')
if not (is_sound and head[4] and whole(lowest)) then return replace_parts(KEYS[1], KEYS[2]) end
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
local reply = { text(now), head[2], head[3], head[4], text(reached), (reached >= last or #names == 0) and 1 or 0 }
for _, part in ipairs(parts) do reply[#reply + 1] = part end
return reply
`,
  Page,
);
