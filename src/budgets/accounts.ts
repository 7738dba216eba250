import { createHash } from "node:crypto";
import { type Budget, type Endpoint, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { type Load, requestsPerWindow } from "../schedule/cadence.ts";
import { type Ledger, pollsWithin, startLedger, UNLIMITED } from "./ledger.ts";

const FIVE_MINUTES_MS = 300_000;

/** The requests that a provider counts and refuses together: all of a shared budget, or all to one URL. */
export interface Account {
  /** The id outlives the process. */
  readonly id: string;
  readonly budget: Budget | null;
  readonly users: readonly Endpoint[];
  readonly unspent: Ledger;
  /** The number of requests that the schedules of its users make in five minutes, rounded up; 0 without a budget. */
  readonly inFiveMinutes: number;
  /** A digest of where its requests go, by which a renamed budget is recognised. */
  readonly sentTo: string;
}

/** Names the account that requests to `url` draw on: one for all endpoints of a shared budget, else one per budget and URL. */
export function accountIdOf(budget: Pick<Budget, "name" | "scope"> | null, url: string): string {
  if (budget?.scope === "shared") {
    return budget.name;
  }
  return budget === null ? destinationOf(url) : `${budget.name} ${destinationOf(url)}`;
}

/** The most requests in one window that the schedules take from any account of a budget. */
export function requestsOfBusiestAccount(budget: Budget, users: readonly Endpoint[]): number {
  const accounts = [...groupBy(users, ({ url }) => accountIdOf(budget, url)).values()];
  return Math.max(0, ...accounts.map((own) => requestsPerWindow(loadsOf(own), budget.per)));
}

export function loadsOf(users: readonly { readonly schedule: string }[]): readonly Load[] {
  const bySchedule = groupBy(users, ({ schedule }) => schedule);
  return [...bySchedule].map(([cron, own]) => ({ cron, endpoints: own.length }));
}

/**
 * The accounts of a fleet, in the order of its budgets and endpoints. Indexers with the same URL and budget share an account.
 * `slackMs`: as in `startLedger`.
 */
export function accountsOf(fleet: Fleet, slackMs: number): readonly Account[] {
  const usersOf = groupBy(endpointsOf(fleet), ({ budget }) => budget);
  return [...fleet.budgets, null].flatMap((budget) => {
    const users = usersOf.get(budget?.name ?? null) ?? [];
    const byAccount = groupBy(users, ({ url }) => accountIdOf(budget, url));
    return Array.from(byAccount, ([id, own]) => accountOf(id, budget, own, slackMs));
  });
}

function accountOf(id: string, budget: Budget | null, users: readonly Endpoint[], slackMs: number): Account {
  const [{ url } = { url: "" }] = users;
  const origins = [...new Set(users.map((user) => new URL(user.url).origin))].toSorted().join(" ");
  const sentTo = budget?.scope === "shared" ? digestOf(origins) : destinationOf(url);
  if (budget === null) {
    return { id, budget, users, unspent: UNLIMITED, inFiveMinutes: 0, sentTo };
  }
  const polls = requestsPerWindow(loadsOf(users), budget.per);
  const inFiveMinutes = pollsWithin(FIVE_MINUTES_MS, budget, polls);
  return { id, budget, users, unspent: startLedger(budget, polls, slackMs), inFiveMinutes, sentTo };
}

/** The name of a destination on disk and in outputs: its URL may contain a key. */
export function destinationOf(url: string): string {
  const sent = new URL(url);
  // The fragment is not sent.
  sent.hash = "";
  return digestOf(sent.href);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest().toString("hex", 0, 16);
}
