import { DAY_MS } from "../core/model/durations.ts";
import { failureWords } from "../core/model/failure-words.ts";
import type { Budget, Endpoint, Fleet } from "../core/model/fleet.ts";
import type { Failure } from "../core/model/observation.ts";
import type { BudgetReport } from "../core/model/report.ts";
import { formatDuration, formatNumber, perWindow } from "../core/model/text.ts";
import { type Account, accountsOf } from "./accounts.ts";
import { type BackOff, backOff, isBackingOff, type Refusal, shortened } from "./back-off.ts";
import {
  freeAgainMs,
  type Ledger,
  remainingAt,
  type Spent,
  take,
  type Use,
  usedAt,
  withCounts,
} from "./ledger.ts";
import { mergeSavedBudgets, type SavedBudgets } from "./saved-budgets.ts";

export type Grant =
  | { readonly kind: "granted" }
  /** With the reason `budget` we refuse. Otherwise the provider asked us to wait. */
  | (Failure & {
      readonly kind: "refused";
      /** How long nothing is sent; absent if the detail says it. */
      readonly waitMs?: number;
    });

const GRANTED: Grant = { kind: "granted" };
/** The longest window, plus a day. */
const LONGEST_MEMORY_MS = 32 * DAY_MS;

/**
 * The accounts of a fleet: the one place that decides whether a request may be sent.
 *
 * A daemon acquires every request to an endpoint here first, whatever its cause. `BudgetGate` then waits until the count is
 * recorded.
 */
export class Budgets {
  #accounts: readonly Account[] = [];
  #byEndpoint: ReadonlyMap<string, Account> = new Map();
  /** By the account's id, including accounts that the current fleet does not use: they may return within the same window. */
  readonly #spent = new Map<string, Spent>();
  #sequence = 0;
  /** The sequence number of the latest unrecorded change of each account, by its id. */
  readonly #changes = new Map<string, number>();
  readonly #slackMs: number;

  /** `slackMs`: as in `startLedger`. */
  constructor(fleet: Fleet, { slackMs = 0 }: { readonly slackMs?: number } = {}) {
    this.#slackMs = slackMs;
    this.reload(fleet);
  }

