import { isBackingOff } from "../../budgets/back-off.ts";
import type { BudgetGate } from "../../budgets/gate.ts";
import { GRANTED, type Grant, notSent, refusedByBudget, refusedByProvider } from "../../budgets/grant.ts";
import type { Use } from "../../budgets/ledger.ts";
import type { Endpoint } from "../../core/model/fleet.ts";
import type { BudgetReport } from "../../core/model/report.ts";
import { type AccountFields, drawsOf } from "./account-fields.ts";
import { QUIET_MS } from "./budget-scripts.ts";
import type { Drawer } from "./shared-account.ts";
import { type Called, SharedLedger, type SharedLedgerOptions } from "./shared-ledger.ts";

/** By which right a process draws on budgets. */
export type DrawingRight =
  /** It holds the lease with this token. */
  | { readonly kind: "leader"; readonly token: number }
  /** It needs no lease: `check`. */
  | { readonly kind: "free" }
  /** It held the lease until the store went away: it may use what it has drawn in advance. */
  | { readonly kind: "cut_off" }
  | { readonly kind: "none" };

export interface SharedBudgetsOptions extends SharedLedgerOptions {
  /** `name` stands in reports, `id` is of this process alone. */
  readonly name: string;
  readonly id: string;
  /** Whether this process polls by schedules, and so draws in advance. */
  readonly isDaemon: boolean;
  readonly right: () => DrawingRight;
  readonly random: () => number;
}

/** With a second between two looks, and two calls of a second to tell a store what it forgot, less than `QUIET_MS`. */
const SYNC_MS = 2_000;
const MOST_AT_ONCE = 200;
const CUT_OFF: Called = { kind: "failed", reason: "away", detail: "no connection" };

/**
 * The budgets of a fleet, counted in the store by all processes that name it. Each request is drawn there before it is sent; a
 * few are drawn in advance, for the time when the store is away.
 */
export class SharedBudgets implements BudgetGate {
  readonly #options: SharedBudgetsOptions;
  readonly #ledger: SharedLedger;

  constructor(options: SharedBudgetsOptions) {
    this.#options = options;
    this.#ledger = new SharedLedger(options);
  }

  readonly acquire = async (endpoint: Endpoint, use: Use): Promise<Grant> => {
    const { budgets, right } = this.#options;
    const nowMs = this.nowMs();
    const id = budgets.accountIdOf(endpoint);
    const account = id === null ? undefined : budgets.accounts().get(id);
    if (id === null || account === undefined) {
      return budgets.acquire(endpoint, use, nowMs);
    }
    if (isBackingOff(account.ledger.backOff, nowMs)) {
      return refusedByProvider(account.ledger.backOff, nowMs);
    }
    const ofNow = right();
    if (ofNow.kind === "none") {
      return notSent("another replica leads");
    }
    const called =
      ofNow.kind === "cut_off" ? CUT_OFF : await this.#ledger.draw(id, { use, by: this.#drawer() });
    return this.#grant(called, id, use);
  };

  readonly backOff = (endpoint: Endpoint, retryAfterMs: number | null): void => {
    const { budgets, random } = this.#options;
    const nowMs = this.nowMs();
    const untilMs = retryAfterMs === null ? null : nowMs + retryAfterMs;
    budgets.backOff(endpoint, { nowMs, untilMs, random: random() });
    this.#sendBackOff(budgets.accountIdOf(endpoint));
  };

  readonly accept = (endpoint: Endpoint): void => {
    const { budgets } = this.#options;
    const id = budgets.accountIdOf(endpoint);
    const wasProbe = id !== null && budgets.accounts().get(id)?.ledger.backOff.probe === "sent";
    budgets.accept(endpoint, this.nowMs());
    if (wasProbe) {
      this.#sendBackOff(id);
    }
  };

  /** Unix milliseconds by the store's clock, as far as it is known. */
  nowMs(): number {
    return this.#ledger.nowMs();
  }

