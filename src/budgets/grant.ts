import type { Budget } from "../core/model/fleet.ts";
import { formatNumber, perWindow } from "../core/model/text.ts";
import type { BackOff } from "./back-off.ts";
import { freeAgainMs, type Ledger, type Use, usedAt } from "./ledger.ts";

/** Whether a request may be sent. */
export type Grant = { readonly kind: "granted" } | Refused;

interface Refused {
  readonly kind: "refused";
  /** `budget`: our own limit. `rate_limited`: the provider asked us to wait. */
  readonly reason: "budget" | "rate_limited";
  /** Why, and until when, for people. */
  readonly detail: string;
}

const DAY_MS = 86_400_000;

export const GRANTED: Grant = { kind: "granted" };

export function refusedByProvider(backOff: BackOff, nowMs: number): Refused {
  return { kind: "refused", reason: "rate_limited", detail: backOffText(backOff, nowMs) };
}

/** For example `rate-limited by provider at 11:08 UTC, next attempt 11:09 UTC`. */
export function backOffText({ refusedAtMs, untilMs, namedMs }: BackOff, nowMs: number): string {
  const named = namedMs === null ? "" : ` (provider named ${clockTime(namedMs, nowMs)})`;
  return `rate-limited by provider at ${clockTime(refusedAtMs, nowMs)}, next attempt ${clockTime(untilMs, nowMs)}${named}`;
}

/** For example `not sent: budget studio: 3,000 of 3,000 a day used, next at 14:05 UTC`. */
export function refusedByBudget(
  { name, per }: Budget,
  ledger: Ledger,
  request: { readonly nowMs: number; readonly use: Use },
): Refused {
  const { nowMs, use } = request;
  const window = perWindow(per);
  const used = `${formatNumber(usedAt(ledger, nowMs))} of ${formatNumber(ledger.limit)} ${window} used`;
  const freeMs = freeAgainMs(ledger, request);
  const next = freeMs === null ? "" : `, next at ${clockTime(freeMs, nowMs)}`;
  const reserved = use === "opportunistic" ? ", the rest is reserved for scheduled polls" : "";
  return { kind: "refused", reason: "budget", detail: `not sent: budget ${name}: ${used}${reserved}${next}` };
}

/** A request that cannot be recorded is not sent. */
export function refusedUnrecorded(why: string): Refused {
  return { kind: "refused", reason: "budget", detail: `not sent: cannot record budget usage: ${why}` };
}

/** `11:08 UTC`, with the date where that is not within a day. */
function clockTime(timeMs: number, nowMs: number): string {
  const iso = new Date(timeMs).toISOString();
  const time = `${iso.slice(11, 16)} UTC`;
  return Math.abs(timeMs - nowMs) < DAY_MS ? time : `${iso.slice(0, 10)} ${time}`;
}