  /** Switches to another fleet, without forgetting what was spent. */
  reload(fleet: Fleet): void {
    this.#accounts = accountsOf(fleet, this.#slackMs);
    this.#byEndpoint = new Map(
      this.#accounts.flatMap((account) => account.users.map(({ key }) => [key, account] as const)),
    );
    this.#followRenamed();
  }

  accounts(): readonly Account[] {
    return this.#accounts;
  }

  /** Undefined if the fleet has no such endpoint. */
  accountOf({ key }: Endpoint): Account | undefined {
    return this.#byEndpoint.get(key);
  }

  ledgerOf({ id, unspent }: Account): Ledger {
    return { ...unspent, ...this.#spent.get(id) };
  }

  /** Counts one request of this endpoint, or says why it must not be sent. */
  acquire(endpoint: Endpoint, use: Use, nowMs: number): Grant {
    const account = this.accountOf(endpoint);
    if (account === undefined) {
      return endpoint.budget === null
        ? GRANTED
        : refusedByUs(`the configuration no longer has a budget ${endpoint.budget}`);
    }
    const ledger = this.ledgerOf(account);
    const taken = take(ledger, use, nowMs);
    if (taken === null) {
      const { untilMs, words } = ledger.backOff;
      return account.budget === null || isBackingOff(ledger.backOff, nowMs)
        ? { kind: "refused", reason: "rate_limited", detail: words, waitMs: untilMs - nowMs }
        : refusedByUs(usageText(account.budget, ledger, use, nowMs));
    }
    if (taken !== ledger) {
      this.#keep(account, taken);
    }
    return GRANTED;
  }

  /**
   * Begins a back-off after the provider refused this endpoint: its account grants nothing until the end. Returns the
   * milliseconds until then.
   */
  backOff(endpoint: Endpoint, refusal: Refusal): number {
    const account = this.accountOf(endpoint);
    if (account === undefined) {
      return 0;
    }
    const ledger = this.ledgerOf(account);
    const next = backOff(ledger.backOff, refusal);
    this.#keep(account, { ...ledger, backOff: next });
    return next.untilMs - refusal.nowMs;
  }

  /** Ends back-offs soon, after a start or a reload by a person. */
  shortenBackOffs(nowMs: number): void {
    for (const [id, spent] of this.#spent) {
      this.#spent.set(id, { ...spent, backOff: shortened(spent.backOff, nowMs) });
    }
  }

  /** One report for each account with a budget, in the order of the fleet's budgets and endpoints. */
  report(nowMs: number): readonly BudgetReport[] {
    return this.#accounts.flatMap((account) => {
      const { budget, users } = account;
      if (budget === null) {
        return [];
      }
      const { name, scope, per, limit } = budget;
      const ledger = this.ledgerOf(account);
      return {
        budget: name,
        endpoint: scope === "shared" ? null : (users[0]?.key ?? null),
        per,
        limit,
        used: usedAt(ledger, nowMs),
        remaining: remainingAt(ledger, nowMs),
        detail: isBackingOff(ledger.backOff, nowMs) ? backOffText(ledger.backOff, nowMs) : null,
      };
    });
  }

  sequence(): number {
    return this.#sequence;
  }

  /** The counts that must outlive the process. `after`: only accounts that changed after this sequence number. */
  save(nowMs: number, after: number | null = null): SavedBudgets {
    const ids =
      after === null
        ? [...this.#spent.keys()]
        : [...this.#changes].flatMap(([id, sequence]) => (sequence > after ? [id] : []));
    const accounts = ids.flatMap((id) => {
      const spent = this.#spent.get(id);
      return spent !== undefined && isWorthSaving(spent, nowMs) ? [[id, spent] as const] : [];
    });
    return { accounts: Object.fromEntries(accounts), atMs: nowMs };
  }

  forgetChanges(upTo: number): void {
    for (const [id, sequence] of this.#changes) {
      if (sequence <= upTo) {
        this.#changes.delete(id);
      }
    }
  }

  /** Replaces the counts of these accounts by the counts of another process. */
  restore({ accounts }: SavedBudgets): void {
    for (const [id, spent] of Object.entries(accounts)) {
      // Marked as changed, so that it is saved again: it may be only in the journal, which this process is about to replace.
      this.#set(id, spent);
    }
    this.#followRenamed();
  }

  /** Adds counts of another process. Adding them again changes nothing. */
  merge(saved: SavedBudgets): void {
    this.restore(mergeSavedBudgets({ accounts: Object.fromEntries(this.#spent), atMs: 0 }, saved));
  }

  /** Counts `requests` of an account as if they were all sent at `untilMs`, but at most what its limit leaves. */
  countSent(account: Account, requests: number, nowMs: number, untilMs = nowMs): void {
    if (account.budget !== null) {
      const ledger = this.ledgerOf(account);
      const sent = Math.min(requests, ledger.limit - usedAt(ledger, nowMs));
      this.#keep(account, sent <= 0 ? ledger : withCounts(ledger, [sent, 0], nowMs, untilMs));
    }
  }

  #keep({ id, sentTo }: Account, { buckets, backOff }: Ledger): void {
    this.#set(id, { buckets, backOff, sentTo });
  }

  #set(id: string, spent: Spent): void {
    this.#sequence += 1;
    this.#spent.set(id, spent);
    this.#changes.set(id, this.#sequence);
  }

  /** A new account takes over the counts of an unused account with the same destination: its budget was renamed. */
  #followRenamed(): void {
    const used = new Set(this.#accounts.map(({ id }) => id));
    for (const [formerId, spent] of this.#spent) {
      const renamed = used.has(formerId)
        ? undefined
        : this.#accounts.find(({ id, sentTo }) => sentTo === spent.sentTo && !this.#spent.has(id));
      if (renamed !== undefined) {
        this.#spent.delete(formerId);
        this.#set(renamed.id, spent);
      }
    }
  }
}

function isWorthSaving({ buckets, backOff }: Spent, nowMs: number): boolean {
  return isBackingOff(backOff, nowMs) || buckets.some(([endMs]) => endMs + LONGEST_MEMORY_MS > nowMs);
}

/** A refusal by us, not by the provider. */
export function refusedByUs(why: string): Grant {
  return { kind: "refused", reason: "budget", detail: `not sent: ${why}` };
}

/**
 * For example `rate-limited by the provider: "Too many requests"; paused for another 40 s`. The next request follows when an
 * endpoint is due, which may be much later.
 */
function backOffText({ untilMs, words }: BackOff, nowMs: number): string {
  return `rate-limited by the provider${words === "" ? "" : `: ${failureWords("rate_limited", words)}`}; paused for another ${formatDuration(untilMs - nowMs)}`;
}

/** For example `budget studio: 3,000 of 3,000 a day used, next at 14:05 UTC`. */
function usageText({ name, per }: Budget, ledger: Ledger, use: Use, nowMs: number): string {
  const used = `${formatNumber(usedAt(ledger, nowMs))} of ${formatNumber(ledger.limit)} ${perWindow(per)} used`;
  const reserved = use === "opportunistic" ? ", the rest is reserved for scheduled polls" : "";
  const freeMs = freeAgainMs(ledger, use, nowMs);
  return `budget ${name}: ${used}${reserved}${freeMs === null ? "" : `, next at ${clockTime(freeMs, nowMs)}`}`;
}

/** `11:08 UTC`, with the date unless it is within a day. */
function clockTime(timeMs: number, nowMs: number): string {
  const iso = new Date(timeMs).toISOString();
  const time = `${iso.slice(11, 16)} UTC`;
  return Math.abs(timeMs - nowMs) < DAY_MS ? time : `${iso.slice(0, 10)} ${time}`;
}
