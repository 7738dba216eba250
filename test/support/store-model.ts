import type { ScriptRunner } from "../../src/io/store/redis-store.ts";
import type { StoreReply, StoreScript } from "../../src/io/store/store-script.ts";
import { CLAIM, RELEASE } from "../../src/leader/lease-scripts.ts";
import { PRUNE, READ, WRITE } from "../../src/replica/parts.ts";

type Arguments = readonly (string | number)[];

const GRACE_MS = 3_000;

/**
 * The scripts of the store again, in TypeScript, on a store in memory with a clock of its own. test/e2e/shared-budget.test.ts
 * repeats the calls of a random life on a real Redis, with the clock of the model, and compares each reply.
 */
export class StoreModel implements ScriptRunner {
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
    const value = SCRIPTS[script.lua]?.(this.#hash(key), args.map(String), {
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

type Play = (hash: Hash, args: readonly string[], instant: Instant) => unknown;
const SCRIPTS: Readonly<Record<string, Play>> = {
  [CLAIM.lua]: claim,
  [RELEASE.lua]: release,
  [WRITE.lua]: writeParts,
  [PRUNE.lua]: pruneParts,
  [READ.lua]: readParts,
};

export function claim(lease: Hash, args: readonly string[], { nowMs }: Pick<Instant, "nowMs">): unknown {
  const [id = "", name = "", ownToken = "0", highest = "0", lengthMs = "0", asked = "", deadline = ""] = args;
  const holder = lease.get("id");
  const held = lease.get("token");
  const untilMs = Number(lease.get("until") ?? 0);
  const set = (by: string, byName: string, token: string): void => {
    const until = String(nowMs + Number(lengthMs));
    Object.entries({ id: by, name: byName, token, until }).forEach((entry) => void lease.set(...entry));
  };
  const reply = (granted: 0 | 1, token: string): unknown => {
    const leftMs = Math.max(0, Number(lease.get("until")) - nowMs);
    return [granted, token, lease.get("name"), String(leftMs), String(nowMs)];
  };
  const grant = (token: string): unknown => {
    set(id, name, token);
    return reply(1, token);
  };
  const priority = nowMs > Number(deadline) ? "last" : asked;
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
  [token = "", last = "", ...texts]: readonly string[],
  { nowMs, lease, others: [parts = new Map(), order = new Map()] }: Instant,
): unknown {
  const [known = "0"] = (parts.get("#") ?? "0").split(" ");
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
  parts.set("#", [number, nowMs, token].join(" "));
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
  const head = parts.get("#");
  if (head === undefined) {
    return [];
  }
  const [last] = head.split(" ");
  const since = Number(reached) > Number(last) ? 0 : Number(reached);
  const changed = [...order]
    .filter(([, number]) => Number(number) > since)
    .toSorted(([, one], [, other]) => Number(one) - Number(other));
  return [String(nowMs), head, last, ...changed.flatMap(([name]) => [name, parts.get(name)])];
}
