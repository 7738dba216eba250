import { storeScript } from "./store-script.ts";

// One hash an account. Its fields:
//   s:END:NAME, o:END:NAME  scheduled and opportunistic requests that NAME has drawn in the span that ends at END
//   born                    when the hash was made, by which a store that has lost its memory is recognised
//   holder, hold            who has drawn in advance, and how many of these are not used
//   holdSpent, holdUntil    how many of all that it ever drew in advance the holder has used; when its right to them is surely over
//   refused, until, named, delay, probe   the back-off, as in BackOff; `named` is empty where the provider named no time
// Times are unix milliseconds by the store's clock.

/** The hash of the leader's lease, whose `token` a leader must have to draw. */
export const LEASE_KEY = "lease";
/** A request counts so much longer than its window, for a server that takes over with another clock. */
export const SLACK_MS = 60_000;
/** In a hash that was just made nothing is drawn: processes that know what was drawn before have this time to say so. */
export const QUIET_MS = 5_000;
/** What was drawn in advance may be used for so long after the last contact with the store. */
export const ALLOWANCE_MS = 300_000;
/** Longer than clocks differ, and than a request takes to be sent. */
const ALLOWANCE_MARGIN_MS = 90_000;
const PROBE_MS = 60_000;
const DAY_MS = 86_400_000;

const CLOCK = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
`;

/**
 * Draws one request, or none (use '-'), and settles what was drawn in advance.
 *
 * KEYS: the account, the lease. ARGV: the leader's token ('' draws without), use ('s', 'o', '-'), the name to count under, the id
 * of this process, limit, reserve, window, span, how many of its advance it has ever used, how many of these are booked as far as
 * it knows, how many it wants in advance, and `born` as it knows it ('' where it knows nothing).
 *
 * Returns: `granted`, `refused`, `backing_off`, `quiet`, `fenced`, `lost` or `seen`; the time; what is left of the advance of this
 * process, and `holdSpent`; the fields of the hash.
 */
export const DRAW = storeScript(`${CLOCK}
local key, token, use, who, me = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local limit, reserve, window, span = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local spent, heard, target, known = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), ARGV[12]
if token ~= '' and redis.call('HGET', KEYS[2], 'token') ~= token then return { 'fenced', text(now), 0, text(spent), {} } end

local field = {}
local drawn = { s = 0, o = 0 }
local flat = redis.call('HGETALL', key)
for i = 1, #flat, 2 do
  local kind, ends = string.match(flat[i], '^([so]):(%d+):')
  if not kind then
    field[flat[i]] = flat[i + 1]
  elseif ends + window + ${SLACK_MS} > now then
    drawn[kind] = drawn[kind] + flat[i + 1]
  else
    redis.call('HDEL', key, flat[i])
  end
end
if not field.born then
  field.born = text(now)
  redis.call('HSET', key, 'born', field.born)
end
redis.call('PEXPIRE', key, text(window + ${2 * DAY_MS}))

local holder, hold = field.holder or '', tonumber(field.hold or 0)
local booked, until_ms = tonumber(field.holdSpent or 0), tonumber(field.holdUntil or 0)
local function add(kind, count)
  if count <= 0 then return end
  local ends = text((math.floor(now / span) + 1) * span)
  redis.call('HINCRBY', key, kind .. ':' .. ends .. ':' .. who, count)
  drawn[kind] = drawn[kind] + count
end
local function reply(status)
  return { status, text(now), holder == me and text(hold) or '0', holder == me and text(booked) or text(spent), redis.call('HGETALL', key) }
end
if known ~= '' and known ~= field.born then return reply('lost') end

if holder == me then
  local used = math.min(hold, math.max(0, spent - booked))
  add('s', used)
  -- After a loss of memory 'hold' may be what another process knew before it was drawn on.
  hold = math.min(hold - used, target, math.max(0, limit - drawn.s - drawn.o))
  booked = math.max(booked, spent)
else
  add('s', spent - heard)
  if holder ~= '' and now > until_ms then
    add('s', hold)
    holder, hold = '', 0
  end
end
local status = use == '-' and 'seen' or 'refused'
local free = limit - drawn.s - drawn.o - hold
if now < field.born + ${QUIET_MS} then
  status = 'quiet'
elseif use ~= '-' and now < tonumber(field['until'] or 0) then
  status = 'backing_off'
else
  if use == 's' and free >= 1 then
    add('s', 1)
    status = 'granted'
  elseif use == 's' and holder == me and hold >= 1 then
    hold = hold - 1
    add('s', 1)
    status = 'granted'
  elseif use == 'o' and math.max(drawn.s + hold, reserve) + drawn.o + 1 <= limit then
    add('o', 1)
    status = 'granted'
  end
  if status == 'granted' and (field.probe or 'none') ~= 'none' then
    redis.call('HSET', key, 'until', text(now + ${PROBE_MS}), 'probe', 'sent')
  end
  local more = math.min(target - hold, limit - drawn.s - drawn.o - hold)
  if more > 0 and (holder == me or holder == '') then
    holder, hold, booked = me, hold + more, spent
  end
end
if holder == me and target == 0 then holder = '' end
if holder == me then until_ms = now + ${ALLOWANCE_MS + ALLOWANCE_MARGIN_MS} end
redis.call('HSET', key, 'holder', holder, 'hold', text(hold), 'holdSpent', text(booked), 'holdUntil', text(until_ms))
return reply(status)
`);

/**
 * Tells a store what this process knows was drawn: the higher count of each field stays, and who has drawn in advance if the store
 * knows of nobody. KEYS: the account. ARGV: `holder`, `hold`, `holdSpent` and `holdUntil`, then fields and counts in turn. Returns
 * `born`.
 */
export const SEED = storeScript(`${CLOCK}
local key = KEYS[1]
redis.call('HSETNX', key, 'born', text(now))
if (redis.call('HGET', key, 'holder') or '') == '' and ARGV[1] ~= '' then
  redis.call('HSET', key, 'holder', ARGV[1], 'hold', ARGV[2], 'holdSpent', ARGV[3], 'holdUntil', ARGV[4])
end
for i = 5, #ARGV, 2 do
  if tonumber(redis.call('HGET', key, ARGV[i]) or 0) < tonumber(ARGV[i + 1]) then
    redis.call('HSET', key, ARGV[i], ARGV[i + 1])
  end
end
return redis.call('HGET', key, 'born')
`);

/**
 * Replaces the back-off if it still is the one that the new one was made from. KEYS: the account. ARGV: `until` and `probe` of the
 * old one; `refused`, `until`, `named`, `delay` and `probe` of the new one. Returns whether it did (1 or 0).
 */
export const BACK_OFF = storeScript(`
local key = KEYS[1]
local ends, probe = unpack(redis.call('HMGET', key, 'until', 'probe'))
if (ends or '0') ~= ARGV[1] or (probe or 'none') ~= ARGV[2] then return 0 end
redis.call('HSET', key, 'refused', ARGV[3], 'until', ARGV[4], 'named', ARGV[5], 'delay', ARGV[6], 'probe', ARGV[7])
return 1
`);
