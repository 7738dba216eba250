import type { Endpoint, Fleet } from "../core/model/fleet.ts";
import { memoize } from "../core/model/memoize.ts";
import type { BudgetReport } from "../core/model/report.ts";
import { type Account, destinationOf, openAccounts } from "./accounts.ts";
import {
  allowProbe,
  type BackOff,
  backOff,
  clampBackOff,
  endProbe,
  isBackingOff,
  NO_BACK_OFF,
  type Refusal,
  startProbe,
} from "./back-off.ts";
import { backOffText, GRANTED, type Grant, refusedByBudget, refusedByProvider } from "./grant.ts";
import { block, countSent, type LedgerSnapshot, remainingAt, take, type Use, usedAt } from "./ledger.ts";
import { mergeSavedBudgets, type SavedBudgets } from "./snapshot.ts";

const DAY_MS = 86_400_000;
/** The longest window, plus a day for a clock that was wrong. */
const LONGEST_MEMORY_MS = 32 * DAY_MS;

/**
 * The accounts of a fleet: the one place that decides whether a request may be sent.
 *
 * Every request is acquired here first, whatever its cause. The caller then waits until the state file that counts it
 * is on disk, and only then sends. A crash may lose a request, but never its count.
 */
export class Budgets {
  #accounts: ReadonlyMap<string, Account> = new Map();
  #idOf: ReadonlyMap<string, string> = new Map();
  /** Accounts that the current fleet does not use; they may return within the same window. */
  #inactive: ReadonlyMap<string, LedgerSnapshot> = new Map();
  /** Of endpoints without a budget, by where they send their requests. */
  #backOffs = new Map<string, BackOff>();
  #sequence = 0;
  /** Accounts, and endpoints without a budget, that changed since the last checkpoint on disk, with the sequence number of their latest change. */
  readonly #unsaved = new Map<string, number>();

  readonly #slackMs: number;

  /** `slackMs`: each request counts so much longer than the window of its budget. */
  constructor(fleet: Fleet, { slackMs = 0 }: { readonly slackMs?: number } = {}) {
    this.#slackMs = slackMs;
    this.reload(fleet);
  }

