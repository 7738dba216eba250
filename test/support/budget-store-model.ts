import { ALLOWANCE_MS, BACK_OFF, DRAW, QUIET_MS, SEED, SLACK_MS } from "../../src/io/store/budget-scripts.ts";
import type { StoreReply } from "../../src/io/store/store-reply.ts";
import type { StoreScript } from "../../src/io/store/store-script.ts";

type Arguments = readonly (string | number)[];

const MARGIN_MS = 90_000;
const PROBE_MS = 60_000;

/** The scripts of src/io/store/budget-scripts.ts again, in TypeScript, on a store in memory with a clock of its own. */
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
    const [key = ""] = keys;
    const run = { [DRAW.sha]: draw, [SEED.sha]: seed, [BACK_OFF.sha]: replaceBackOff }[script.sha];
    const lease = this.#hashes.get("lease")?.get("token") ?? null;
    const value = run?.(this.#hash(key), args.map(String), { nowMs: this.#nowMs(), lease });
    return { kind: "reply", value: script.reply.parse(value) };
  }

  #hash(key: string): Map<string, string> {
    const hash = this.#hashes.get(key) ?? new Map<string, string>();
    this.#hashes.set(key, hash);
    return hash;
  }
}

interface Instant {
  readonly nowMs: number;
  readonly lease: string | null;
}

// biome-ignore-start lint/complexity/noExcessiveLinesPerFunction: line by line the scripts, which are one function each
// biome-ignore-start lint/complexity/noExcessiveCognitiveComplexity: as above
function draw(hash: Map<string, string>, args: readonly string[], { nowMs, lease }: Instant): unknown {
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

function seed(hash: Map<string, string>, args: readonly string[], { nowMs }: Instant): unknown {
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

function replaceBackOff(hash: Map<string, string>, args: readonly string[]): unknown {
  if ((hash.get("until") ?? "0") !== args[0] || (hash.get("probe") ?? "none") !== args[1]) {
    return 0;
  }
  for (const [at, field] of ["refused", "until", "named", "delay", "probe"].entries()) {
    hash.set(field, args[at + 2] ?? "");
  }
  return 1;
}
