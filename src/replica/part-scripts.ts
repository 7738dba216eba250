import { storeScript } from "../io/store/store-script.ts";
import { FENCE } from "../leader/lease-scripts.ts";

// Parts are kept in a hash, each with a number in a sorted set that says in which order they changed, so that a reader asks
// for what has changed since. The field '#' of both holds the last number: where they differ, the store has lost something.

const CLOCK = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
`;

/**
 * Writes parts, if the token is still the newest. KEYS: the lease, the hash, the order. ARGV: the token, the number of the last
 * write or '' to begin, the writer's clock in Unix milliseconds, the version of the format, then names and texts. Returns the number
 * of the last part, 'fenced', or 'lost' where the store no longer has what was written before.
 *
 * Numbers go on from the store's clock, so that they rise even where the store has lost its memory.
 */
export const WRITE = storeScript(`${FENCE}${CLOCK}
local last = redis.call('HGET', KEYS[2], '#') or '0'
local ordered = redis.call('ZSCORE', KEYS[3], '#') or '0'
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
`);

/** Removes the parts that were not written since. KEYS as above. ARGV: the token, a number. */
export const PRUNE = storeScript(`${FENCE}
local names = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', ARGV[2], 'LIMIT', 0, 1000)
for _, name in ipairs(names) do
  redis.call('HDEL', KEYS[2], name)
  redis.call('ZREM', KEYS[3], name)
end
return #names
`);

/** So many bytes are read at once; one part is read however long it is. */
const READ_BYTES = 1_048_576;

/**
 * Reads parts. KEYS: the hash, the order. ARGV: the number of the last part read, or '0'. Returns the store's time, the time of the
 * last write, how far its writer's clock was ahead, the version of the format, the number reached, whether that is all (1), then
 * names and texts; or nothing where there is nothing.
 */
export const READ = storeScript(`${CLOCK}
local head = redis.call('HMGET', KEYS[1], '#', '#at', '#ahead', '#format')
if not head[1] then return {} end
local since = tonumber(ARGV[1])
if since > tonumber(head[1]) then since = 0 end
local names = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. text(since), '+inf', 'WITHSCORES', 'LIMIT', 0, 500)
local parts, bytes, reached = {}, 0, since
for index = 1, #names, 2 do
  if bytes > ${READ_BYTES} then break end
  reached = tonumber(names[index + 1])
  local value = names[index] ~= '#' and redis.call('HGET', KEYS[1], names[index])
  if value then
    bytes = bytes + #value
    parts[#parts + 1] = names[index]
    parts[#parts + 1] = value
  end
end
local reply = { text(now), head[2], head[3], head[4], text(reached), (reached >= tonumber(head[1]) or #names == 0) and 1 or 0 }
for _, part in ipairs(parts) do reply[#reply + 1] = part end
return reply
`);
