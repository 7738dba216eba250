import { ALLOWANCE_MS, BACK_OFF, DRAW, QUIET_MS, SEED, SLACK_MS } from "../../src/io/store/budget-scripts.ts";
import type { StoreReply } from "../../src/io/store/store-reply.ts";
import type { StoreScript } from "../../src/io/store/store-script.ts";
import { CLAIM, RELEASE } from "../../src/leader/lease-scripts.ts";
import { PRUNE, READ, WRITE } from "../../src/replica/part-scripts.ts";

type Arguments = readonly (string | number)[];

const MARGIN_MS = 90_000;
const PROBE_MS = 60_000;
const GRACE_MS = 3_000;

/** The scripts of the store again, in TypeScript, on a store in memory with a clock of its own. */
export class BudgetStoreModel {
  readonly #hashes = new Map<string, Map<string, string>>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Forgets everything, as a restart without persistence does. */
  async empty(): Promise<void> {
    this.#hashes.clear();
  }

  async setLease(token: number): Promise<void> {
    this.#hash("lease").set("token", token.toString());
  }

  async run<Value>(
    script: StoreScript<Value>,
    keys: readonly string[],
    args: Arguments,
  ): Promise<StoreReply<Value>> {
    const [key = "", ...others] = keys;
    const lease = this.#hashes.get("lease")?.get("token") ?? null;
    const value = SCRIPTS[script.sha]?.(this.#hash(key), args.map(String), {
      nowMs: this.#nowMs(),
      lease,
      others: others.map((other) => this.#hash(other)),
    });
    return { kind: "reply", value: script.reply.parse(value) };
  }

  #hash(key: string): Map<string, string> {
    const hash = this.#hashes.get(key) ?? new Map<string, string>();
    this.#hashes.set(key, hash);
    return hash;
  }
}

type Hash = Map<string, string>;

interface Instant {
  readonly nowMs: number;
  /** The token of the lease. */
  readonly lease: string | null;
  /** The values of the other keys. */
  readonly others: readonly Hash[];
}

const SCRIPTS: Readonly<Record<string, (hash: Hash, args: readonly string[], instant: Instant) => unknown>> =
  {
    [DRAW.sha]: draw,
    [SEED.sha]: seed,
    [BACK_OFF.sha]: replaceBackOff,
    [CLAIM.sha]: claim,
    [RELEASE.sha]: release,
    [WRITE.sha]: writeParts,
    [PRUNE.sha]: pruneParts,
    [READ.sha]: readParts,
  };

// biome-ignore-start lint/complexity/noExcessiveLinesPerFunction: line by line the scripts, which are one function each
// biome-ignore-start lint/complexity/noExcessiveCognitiveComplexity: as above
function draw(hash: Hash, args: readonly string[], { nowMs, lease }: Instant): unknown {
  const [token = "", use = "", name = "", id = ""] = args;
  const [limit = 0, reserve = 0, windowMs = 0, spanMs = 0, used = 0, heard = 0, target = 0] = args
    .slice(4)
    .map(Number);
  const known = args[11] ?? "";
  if (token !== "" && lease !== token) {
    return ["fenced", nowMs, 0, used, []];
  }
  const drawn = { s: 0, o: 0 };
  for (const [field, value] of hash) {
    const [, kind, endMs] = /^([so]):(\d+):/.exec(field) ?? [];
    if (kind !== undefined && Number(endMs) + windowMs + SLACK_MS > nowMs) {
      drawn[kind === "s" ? "s" : "o"] += Number(value);
    } else if (kind !== undefined) {
      hash.delete(field);
    }
  }
  hash.set("born", hash.get("born") ?? nowMs.toString());
  const number = (field: string): number => Number(hash.get(field) ?? 0);
  let holder = hash.get("holder") ?? "";
  let hold = Math.min(number("hold"), limit);
  let booked = holder === id && number("holdSpent") > used ? 0 : number("holdSpent");
  let untilMs = number("holdUntil");
  const reply = (status: string): unknown => {
    const own = holder === id ? [hold, booked] : [0, used];
    return [status, nowMs, ...own, [...hash].flat()];
  };
  const add = (kind: "s" | "o", count: number): void => {
    if (count > 0) {
      const field = `${kind}:${(Math.floor(nowMs / spanMs) + 1) * spanMs}:${name}`;
      hash.set(field, (number(field) + count).toString());
      drawn[kind] += count;
    }
  };
  if (known !== "" && known !== hash.get("born")) {
    return reply("lost");
  }
  if (holder === id) {
    const more = Math.min(hold, Math.max(0, used - booked));
    add("s", more);
    hold = Math.min(hold - more, target, Math.max(0, limit - drawn.s - drawn.o));
    booked = Math.max(booked, used);
  } else {
    add("s", used - heard);
    if (holder !== "" && (nowMs > untilMs || untilMs > nowMs + ALLOWANCE_MS + MARGIN_MS + SLACK_MS)) {
      add("s", hold);
      holder = "";
      hold = 0;
    }
  }
  let status = use === "-" ? "seen" : "refused";
  if (nowMs < number("born") + QUIET_MS) {
    status = "quiet";
  } else if (use !== "-" && nowMs < number("until")) {
    status = "backing_off";
  } else {
    if (use === "s" && limit - drawn.s - drawn.o - hold >= 1) {
      add("s", 1);
      status = "granted";
    } else if (use === "s" && holder === id && hold >= 1) {
      hold -= 1;
      add("s", 1);
      status = "granted";
    } else if (use === "o" && Math.max(drawn.s + hold, reserve) + drawn.o + 1 <= limit) {
      add("o", 1);
      status = "granted";
    }
    if (status === "granted" && (hash.get("probe") ?? "none") !== "none") {
      hash.set("until", (nowMs + PROBE_MS).toString()).set("probe", "sent");
    }
    const more = Math.min(target - hold, limit - drawn.s - drawn.o - hold);
    if (more > 0 && (holder === id || holder === "")) {
      holder = id;
      hold += more;
      booked = used;
    }
  }
  if (holder === id) {
    holder = target === 0 ? "" : id;
    untilMs = target === 0 ? untilMs : nowMs + ALLOWANCE_MS + MARGIN_MS;
  }
  hash.set("holder", holder).set("hold", hold.toString());
  hash.set("holdSpent", booked.toString()).set("holdUntil", untilMs.toString());
  return reply(status);
}