  /** One report for each account, with who has drawn how much. */
  readonly report = (): readonly BudgetReport[] => {
    const { budgets } = this.#options;
    const accounts = [...budgets.accounts()];
    const nowMs = this.nowMs();
    return budgets.report(nowMs).map((report, index) => {
      const [id = "", account] = accounts[index] ?? [];
      const windowMs = account?.ledger.windowMs ?? 0;
      return { ...report, drawn_by: drawsOf(this.#ledger.account(id).fields, { nowMs, windowMs }) };
    });
  };

  /** Adds what was counted before there was a store, before anything is drawn. Adding it again changes nothing. */
  carryOver(spent: ReadonlyMap<string, AccountFields>): void {
    this.#ledger.carryOver(spent);
  }

  /** Looks at all accounts, and where the store was empty waits until every process can have said what it knows. */
  async open(sleep: (ms: number) => Promise<unknown>): Promise<void> {
    const ids = [...this.#options.budgets.accounts().keys()];
    if (await this.#look(ids)) {
      await sleep(QUIET_MS);
      await this.#look(ids);
    }
    this.allowProbes();
  }

  /**
   * To be called each second. Looks at the accounts that it has not heard of for the longest, if that is two seconds or more: some
   * in a large fleet, and all where one has lost its memory. This also keeps what is drawn in advance.
   */
  async sync(): Promise<void> {
    const { budgets, monotonicMs, right } = this.#options;
    if (right().kind === "cut_off") {
      return;
    }
    const nowMs = monotonicMs();
    const due = [...budgets.accounts().keys()]
      .map((id) => ({ id, contactMs: this.#ledger.account(id).contactMs }))
      .filter(({ contactMs }) => nowMs - contactMs >= SYNC_MS)
      .sort((one, other) => one.contactMs - other.contactMs)
      .map(({ id }) => id);
    if (await this.#look(due.slice(0, MOST_AT_ONCE))) {
      await this.#look(due.slice(MOST_AT_ONCE));
    }
  }

  /** Each back-off that is still under way may be probed once, as after a start or a reload by a person. */
  readonly allowProbes = (): void => {
    const { budgets } = this.#options;
    const before = new Map([...budgets.accounts()].map(([id, { ledger }]) => [id, ledger.backOff]));
    budgets.allowProbes(this.nowMs());
    for (const [id, { ledger }] of budgets.accounts()) {
      if (ledger.backOff !== before.get(id)) {
        this.#sendBackOff(id);
      }
    }
  };

  /** Returns what was drawn in advance; nothing may be acquired after that. */
  async close(): Promise<void> {
    const by = { ...this.#drawer(), token: "", isPolling: false };
    await Promise.all(this.#ledger.ids().map((id) => this.#ledger.draw(id, { use: null, by })));
  }

  #grant(called: Called, id: string, use: Use): Grant {
    const account = this.#options.budgets.accounts().get(id);
    if (account === undefined) {
      return notSent("the configuration no longer has its budget");
    }
    const { ledger, budget } = account;
    const nowMs = this.nowMs();
    switch (called.kind === "failed" ? "failed" : called.reply.status) {
      case "granted":
        return GRANTED;
      case "refused":
        return refusedByBudget(budget, ledger, { nowMs, use });
      case "backing_off":
        return refusedByProvider(ledger.backOff, nowMs);
      case "fenced":
        return notSent("another replica leads");
      case "failed":
      case "quiet":
      case "lost":
      case "seen":
        return use === "scheduled" && this.#ledger.account(id).useAdvance(this.#options.monotonicMs())
          ? GRANTED
          : notSent(`budget ${budget.name}: ${whyNotDrawn(called)}`);
    }
  }

  /** Whether some account was made just now. */
  async #look(ids: readonly string[]): Promise<boolean> {
    let isNew = false;
    for (let at = 0; at < ids.length; at += MOST_AT_ONCE) {
      const by = this.#drawer();
      const called = await Promise.all(
        ids.slice(at, at + MOST_AT_ONCE).map((id) => this.#ledger.draw(id, { use: null, by })),
      );
      isNew ||= called.some((one) => one.kind === "reply" && one.reply.status === "quiet");
    }
    return isNew;
  }

  #sendBackOff(id: string | null): void {
    if (id !== null) {
      this.#ledger.sendBackOff(id, this.#drawer());
    }
  }

  #drawer(): Drawer {
    const { name, id, isDaemon } = this.#options;
    const right = this.#options.right();
    const token = right.kind === "leader" ? right.token.toString() : "";
    return { token, name, id, isPolling: isDaemon && right.kind !== "none" };
  }
}

function whyNotDrawn(called: Called): string {
  return called.kind === "failed"
    ? `the store is away (${called.detail}), and nothing drawn in advance is left`
    : "the store has just started or lost its memory; nothing is drawn for five seconds";
}
