import type { Account } from "../../budgets/accounts.ts";
import { bucketMs, type Use } from "../../budgets/ledger.ts";
import type { AccountFields } from "./account-fields.ts";
import { ALLOWANCE_MS, type DrawReply } from "./budget-scripts.ts";

/** What a process asks of an account, whatever for. */
export interface Drawer {
  /** The leader's token; empty draws without. */
  readonly token: string;
  /** The name that its requests are counted under. */
  readonly name: string;
  /** Of this process alone. */
  readonly id: string;
  /** Whether it draws in advance. */
  readonly isPolling: boolean;
}

/** What this process knows of one account in the store, and what it may use of it while the store is away. */
export class SharedAccount {
  #fields: AccountFields = new Map();
  /** Of what was drawn in advance, as the store said last. */
  #hold = 0;
  /** Of all that was ever drawn in advance, how many requests were used, and how many of them the store has counted. */
  #used = 0;
  #booked = 0;
  /** By the monotonic clock. */
  #contactMs = Number.NEGATIVE_INFINITY;

  get fields(): AccountFields {
    return this.#fields;
  }

  /** When it last heard of the store, by the monotonic clock. */
  get contactMs(): number {
    return this.#contactMs;
  }

  /** The arguments of `DRAW`. */
  drawArguments(
    { ledger, inFiveMinutes }: Account,
    use: Use | null,
    by: Drawer,
  ): readonly (string | number)[] {
    return [
      by.token,
      use === null ? "-" : USES[use],
      by.name,
      by.id,
      ledger.limit,
      ledger.reserve,
      ledger.windowMs,
      bucketMs(ledger.windowMs),
      this.#used,
      this.#booked,
      by.isPolling ? Math.min(inFiveMinutes, ledger.limit) : 0,
      this.#fields.get("born") ?? "",
    ];
  }

  /** Takes in a reply to a call that began at `sentMs` by the monotonic clock. */
  note({ fields, hold, booked }: DrawReply, sentMs: number): void {
    this.#fields = fields;
    this.#hold = hold;
    this.#booked = Math.max(this.#booked, booked);
    this.#contactMs = Math.max(this.#contactMs, sentMs);
  }

  /** The store was told what this process knows; it has a new `born`. */
  noteSeeded(born: number): void {
    this.#fields = new Map([...this.#fields, ["born", born.toString()]]);
  }

  /** Uses one request that was drawn in advance; false where none is left or its time is over. */
  useAdvance(monotonicMs: number): boolean {
    const left = this.#hold - (this.#used - this.#booked);
    if (left < 1 || monotonicMs - this.#contactMs >= ALLOWANCE_MS) {
      return false;
    }
    this.#used += 1;
    return true;
  }
}

const USES = { scheduled: "s", opportunistic: "o" } as const;
