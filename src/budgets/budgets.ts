import type { Endpoint, Fleet } from "../core/model/fleet.ts";
import type { BudgetReport } from "../core/model/report.ts";
import { type Account, openAccounts } from "./accounts.ts";
import { type BackOff, backOff, clampBackOff, isBackingOff, NO_BACK_OFF, type Refusal } from "./back-off.ts";
import { GRANTED, type Grant } from "./grant.ts";
import { block, type LedgerSnapshot, remainingAt, resumeLedger, take, type Use, usedAt } from "./ledger.ts";
import { refusedByBudget, refusedByProvider } from "./refusal.ts";
import type { SavedBudgets } from "./snapshot.ts";

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
  #purses = new Map<string, Account>();
  #purseOf: ReadonlyMap<string, string> = new Map();
  /** Of budgets and endpoints that the fleet lacks now; they may come back within the same window. */
  #dormant: ReadonlyMap<string, LedgerSnapshot> = new Map();
  /** Of endpoints without a budget. */
  #backOffs = new Map<string, BackOff>();
  #takings = 0;
  /** Purses that were drawn on since the last checkpoint that is on disk, with the number of their latest taking. */
  readonly #unsaved = new Map<string, number>();

  constructor(fleet: Fleet) {
    this.reload(fleet);
  }

  /** Goes over to another fleet. What was spent stays spent. */
  reload(fleet: Fleet): void {
    const accounts = this.#accounts();
    const { purses, purseOf } = openAccounts(fleet);
    this.#purses = new Map(purses);
    this.#purseOf = purseOf;
    this.#resume(accounts);
  }

  /** Takes one request of this endpoint, or says why it must not be sent. */
  tryTake(endpoint: Endpoint, use: Use, nowMs: number): Grant {
    if (endpoint.budget === null) {
      const former = this.#backOff(endpoint, nowMs);
      return isBackingOff(former, nowMs) ? refusedByProvider(former, nowMs) : GRANTED;
    }
    const name = this.#purseOf.get(endpoint.key) ?? "";
    const purse = this.#purses.get(name);
    if (purse === undefined) {
      const detail = `not sent: the configuration has no budget ${endpoint.budget} any more`;
      return { kind: "refused", reason: "budget", detail };
    }
    const { ledger, allowed } = take(purse.ledger, { nowMs, use });
    this.#purses.set(name, { ...purse, ledger });
    if (allowed) {
      this.#takings += 1;
      this.#unsaved.set(name, this.#takings);
      return GRANTED;
    }
    return isBackingOff(ledger.backOff, nowMs)
      ? refusedByProvider(ledger.backOff, nowMs)
      : refusedByBudget(purse.budget, ledger, { nowMs, use });
  }

  /** The provider refused this endpoint: nothing more is taken from its budget until the back-off is over. */
  refuse(endpoint: Endpoint, refusal: Omit<Refusal, "longestMs">): void {
    if (endpoint.budget === null) {
      const former = this.#backOff(endpoint, refusal.nowMs);
      this.#backOffs.set(endpoint.key, backOff(former, { ...refusal, longestMs: LONGEST_BACK_OFF_MS }));
      return;
    }
    const name = this.#purseOf.get(endpoint.key) ?? "";
    const purse = this.#purses.get(name);
    if (purse !== undefined) {
      this.#purses.set(name, { ...purse, ledger: block(purse.ledger, refusal) });
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

  /** The part of `save()` that was drawn on since the last checkpoint that is on disk: little, however large the fleet. */
  saveDrawn(nowMs: number): SavedBudgets {
    const accounts = new Map<string, LedgerSnapshot>();
    for (const name of this.#unsaved.keys()) {
      const account = this.#purses.get(name)?.ledger ?? this.#dormant.get(name);
      if (account !== undefined && isAlive(account, nowMs)) {
        accounts.set(name, { buckets: account.buckets, backOff: account.backOff });
      }
    }
    return { accounts, backOffs: new Map() };
  }

  /** To be called together with `save()`; what it returns, once that is on disk: until then `saveDrawn()` repeats it. */
  checkpoint(): () => void {
    const latest = this.#takings;
    return () => {
      for (const [name, taking] of this.#unsaved) {
        if (taking <= latest) {
          this.#unsaved.delete(name);
        }
      }
    };
  }

  /** Takes over what a former process has saved, in place of what this one knows. */
  restore(saved: SavedBudgets): void {
    this.#backOffs = new Map(saved.backOffs);
    this.#resume(saved.accounts);
    // Part of it may stand in the journal alone, which this process is about to replace.
    for (const name of saved.accounts.keys()) {
      this.#unsaved.set(name, this.#takings);
    }
  }

  #resume(accounts: ReadonlyMap<string, LedgerSnapshot>): void {
    for (const [key, purse] of this.#purses) {
      const account = accounts.get(key);
      if (account !== undefined) {
        this.#purses.set(key, { ...purse, ledger: resumeLedger(purse.ledger, account) });
      }
    }
    this.#dormant = new Map([...accounts].filter(([key]) => !this.#purses.has(key)));
  }

  #accounts(): ReadonlyMap<string, LedgerSnapshot> {
    const live = [...this.#purses].map(([key, { ledger }]): [string, LedgerSnapshot] => [
      key,
      { buckets: ledger.buckets, backOff: ledger.backOff },
    ]);
    return new Map([...this.#dormant, ...live]);
  }

  #backOff(endpoint: Endpoint, nowMs: number): BackOff {
    return clampBackOff(this.#backOffs.get(endpoint.key) ?? NO_BACK_OFF, nowMs, LONGEST_BACK_OFF_MS);
  }
}

function isAlive({ buckets, backOff: former }: LedgerSnapshot, nowMs: number): boolean {
  return isBackingOff(former, nowMs) || buckets.some(({ endMs }) => endMs + LONGEST_MEMORY_MS > nowMs);
}
