import { type Budget, type Endpoint, endpointsOf, type Fleet } from "../core/fleet.ts";
import type { BudgetReport } from "../core/report.ts";
import { type BackOff, backOff, clampBackOff, isBackingOff, NO_BACK_OFF, type Refusal } from "./back-off.ts";
import {
  type Account,
  block,
  type Ledger,
  remainingAt,
  resumeLedger,
  startLedger,
  take,
  type Use,
  usedAt,
} from "./budget.ts";
import { requestsPerWindow } from "./cadence.ts";
import type { SavedBudgets } from "./saved-budgets.ts";

interface Purse {
  readonly budget: Budget;
  /** The only one that draws on it, or null for a shared budget. */
  readonly endpoint: Endpoint | null;
  readonly ledger: Ledger;
}

const DAY_MS = 86_400_000;
/** An endpoint without a budget is left alone for no longer, whatever its provider names. */
const LONGEST_BACK_OFF_MS = DAY_MS;
/** The longest window, and a day for a clock that was wrong. */
const LONGEST_MEMORY_MS = 32 * DAY_MS;

/**
 * The ledgers of a fleet: the one place that says whether a request may be sent.
 *
 * Every request takes from it first, whatever its cause. The caller then waits until a state file that holds the
 * taking is on disk, and only then sends: so a crash may lose a request, and never its count.
 */
export class Budgets {
  #fleetBudgets: ReadonlyMap<string, Budget> = new Map();
  #purses = new Map<string, Purse>();
  /** Of budgets and endpoints that the fleet lacks now; they may come back within the same window. */
  #dormant: ReadonlyMap<string, Account> = new Map();
  /** Of endpoints without a budget. */
  #backOffs = new Map<string, BackOff>();

  constructor(fleet: Fleet) {
    this.reload(fleet);
  }

  /** Goes over to another fleet. What was spent stays spent. */
  reload(fleet: Fleet): void {
    const accounts = this.#accounts();
    this.#fleetBudgets = new Map(fleet.budgets.map((budget) => [budget.name, budget]));
    this.#purses = startPurses(fleet);
    this.#resume(accounts);
  }

  /** Takes one request of this endpoint. False: it must not be sent. */
  tryTake(endpoint: Endpoint, use: Use, nowMs: number): boolean {
    if (endpoint.budget === null) {
      return !isBackingOff(this.#backOff(endpoint, nowMs), nowMs);
    }
    const key = this.#purseKey(endpoint);
    const purse = this.#purses.get(key);
    if (purse === undefined) {
      // A request of before a reload that took its endpoint away.
      return false;
    }
    const { ledger, allowed } = take(purse.ledger, { nowMs, use });
    this.#purses.set(key, { ...purse, ledger });
    return allowed;
  }

  /** The provider refused this endpoint: nothing more is taken from its budget until the back-off is over. */
  refuse(endpoint: Endpoint, refusal: Omit<Refusal, "longestMs">): void {
    if (endpoint.budget === null) {
      const former = this.#backOff(endpoint, refusal.nowMs);
      this.#backOffs.set(endpoint.key, backOff(former, { ...refusal, longestMs: LONGEST_BACK_OFF_MS }));
      return;
    }
    const key = this.#purseKey(endpoint);
    const purse = this.#purses.get(key);
    if (purse !== undefined) {
      this.#purses.set(key, { ...purse, ledger: block(purse.ledger, refusal) });
    }
  }

  /** One report for each ledger of the fleet, in the order of its budgets and endpoints. */
  report(nowMs: number): readonly BudgetReport[] {
    return [...this.#purses.values()].map(({ budget, endpoint, ledger }) => ({
      budget,
      endpoint,
      limit: budget.limit,
      used: usedAt(ledger, nowMs),
      remaining: remainingAt(ledger, nowMs),
    }));
  }

  /** What the state file must keep; what no window counts any more is left out. */
  save(nowMs: number): SavedBudgets {
    const accounts = [...this.#accounts()].filter(([, account]) => isAlive(account, nowMs));
    const backOffs = [...this.#backOffs].filter(([, former]) => isBackingOff(former, nowMs));
    return { accounts: new Map(accounts), backOffs: new Map(backOffs) };
  }

  /** Takes over what a former process has saved, in place of what this one knows. */
  restore(saved: SavedBudgets): void {
    this.#backOffs = new Map(saved.backOffs);
    this.#resume(saved.accounts);
  }

  #resume(accounts: ReadonlyMap<string, Account>): void {
    for (const [key, purse] of this.#purses) {
      const account = accounts.get(key);
      if (account !== undefined) {
        this.#purses.set(key, { ...purse, ledger: resumeLedger(purse.ledger, account) });
      }
    }
    this.#dormant = new Map([...accounts].filter(([key]) => !this.#purses.has(key)));
  }

  #accounts(): ReadonlyMap<string, Account> {
    const live = [...this.#purses].map(([key, { ledger }]): [string, Account] => [
      key,
      { buckets: ledger.buckets, backOff: ledger.backOff },
    ]);
    return new Map([...this.#dormant, ...live]);
  }

  #purseKey(endpoint: Endpoint): string {
    const budget = this.#fleetBudgets.get(endpoint.budget ?? "");
    return budget === undefined ? "" : purseKey(budget, endpoint);
  }

  #backOff(endpoint: Endpoint, nowMs: number): BackOff {
    return clampBackOff(this.#backOffs.get(endpoint.key) ?? NO_BACK_OFF, nowMs, LONGEST_BACK_OFF_MS);
  }
}

function startPurses(fleet: Fleet): Map<string, Purse> {
  const endpoints = endpointsOf(fleet);
  const purses = fleet.budgets.flatMap((budget) => {
    const users = endpoints.filter((endpoint) => endpoint.budget === budget.name);
    return budget.scope === "shared" ? sharedPurse(budget, users) : ownPurses(budget, users);
  });
  return new Map(purses);
}

function sharedPurse(budget: Budget, users: readonly Endpoint[]): [string, Purse][] {
  const loads = schedulesOf(users).map((cron) => ({
    endpoints: users.filter(({ schedule }) => schedule === cron).length,
    cron,
  }));
  const ledger = startLedger(budget, requestsPerWindow(loads, budget.per));
  return users.length === 0 ? [] : [[budget.name, { budget, endpoint: null, ledger }]];
}

function ownPurses(budget: Budget, users: readonly Endpoint[]): [string, Purse][] {
  const ledgers = new Map(
    schedulesOf(users).map((cron) => [
      cron,
      startLedger(budget, requestsPerWindow([{ endpoints: 1, cron }], budget.per)),
    ]),
  );
  return users.flatMap((endpoint) => {
    const ledger = ledgers.get(endpoint.schedule);
    return ledger === undefined ? [] : [[purseKey(budget, endpoint), { budget, endpoint, ledger }]];
  });
}

/** Each once: what a schedule asks of a window takes a moment to work out. */
function schedulesOf(users: readonly Endpoint[]): readonly string[] {
  return [...new Set(users.map(({ schedule }) => schedule))];
}

function purseKey(budget: Budget, endpoint: Endpoint): string {
  return budget.scope === "shared" ? budget.name : `${budget.name} ${endpoint.key}`;
}

function isAlive({ buckets, backOff: former }: Account, nowMs: number): boolean {
  return isBackingOff(former, nowMs) || buckets.some(({ endMs }) => endMs + LONGEST_MEMORY_MS > nowMs);
}