  /** Switches to another fleet. What was spent stays spent. */
  reload(fleet: Fleet): void {
    const snapshots = this.#snapshots();
    const { accounts, idOf } = openAccounts(fleet, this.#slackMs);
    this.#accounts = accounts;
    this.#idOf = idOf;
    this.#resume(snapshots);
  }

  /** The accounts of the fleet by their ids. */
  accounts(): ReadonlyMap<string, Account> {
    return this.#accounts;
  }

  /** The id of the account that an endpoint draws on; null for one without a budget. */
  accountIdOf({ key }: Pick<Endpoint, "key">): string | null {
    return this.#idOf.get(key) ?? null;
  }

  /** Counts one request of this endpoint, or says why it must not be sent. */
  acquire(endpoint: Endpoint, use: Use, nowMs: number): Grant {
    if (endpoint.budget === null) {
      return this.#acquireUncounted(endpoint, nowMs);
    }
    const id = this.#idOf.get(endpoint.key) ?? "";
    const account = this.#accounts.get(id);
    if (account === undefined) {
      const detail = `not sent: the configuration no longer has a budget ${endpoint.budget}`;
      return { kind: "refused", reason: "budget", detail };
    }
    const { ledger, allowed } = take(account.ledger, { nowMs, use });
    account.ledger = ledger;
    if (allowed) {
      this.#noteChange(id);
      return GRANTED;
    }
    return isBackingOff(ledger.backOff, nowMs)
      ? refusedByProvider(ledger.backOff, nowMs)
      : refusedByBudget(account.budget, ledger, { nowMs, use });
  }

  /** The provider refused this endpoint: nothing more is acquired from its account until the back-off ends. */
  backOff(endpoint: Endpoint, refusal: Refusal): void {
    if (endpoint.budget === null) {
      const former = this.#backOff(endpoint, refusal.nowMs);
      this.#backOffs.set(sentTo(endpoint), backOff(former, refusal, null));
      this.#noteChange(sentTo(endpoint));
      return;
    }
    const id = this.#idOf.get(endpoint.key) ?? "";
    const account = this.#accounts.get(id);
    if (account !== undefined) {
      account.ledger = block(account.ledger, refusal);
      this.#noteChange(id);
    }
  }

  /** The provider answered this endpoint without a refusal: if that was the probe after a back-off, all may be polled. */
  accept(endpoint: Endpoint, nowMs: number): void {
    const id = this.#idOf.get(endpoint.key) ?? "";
    const account = this.#accounts.get(id);
    if (account?.ledger.backOff.probe === "sent") {
      account.ledger = { ...account.ledger, backOff: endProbe(account.ledger.backOff, nowMs) };
      this.#noteChange(id);
    }
    const former = this.#backOffs.get(sentTo(endpoint));
    if (former?.probe === "sent") {
      this.#backOffs.set(sentTo(endpoint), endProbe(former, nowMs));
    }
  }

  /** After a start or a reload by a person: each back-off that is still under way may be probed once. */
  allowProbes(nowMs: number): void {
    for (const account of this.#accounts.values()) {
      account.ledger = { ...account.ledger, backOff: allowProbe(account.ledger.backOff, nowMs) };
    }
    for (const [key, former] of this.#backOffs) {
      this.#backOffs.set(key, allowProbe(former, nowMs));
    }
  }

  /** One report for each account of the fleet, in the order of its budgets and endpoints. */
  report(nowMs: number): readonly BudgetReport[] {
    return [...this.#accounts.values()].map(({ budget, endpoint, ledger }) => ({
      budget: budget.name,
      endpoint: endpoint?.key ?? null,
      per: budget.per,
      limit: budget.limit,
      used: usedAt(ledger, nowMs),
      remaining: remainingAt(ledger, nowMs),
      detail: isBackingOff(ledger.backOff, nowMs) ? backOffText(ledger.backOff, nowMs) : null,
    }));
  }

  /** What the state file must keep; what no window counts any more is left out. */
  save(nowMs: number): SavedBudgets {
    const accounts = [...this.#snapshots()].filter(([, snapshot]) => isCounted(snapshot, nowMs));
    const backOffs = [...this.#backOffs].filter(([, former]) => isBackingOff(former, nowMs));
    return { accounts: new Map(accounts), backOffs: new Map(backOffs), atMs: nowMs };
  }

  /** Rises with each draw and each refusal. */
  sequence(): number {
    return this.#sequence;
  }

  /**
   * The part of `save()` that was drawn on or refused after this sequence number, or, for null, since the last checkpoint on disk: little,
   * however large the fleet.
   */
  saveDrawn(nowMs: number, after: number | null): SavedBudgets {
    const changed = new Set(
      [...this.#unsaved].filter(([, sequence]) => after === null || sequence > after).map(([id]) => id),
    );
    const accounts = new Map<string, LedgerSnapshot>();
    const backOffs = [...this.#backOffs].filter(
      ([key, former]) => changed.has(key) && isBackingOff(former, nowMs),
    );
    for (const id of changed) {
      const account = this.#accounts.get(id);
      const snapshot = account === undefined ? this.#inactive.get(id) : snapshotOf(account);
      if (snapshot !== undefined && isCounted(snapshot, nowMs)) {
        accounts.set(id, snapshot);
      }
    }
    return { accounts, backOffs: new Map(backOffs), atMs: nowMs };
  }

  /** Call together with `save()`, and what it returns once that is on disk; until then `saveDrawn()` repeats the draws. */
  checkpoint(): () => void {
    const latest = this.#sequence;
    return () => {
      for (const [id, sequence] of this.#unsaved) {
        if (sequence <= latest) {
          this.#unsaved.delete(id);
        }
      }
    };
  }

  /** Replaces what this process knows of these accounts by what another one has saved. */
  restore(saved: SavedBudgets): void {
    this.#backOffs = new Map([...this.#backOffs, ...saved.backOffs]);
    this.#resume(new Map([...this.#known(), ...saved.accounts]));
    // Part of it may be in the journal alone, which this process is about to replace.
    for (const id of saved.accounts.keys()) {
      this.#unsaved.set(id, this.#sequence);
    }
  }

  /** Adds what was counted elsewhere. Adding it again changes nothing. */
  merge(saved: SavedBudgets): void {
    const own = { accounts: new Map(this.#known()), backOffs: this.#backOffs, atMs: 0 };
    this.restore(mergeSavedBudgets(own, saved));
  }

  /** Counts, of each account, what its schedules ask for in five minutes as sent before `untilMs`. */
  countAdvance(untilMs: number, nowMs: number): void {
    for (const account of this.#accounts.values()) {
      account.ledger = countSent(account.ledger, account.inFiveMinutes, { nowMs, untilMs });
    }
  }

  /** Counts the whole limit of these accounts as sent by now. */
  exhaust(ids: readonly string[], nowMs: number): void {
    for (const id of ids) {
      const account = this.#accounts.get(id);
      if (account !== undefined) {
        account.ledger = countSent(account.ledger, account.ledger.limit, { nowMs });
      }
    }
  }

  #noteChange(id: string): void {
    this.#sequence += 1;
    this.#unsaved.set(id, this.#sequence);
  }

  #resume(snapshots: ReadonlyMap<string, LedgerSnapshot>): void {
    const inactive = new Map([...snapshots].filter(([id]) => !this.#accounts.has(id)));
    for (const [id, account] of this.#accounts) {
      const formerId = snapshots.has(id) ? id : renamedFrom(account, inactive);
      const snapshot = snapshots.get(formerId ?? id);
      if (snapshot !== undefined) {
        account.ledger = { ...account.ledger, buckets: snapshot.buckets, backOff: snapshot.backOff };
        this.#unsaved.set(id, this.#sequence);
        inactive.delete(formerId ?? id);
      }
    }
    this.#inactive = inactive;
  }

  #snapshots(): ReadonlyMap<string, LedgerSnapshot> {
    const active = [...this.#accounts].map(([id, account]) => [id, snapshotOf(account)] as const);
    return new Map([...this.#inactive, ...active]);
  }

  /** The accounts of which anything is known: one that is new may be another under a new name. */
  #known(): readonly (readonly [string, LedgerSnapshot])[] {
    return [...this.#snapshots()].filter(
      ([, { buckets, backOff: former }]) => buckets.length > 0 || former.refusedAtMs > 0,
    );
  }

  #acquireUncounted(endpoint: Endpoint, nowMs: number): Grant {
    const former = this.#backOff(endpoint, nowMs);
    if (isBackingOff(former, nowMs)) {
      return refusedByProvider(former, nowMs);
    }
    if (former.probe !== "none") {
      this.#backOffs.set(sentTo(endpoint), startProbe(former, nowMs));
    }
    return GRANTED;
  }

  #backOff(endpoint: Endpoint, nowMs: number): BackOff {
    return clampBackOff(this.#backOffs.get(sentTo(endpoint)) ?? NO_BACK_OFF, nowMs, null);
  }
}

const sentTo = memoize(({ url }: Endpoint): string => destinationOf(url));

/** The id of the unused account that went to the same place: its budget was renamed. */
function renamedFrom({ sentTo }: Account, inactive: ReadonlyMap<string, LedgerSnapshot>): string | undefined {
  return [...inactive].find(([, snapshot]) => snapshot.sentTo === sentTo)?.[0];
}

function snapshotOf({ ledger, sentTo }: Account): LedgerSnapshot {
  return { buckets: ledger.buckets, backOff: ledger.backOff, sentTo };
}

/** Whether some window may still count it. */
function isCounted({ buckets, backOff: former }: LedgerSnapshot, nowMs: number): boolean {
  return isBackingOff(former, nowMs) || buckets.some(({ endMs }) => endMs + LONGEST_MEMORY_MS > nowMs);
}
