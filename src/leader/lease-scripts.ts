import { z } from "zod";
import { storeScript, Whole } from "../io/store/store-script.ts";

// The hash of the lease, `LEASE_KEY`, has the `id` and `name` of its holder, its `token`, its end `until` by the store's clock
// in milliseconds, and `since`, when the holder began to lead. The hash does not expire, so a store without it has lost its memory.
// A script that only the leader may run compares the `token`: `FENCE`. A hash with an unusable value is removed, as if the store
// had lost its memory.

/** Makes a script return "fenced" unless the lease in KEYS[1] still has the token in ARGV[1]. */
export const FENCE = `
if redis.pcall('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'fenced' end
`;

/** When a store has lost its memory, all replicas wait (`CLAIM`). For this time after the wait, only the last leader may lead. */
const GRACE_MS = 3_000;

/** `until` may exceed the end of a new lease by this much, because a server with another clock may have written `until`. */
const CLOCK_DIFFERENCE_MS = 60_000;
/** Longer than the name of a host with a port. */
const LONGEST_NAME = 300;

/**
 * Asks for the lease or renews it. KEYS: the lease. ARGV: id, name, the held token ('0': none), the highest token seen, the
 * length of a lease, the priority, and the time by the store's clock until which the call may take the lease. Returns whether
 * it was granted (1 or 0), the token, the holder's name, the rest of its time and the store's time.
 *
 * A lease that has expired but was not taken over is renewed with its token. If the store has lost its memory, the holder gets
 * the lease back, and other replicas wait for one lease time, because a process may still act on a lost lease. After that,
 * for `GRACE_MS`, only the last leader may take it. New tokens start from the store's clock, so that they rise even in a store
 * that has lost its memory.
 */
export const CLAIM = storeScript(
  `
local id, name, length, priority = ARGV[1], ARGV[2], tonumber(ARGV[5]), ARGV[6]
local function whole(value, most)
  local number = value and #value <= 15 and string.find(value, '^%d+$') and tonumber(value)
  return number and number <= (most or number)
end
local found = redis.pcall('HMGET', KEYS[1], 'id', 'token', 'until', 'name', 'since')
local id_held, held, until_ms, name_held, since = unpack(found)
local is_there = id_held or held or until_ms or name_held or since
local is_sound = id_held and whole(held) and whole(until_ms, now + length + ${CLOCK_DIFFERENCE_MS}) and whole(since)
  and name_held and #name_held <= ${LONGEST_NAME}
if found.err or is_there and not is_sound then
  remove(KEYS[1])
  return redis.error_reply('ERR the lease was unusable and has been removed')
end
local function reply(granted, token)
  local lease = redis.call('HMGET', KEYS[1], 'name', 'until')
  return { granted, token, lease[1], text(math.max(0, lease[2] - now)), text(now) }
end
local function grant(token, from)
  redis.call('HSET', KEYS[1], 'id', id, 'name', name, 'token', token, 'until', text(now + length), 'since', from)
  return reply(1, token)
end
-- If the store hung and runs this call late, the last leader must still come first.
if now > tonumber(ARGV[7]) then priority = 'last' end
if id_held == id then return grant(held, since) end
local has_forgotten = not held or id_held == ''
if has_forgotten and ARGV[3] ~= '0' then return grant(ARGV[3], text(now)) end
if not held then
  redis.call('HSET', KEYS[1], 'id', '', 'name', '', 'token', '0', 'until', text(now + length), 'since', '0')
  return reply(0, '0')
end
if tonumber(until_ms) > now or priority == 'last' then return reply(0, held) end
if id_held == '' and priority ~= 'first' and until_ms + ${GRACE_MS} > now then return reply(0, held) end
return grant(text(math.max(now, held + 1, ARGV[4] + 1)), text(now))
`,
  z
    .tuple([z.literal([0, 1]), Whole, z.string(), Whole, Whole])
    .transform(([granted, token, name, leftMs, storeNowMs]) => ({
      isGranted: granted === 1,
      token,
      leader: name === "" || leftMs === 0 ? null : name,
      storeNowMs,
    })),
);

/** Gives the lease back, so that another replica can take it at once. KEYS: the lease. ARGV: the token. */
export const RELEASE = storeScript(
  `${FENCE}
redis.call('HSET', KEYS[1], 'until', '0', 'id', 'released')
return 'released'
`,
  z.enum(["released", "fenced"]),
);