function seed(hash: Hash, args: readonly string[], { nowMs }: Instant): unknown {
  hash.set("born", hash.get("born") ?? nowMs.toString());
  if ((hash.get("holder") ?? "") === "" && args[4] !== "") {
    for (const [at, field] of ["holder", "hold", "holdSpent", "holdUntil"].entries()) {
      hash.set(field, args[at + 4] ?? "");
    }
  }
  for (let at = 8; at < args.length; at += 2) {
    const [field = "", count = ""] = args.slice(at, at + 2);
    if (Number(hash.get(field) ?? 0) < Number(count)) {
      hash.set(field, count);
    }
  }
  return hash.get("born");
}
// biome-ignore-end lint/complexity/noExcessiveLinesPerFunction: the end of the scripts
// biome-ignore-end lint/complexity/noExcessiveCognitiveComplexity: as above

function replaceBackOff(hash: Hash, args: readonly string[]): unknown {
  if ((hash.get("until") ?? "0") !== args[0] || (hash.get("probe") ?? "none") !== args[1]) {
    return 0;
  }
  for (const [at, field] of ["refused", "until", "named", "delay", "probe"].entries()) {
    hash.set(field, args[at + 2] ?? "");
  }
  return 1;
}

function claim(lease: Hash, args: readonly string[], { nowMs }: Instant): unknown {
  const [id = "", name = "", ownToken = "0", highest = "0", lengthMs = "0", asked = "", deadline = ""] = args;
  const holder = lease.get("id");
  const held = lease.get("token");
  const untilMs = Number(lease.get("until") ?? 0);
  const set = (by: string, byName: string, token: string): void => {
    lease
      .set("id", by)
      .set("name", byName)
      .set("token", token)
      .set("until", String(nowMs + Number(lengthMs)));
  };
  const reply = (granted: 0 | 1, token: string): unknown => {
    const leftMs = Math.max(0, Number(lease.get("until")) - nowMs);
    return [granted, token, lease.get("name"), String(leftMs), String(nowMs)];
  };
  const grant = (token: string): unknown => {
    set(id, name, token);
    return reply(1, token);
  };
  const priority = deadline !== "" && nowMs > Number(deadline) ? "last" : asked;
  if (held !== undefined && holder === id) {
    return grant(held);
  }
  if ((held === undefined || holder === "") && ownToken !== "0") {
    return grant(ownToken);
  }
  if (held === undefined) {
    set("", "", "0");
    return reply(0, "0");
  }
  const graceMs = holder === "" && priority !== "first" ? GRACE_MS : 0;
  return untilMs + graceMs > nowMs || priority === "last"
    ? reply(0, held)
    : grant(String(Math.max(nowMs, Number(held) + 1, Number(highest) + 1)));
}

function release(hash: Hash, [token]: readonly string[], { lease }: Instant): unknown {
  if (lease !== token) {
    return "fenced";
  }
  hash.set("until", "0").set("id", "released");
  return "released";
}

function writeParts(
  _lease: Hash,
  [token, last = "", clock = "", format = "", ...texts]: readonly string[],
  { nowMs, lease, others: [parts = new Map(), order = new Map()] }: Instant,
): unknown {
  const known = parts.get("#") ?? "0";
  if (lease !== token) {
    return "fenced";
  }
  if (last !== "" && last !== known) {
    return "lost";
  }
  let number = last === "" ? Math.max(nowMs, Number(known) + 1) : Number(known);
  for (let at = 0; at < texts.length; at += 2) {
    const [name = "", text = ""] = texts.slice(at, at + 2);
    number += 1;
    parts.set(name, text);
    order.set(name, String(number));
  }
  parts.set("#", String(number)).set("#at", String(nowMs)).set("#format", format);
  parts.set("#ahead", String(Number(clock) - nowMs));
  return String(number);
}

function pruneParts(
  _lease: Hash,
  [token, upTo]: readonly string[],
  { lease, others: [parts = new Map(), order = new Map()] }: Instant,
): unknown {
  if (lease !== token) {
    return "fenced";
  }
  const old = [...order].filter(([, number]) => Number(number) <= Number(upTo));
  for (const [name] of old) {
    parts.delete(name);
    order.delete(name);
  }
  return old.length;
}

function readParts(
  parts: Hash,
  [reached]: readonly string[],
  { nowMs, others: [order = new Map()] }: Instant,
): unknown {
  const last = parts.get("#");
  if (last === undefined) {
    return [];
  }
  const since = Number(reached) > Number(last) ? 0 : Number(reached);
  const changed = [...order]
    .filter(([, number]) => Number(number) > since)
    .toSorted(([, one], [, other]) => Number(one) - Number(other));
  const head = [String(nowMs), parts.get("#at"), parts.get("#ahead"), parts.get("#format"), last, 1];
  return [...head, ...changed.flatMap(([name]) => [name, parts.get(name)])];
}
