import type { Budget } from "../core/model/fleet.ts";
import { formatNumber } from "../core/model/text.ts";
import type { BackOff } from "./back-off.ts";
import type { Grant } from "./grant.ts";
import { freeAgainMs, type Ledger, type Use, usedAt } from "./ledger.ts";

type Refused = Extract<Grant, { kind: "refused" }>;

const DAY_MS = 86_400_000;

/** The provider itself refused us: `the provider refused us at 11:08 UTC, asked again at 11:09 UTC`. */
export function refusedByProvider({ refusedAtMs, untilMs }: BackOff, nowMs: number): Refused {
  const since = clockTime(refusedAtMs, nowMs);
  const until = clockTime(untilMs, nowMs);
  const detail = `the provider refused us at ${since}, asked again at ${until}`;
  return { kind: "refused", reason: "rate_limited", detail };
}

/** Our own limit is reached: `budget studio: 3,000 of 3,000 a day used, next at 14:05 UTC`. */
export function refusedByBudget(
  { name, per }: Budget,
  ledger: Ledger,
  request: { readonly nowMs: number; readonly use: Use },
): Refused {
  const { nowMs, use } = request;
  const window = per === "hour" ? "an hour" : `a ${per}`;
  const used = `${formatNumber(usedAt(ledger, nowMs))} of ${formatNumber(ledger.limit)} ${window} used`;
  const freeMs = freeAgainMs(ledger, request);
  const next = freeMs === null ? "" : `, next at ${clockTime(freeMs, nowMs)}`;
  const kept = use === "spare" ? ", the rest is kept for the schedule" : "";
  return { kind: "refused", reason: "budget", detail: `not sent: budget ${name}: ${used}${kept}${next}` };
}

/** Nothing is sent that cannot be counted. */
export function refusedUnrecorded(why: string): Refused {
  return { kind: "refused", reason: "budget", detail: `not sent: what it spends cannot be recorded: ${why}` };
}

/** `11:08 UTC`, with the date where that is not within a day. */
function clockTime(timeMs: number, nowMs: number): string {
  const iso = new Date(timeMs).toISOString();
  const time = `${iso.slice(11, 16)} UTC`;
  return Math.abs(timeMs - nowMs) < DAY_MS ? time : `${iso.slice(0, 10)} ${time}`;
}
