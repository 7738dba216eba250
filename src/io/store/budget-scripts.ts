import { z } from "zod";
import { storeScript, Whole } from "./store-script.ts";

// One hash an account. Its fields:
//   s:END:NAME, o:END:NAME  scheduled and opportunistic requests that NAME has drawn in the span that ends at END
//   born                    when the hash was made, by which a store that has lost its memory is recognised
//   holder, hold            who has drawn in advance, and how many of these are not used
//   holdSpent, holdUntil    how many of all that it ever drew in advance the holder has used; when its right to them is surely over
//   refused, until, named, delay, probe   the back-off, as in BackOff; `named` is empty where the provider named no time
// Times are unix milliseconds by the store's clock. All values are whole numbers but holder, probe and `named`.
// An account with any other value is replaced: its whole limit counts as drawn under the name UNREADABLE, until a process that knew
// the account reports what was drawn. A back-off with any other value is removed.

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

/** Longer than a provider is believed beyond the end of its window, and than clocks differ. */
const HOUR_MS = 3_600_000;
const UNREADABLE = "unreadable";

const COUNT = /^[so]:\d{1,15}:/;
const NUMBERS = ["born", "hold", "holdSpent", "holdUntil", "refused", "until", "named", "delay"];

/** The fields of an account's hash, as `HGETALL` returns them: names and values in turn. */
const Fields = z.array(z.string()).transform((flat, context) => {
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < flat.length; at += 2) {
    fields.set(flat[at] ?? "", flat[at + 1] ?? "");
  }
  for (const [name, value] of fields) {
    const isNumber = COUNT.test(name) || (NUMBERS.includes(name) && !(name === "named" && value === ""));
    if (isNumber && !Whole.safeParse(value).success) {
      context.addIssue({ code: "custom", message: `${name} is not a whole number` });
    }
  }
  return fields;
});

const DrawReplySchema = z
  .tuple([
    z.enum(["granted", "refused", "backing_off", "quiet", "fenced", "lost", "seen"]),
    Whole,
    Whole,
    Whole,
    Fields,
  ])
  .transform(([status, storeMs, hold, booked, fields]) => ({ status, storeMs, hold, booked, fields }));

/** What `DRAW` returns. `storeMs`: Unix milliseconds by the store's clock. */
export type DrawReply = z.infer<typeof DrawReplySchema>;

/**
 * Reads the account into `field` and `drawn`, which is nil where it had to be replaced. Needs `key`, `limit`, `window` and `span`.
 */
const READ_ACCOUNT = `
local ends_now = text((math.floor(now / span) + 1) * span)
local function read_account()
  local field, drawn, flat = {}, { s = 0, o = 0 }, redis.pcall('HGETALL', key)
  local is_sound = not failed(flat)
  for i = 1, is_sound and #flat or 0, 2 do
    local kind, ends = string.match(flat[i], '^([so]):([^:]*):')
    local count = whole(flat[i + 1])
    if not kind then
      field[flat[i]] = flat[i + 1]
    elseif not count or not whole(ends, now + span + window) then
      is_sound = false
    elseif ends + window + ${SLACK_MS} > now then
      drawn[kind] = drawn[kind] + count
    else
      redis.call('HDEL', key, flat[i])
    end
  end
  if is_sound and #flat > 0 and not field.born then is_sound = false end
  for _, name in ipairs({ 'born', 'hold', 'holdSpent', 'holdUntil' }) do
    is_sound = is_sound and whole(field[name] or '0')
  end
  if not is_sound then
    remove(key)
    redis.call('HSET', key, 'born', text(now), 's:' .. ends_now .. ':${UNREADABLE}', text(limit))
    redis.call('PEXPIRE', key, text(window + ${2 * DAY_MS}))
    return
  end
  local named, probe = field.named or '', field.probe or 'none'
  local is_back_off = whole(field.refused or '0', now + ${HOUR_MS}) and whole(field['until'] or '0', now + window + ${HOUR_MS})
    and (named == '' or whole(named)) and whole(field.delay or '0') and (probe == 'none' or probe == 'due' or probe == 'sent')
  if not is_back_off then
    redis.call('HDEL', key, 'refused', 'until', 'named', 'delay', 'probe')
    return
  end
  return field, drawn
end
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
export const DRAW = storeScript(
  `
