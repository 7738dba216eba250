import { createHash } from "node:crypto";
import { type Budget, type Endpoint, endpointsOf, type Fleet } from "../core/model/fleet.ts";
import { groupBy } from "../core/model/group-by.ts";
import { type Load, requestsPerWindow } from "../schedule/cadence.ts";
import { askedWithin, type Ledger, startLedger, UNLIMITED } from "./ledger.ts";

const FIVE_MINUTES_MS = 300_000;

/** What a provider counts together, or refuses together: a shared budget, or the requests to one URL. */
export interface Account {
  /** It outlives the process. */
  readonly id: string;
  /** Null for endpoints without a budget. */
  readonly budget: Budget | null;
  /** The endpoints that draw on it. */
  readonly users: readonly Endpoint[];
  /** With nothing spent. */
  readonly unspent: Ledger;
  /** How many requests its schedules make in five minutes, rounded up. */
  readonly inFiveMinutes: number;
  /** A digest of where its requests go, by which a renamed budget is recognised. */
  readonly sentTo: string;
}

/**
 * Names the account that requests to `url` draw on: one for all endpoints of a shared budget, else one a URL, as it is
 * sent. The name may hold a key, and must not leave the process.
 */
export function accountIdOf({ name, scope }: Pick<Budget, "name" | "scope">, url: string): string {
  return scope === "shared" ? name : `${name} ${sentUrl(url)}`;
}

/** What the fullest account of a budget is asked for in one window. */
export function requestsOfFullestAccount(budget: Budget, users: readonly Endpoint[]): number {
  const accounts = [...groupBy(users, ({ url }) => accountIdOf(budget, url)).values()];
  return accounts.reduce((most, those) => Math.max(most, requestsPerWindow(loadsOf(those), budget.per)), 0);
}

/** Groups what draws on one account by schedule. */
export function loadsOf(users: readonly { readonly schedule: string }[]): readonly Load[] {
  const bySchedule = groupBy(users, ({ schedule }) => schedule);
  return [...bySchedule].map(([cron, those]) => ({ cron, endpoints: those.length }));
}

/**
 * The accounts of a fleet, in the order of its budgets and endpoints. Two indexers behind one URL share its account. `slackMs`: as of
 * `startLedger`.
 */
export function accountsOf(fleet: Fleet, slackMs: number): readonly Account[] {
  const usersOf = groupBy(endpointsOf(fleet), ({ budget }) => budget);
  const unlimited = groupBy(usersOf.get(null) ?? [], ({ url }) => destinationOf(url));
  const limited = fleet.budgets.flatMap((budget) => {
    const { name, scope, per } = budget;
    const byAccount = groupBy(usersOf.get(name) ?? [], ({ url }) => accountIdOf(budget, url));
    return [...byAccount.values()].map((users) => {
      const sentTo = scope === "shared" ? digestOf(originsOf(users)) : destinationOf(users[0]?.url ?? "");
      const polls = requestsPerWindow(loadsOf(users), per);
      return {
        id: scope === "shared" ? name : `${name} ${sentTo}`,
        budget,
        users,
        unspent: startLedger(budget, polls, slackMs),
        inFiveMinutes: askedWithin(FIVE_MINUTES_MS, budget, polls),
        sentTo,
      };
    });
  });
  return [
    ...limited,
    ...Array.from(unlimited, ([sentTo, users]) => ({
      id: sentTo,
      budget: null,
      users,
      unspent: UNLIMITED,
      inFiveMinutes: 0,
      sentTo,
    })),
  ];
}

function originsOf(users: readonly Endpoint[]): string {
  return [...new Set(users.map(({ url }) => new URL(sentUrl(url)).origin))].toSorted().join(" ");
}

/** The URL as it is sent: a fragment is not, and the names of this machine lead to one server. */
function sentUrl(url: string): string {
  const sent = new URL(url);
  sent.hash = "";
  sent.hostname = sent.hostname.replace(/\.$/, "");
  if (/^(localhost|\[::1\])$/.test(sent.hostname)) {
    sent.hostname = "127.0.0.1";
  }
  return sent.href;
}

/** The name of a destination on disk and in outputs, instead of its URL, which may contain a key. */
export function destinationOf(url: string): string {
  return digestOf(sentUrl(url));
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
