import { type BackOff, NO_BACK_OFF } from "../../budgets/back-off.ts";
import type { Bucket } from "../../budgets/ledger.ts";
import { SLACK_MS } from "./budget-scripts.ts";

/** The fields of an account's hash, as the store has them. */
export type AccountFields = ReadonlyMap<string, string>;

/** Who has drawn how many requests that count now. */
export interface Draws {
  readonly name: string;
  readonly requests: number;
}

const DRAWN = /^([so]):(\d+):(.*)$/;

/** What was drawn, by span, oldest first. What is drawn in advance counts from now. */
export function bucketsOf(fields: AccountFields, nowEndMs: number): readonly Bucket[] {
  const byEnd = new Map<number, Bucket>();
  const add = (endMs: number, use: string | undefined, count: number): void => {
    const { scheduled, opportunistic } = byEnd.get(endMs) ?? { scheduled: 0, opportunistic: 0 };
    byEnd.set(endMs, {
      endMs,
      scheduled: scheduled + (use === "o" ? 0 : count),
      opportunistic: opportunistic + (use === "o" ? count : 0),
    });
  };
  for (const [name, value] of fields) {
    const [, use, endMs] = DRAWN.exec(name) ?? [];
    if (endMs !== undefined) {
      add(Number(endMs), use, Number(value));
    }
  }
  const inAdvance = Number(fields.get("hold") ?? 0);
  if (inAdvance > 0) {
    add(nowEndMs, "s", inAdvance);
  }
  return [...byEnd.values()].sort((a, b) => a.endMs - b.endMs);
}

/** Who drew how many that count at this instant, most first. */
export function drawsOf(
  fields: AccountFields,
  at: { readonly nowMs: number; readonly windowMs: number },
): readonly Draws[] {
  const byName = new Map<string, number>();
  for (const [field, value] of fields) {
    const [, , endMs, name = ""] = DRAWN.exec(field) ?? [];
    if (endMs !== undefined && Number(endMs) + at.windowMs + SLACK_MS > at.nowMs) {
      byName.set(name, (byName.get(name) ?? 0) + Number(value));
    }
  }
  return [...byName]
    .map(([name, requests]) => ({ name, requests }))
    .sort((a, b) => b.requests - a.requests || (a.name < b.name ? -1 : 1));
}

/** The back-off of an account. */
export function backOffOf(fields: AccountFields): BackOff {
  const probe = fields.get("probe");
  const named = fields.get("named") ?? "";
  return {
    ...NO_BACK_OFF,
    refusedAtMs: Number(fields.get("refused") ?? 0),
    untilMs: Number(fields.get("until") ?? 0),
    namedMs: named === "" ? null : Number(named),
    delayMs: Number(fields.get("delay") ?? 0),
    probe: probe === "due" || probe === "sent" ? probe : "none",
  };
}

/** What `backOffOf` reads; nothing where the provider never refused. */
export function backOffFields({ refusedAtMs, untilMs, namedMs, delayMs, probe }: BackOff): AccountFields {
  return refusedAtMs === 0
    ? new Map()
    : new Map([
        ["refused", refusedAtMs.toString()],
        ["until", untilMs.toString()],
        ["named", namedMs?.toString() ?? ""],
        ["delay", delayMs.toString()],
        ["probe", probe],
      ]);
}

/** The last arguments of `SEED`, for what is known. */
export function seedOf(fields: AccountFields): readonly string[] {
  const known = ["born", "holder", "hold", "holdSpent", "holdUntil"].map((name) => fields.get(name) ?? "");
  return [...known, ...[...fields].filter(([name]) => DRAWN.test(name)).flat()];
}
