import type { BackOff } from "../../budgets/back-off.ts";
import type { Budgets } from "../../budgets/budgets.ts";
import { bucketMs, type Ledger, type Use } from "../../budgets/ledger.ts";
import { type AccountFields, backOffOf, bucketsOf, seedOf } from "./account-fields.ts";
import { BACK_OFF, DRAW, type DrawReply, LEASE_KEY, SEED } from "./budget-scripts.ts";
import type { RedisStore } from "./redis-store.ts";
import { type Drawer, SharedAccount } from "./shared-account.ts";
import type { StoreFailure } from "./store-reply.ts";

/** A request to draw; a null use draws nothing, and only looks. */
export interface Asked {
  readonly use: Use | null;
  readonly by: Drawer;
}

/** What came of it. */
export type Called = { readonly kind: "reply"; readonly reply: DrawReply } | StoreFailure;

export interface SharedLedgerOptions {
  readonly store: Pick<RedisStore, "run">;
  /** What this process knows of the accounts; the store decides. */
  readonly budgets: Budgets;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

const MOST_ATTEMPTS = 3;

/** The accounts in the store as this process sees them, and what it says to the store. */
export class SharedLedger {
  readonly #options: SharedLedgerOptions;
  readonly #accounts = new Map<string, SharedAccount>();
  /** By the account's id, the back-off that the store does not have yet. */
  readonly #unsentBackOffs = new Map<string, BackOff>();
  readonly #sending = new Set<string>();
  /** What is to be added to accounts before anything is drawn from them. */
  readonly #carried = new Map<string, AccountFields>();
  /** The store's clock minus the monotonic one. */
  #offsetMs: number;

  constructor(options: SharedLedgerOptions) {
    this.#options = options;
    this.#offsetMs = options.nowMs() - options.monotonicMs();
  }

  /** Unix milliseconds by the store's clock, as far as it is known. */
  nowMs(): number {
    return Math.round(this.#offsetMs + this.#options.monotonicMs());
  }

  /** What is known of an account, if it was ever asked for. */
  account(id: string): SharedAccount {
    const known = this.#accounts.get(id);
    const account = known ?? new SharedAccount();
    if (known === undefined) {
      this.#accounts.set(id, account);
    }
    return account;
  }

  /** Every account that was asked for, of earlier configurations too. */
  ids(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  /** Adds what was counted before there was a store, before anything is drawn. Adding it again changes nothing. */
  carryOver(spent: ReadonlyMap<string, AccountFields>): void {
    for (const [id, fields] of spent) {
      this.#carried.set(id, fields);
      // Sent where it is newer than the store's, with the first reply.
      this.#unsentBackOffs.set(id, backOffOf(fields));
    }
  }

  /** Draws from an account. Where the store has lost its memory, it is told first what is known. */
  async draw(id: string, asked: Asked): Promise<Called> {
    const ledger = this.#options.budgets.accounts().get(id)?.ledger;
    if (ledger === undefined) {
      return UNKNOWN_BUDGET;
    }
    const carried = this.#carried.get(id);
    const called = carried === undefined ? await this.#call(id, asked) : LOST;
    if (called.kind === "failed" || called.reply.status !== "lost") {
      return called;
    }
    const account = this.account(id);
    const known = [...windowOf(ledger), ...seedOf(carried ?? account.fields)];
    const seeded = await this.#options.store.run(SEED, [keyOf(id)], known);
    if (seeded.kind === "failed") {
      return seeded;
    }
    if (carried === undefined) {
      account.noteSeeded(seeded.value);
    } else {
      this.#carried.delete(id);
    }
    return await this.#call(id, asked);
  }

  /** Tells the store of the back-off that this process has noted for an account. */
  sendBackOff(id: string, by: Drawer): void {
    const account = this.#options.budgets.accounts().get(id);
    if (account !== undefined) {
      this.#unsentBackOffs.set(id, account.ledger.backOff);
      void this.#replaceBackOff(id, by);
    }
  }

  async #call(id: string, { use, by }: Asked): Promise<Called> {
    const { store, budgets, monotonicMs } = this.#options;
    const found = budgets.accounts().get(id);
    if (found === undefined) {
      return UNKNOWN_BUDGET;
    }
    const account = this.account(id);
    const sentMs = monotonicMs();
    const called = await store.run(DRAW, [keyOf(id), LEASE_KEY], account.drawArguments(found, use, by));
    if (called.kind === "failed") {
      return called;
    }
    const reply = called.value;
    this.#offsetMs = reply.storeMs - (sentMs + monotonicMs()) / 2;
    if (reply.status !== "fenced" && reply.status !== "lost") {
      account.note(reply, sentMs);
      this.#adopt(id, reply, by);
    }
    return { kind: "reply", reply };
  }

  #adopt(id: string, { fields, storeMs }: DrawReply, by: Drawer): void {
    const { budgets } = this.#options;
    const ledger = budgets.accounts().get(id)?.ledger;
    if (ledger === undefined) {
      return;
    }
    const spanMs = bucketMs(ledger.windowMs);
    const nowEndMs = (Math.floor(storeMs / spanMs) + 1) * spanMs;
    const stored = backOffOf(fields);
    const unsent = this.#unsentBackOffs.get(id);
    const isOurs = unsent !== undefined && isNewer(unsent, stored);
    budgets.adopt(id, { buckets: bucketsOf(fields, nowEndMs), backOff: isOurs ? unsent : stored });
    if (isOurs) {
      void this.#replaceBackOff(id, by);
    }
  }

  /** Where another process was faster, the newer back-off stays. A failure leaves it for the next contact. */
  async #replaceBackOff(id: string, by: Drawer): Promise<void> {
    if (this.#sending.has(id)) {
      return;
    }
    this.#sending.add(id);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const wanted = this.#unsentBackOffs.get(id);
      const stored = backOffOf(this.account(id).fields);
      if (wanted === undefined || !isNewer(wanted, stored)) {
        this.#unsentBackOffs.delete(id);
        break;
      }
      const called = await this.#options.store.run(BACK_OFF, [keyOf(id)], backOffArguments(stored, wanted));
      if (called.kind === "failed" || (await this.#call(id, { use: null, by })).kind === "failed") {
        break;
      }
    }
    this.#sending.delete(id);
  }
}

const LOST: Called = {
  kind: "reply",
  reply: { status: "lost", storeMs: 0, hold: 0, booked: 0, fields: new Map() },
};

const UNKNOWN_BUDGET: StoreFailure = {
  kind: "failed",
  reason: "refused",
  detail: "the configuration no longer has its budget",
};

function windowOf({ limit, windowMs }: Ledger): readonly number[] {
  return [limit, windowMs, bucketMs(windowMs)];
}

function keyOf(id: string): string {
  return `budget:${id}`;
}

function backOffArguments(stored: BackOff, wanted: BackOff): readonly (string | number)[] {
  const { refusedAtMs, untilMs, namedMs, delayMs, probe } = wanted;
  return [stored.untilMs, stored.probe, refusedAtMs, untilMs, namedMs ?? "", delayMs, probe];
}

/** Whether it came later: of another refusal, of the answer to a probe, or of a start that allows a probe earlier. */
function isNewer(one: BackOff, other: BackOff): boolean {
  if (one.refusedAtMs !== other.refusedAtMs) {
    return one.refusedAtMs > other.refusedAtMs;
  }
  const isEnd = one.probe === "none" && other.probe === "sent";
  return isEnd || (one.probe === "due" && other.probe === "due" && one.untilMs < other.untilMs);
}