local key, token, use, who, me = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local limit, reserve, window, span = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local spent, heard, target, known = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), ARGV[12]
if token ~= '' and redis.pcall('HGET', KEYS[2], 'token') ~= token then return { 'fenced', text(now), 0, text(spent), {} } end

${READ_ACCOUNT}
local field, drawn = read_account()
if not field then return replaced(key) end
if not field.born then
  field.born = text(now)
  redis.call('HSET', key, 'born', field.born)
end
redis.call('PEXPIRE', key, text(window + ${2 * DAY_MS}))

local holder, hold = field.holder or '', math.min(tonumber(field.hold or 0), limit)
local booked, until_ms = tonumber(field.holdSpent or 0), tonumber(field.holdUntil or 0)
-- Nobody has used more than it says itself.
if holder == me and booked > spent then booked = 0 end
local function add(kind, count)
  if count <= 0 then return end
  redis.call('HINCRBY', key, kind .. ':' .. ends_now .. ':' .. who, count)
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
  if holder ~= '' and (now > until_ms or until_ms > now + ${ALLOWANCE_MS + ALLOWANCE_MARGIN_MS + SLACK_MS}) then
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
`,
  DrawReplySchema,
);

/**
 * Tells a store what this process knows was drawn: the higher count of each field stays, and who has drawn in advance if the store
 * knows of nobody. KEYS: the account. ARGV: limit, window, span, `born` as this process knew it ('': it did not know the account),
 * `holder`, `hold`, `holdSpent` and `holdUntil`, then fields and counts in turn. Returns `born`.
 */
export const SEED = storeScript(
  `
local key, limit, window, span = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
${READ_ACCOUNT}
if not read_account() then return replaced(key) end
redis.call('HSETNX', key, 'born', text(now))
for _, name in ipairs(ARGV[4] == '' and {} or redis.call('HGETALL', key)) do
  if string.find(name, '^s:%d+:${UNREADABLE}$') then redis.call('HDEL', key, name) end
end
if (redis.call('HGET', key, 'holder') or '') == '' and ARGV[5] ~= '' then
  redis.call('HSET', key, 'holder', ARGV[5], 'hold', ARGV[6], 'holdSpent', ARGV[7], 'holdUntil', ARGV[8])
end
for i = 9, #ARGV, 2 do
  local kind, ends, name = string.match(ARGV[i], '^([so]):(%d+):(.*)$')
  -- Drawn while the store's clock was ahead.
  local field = whole(ends, now + span + window) and ARGV[i] or kind .. ':' .. ends_now .. ':' .. name
  if tonumber(redis.call('HGET', key, field) or 0) < tonumber(ARGV[i + 1]) then
    redis.call('HSET', key, field, ARGV[i + 1])
  end
end
return redis.call('HGET', key, 'born')
`,
  Whole,
);

/**
 * Replaces the back-off if it still is the one that the new one was made from. KEYS: the account. ARGV: `until` and `probe` of the
 * old one; `refused`, `until`, `named`, `delay` and `probe` of the new one. Returns whether it did (1 or 0).
 */
export const BACK_OFF = storeScript(
  `
local key = KEYS[1]
local ends, probe = unpack(redis.call('HMGET', key, 'until', 'probe'))
if (ends or '0') ~= ARGV[1] or (probe or 'none') ~= ARGV[2] then return 0 end
redis.call('HSET', key, 'refused', ARGV[3], 'until', ARGV[4], 'named', ARGV[5], 'delay', ARGV[6], 'probe', ARGV[7])
return 1
`,
  Whole,
);
