import pLimit from "p-limit";
import { z } from "zod";
import { Budgets } from "../budgets/budgets.ts";
import type { BudgetRecord } from "../budgets/gate.ts";
import { Spent, usedAt } from "../budgets/ledger.ts";
import type { SavedBudgets } from "../budgets/saved-budgets.ts";
import type { Endpoint, Fleet } from "../core/model/fleet.ts";
import { parseJson } from "../core/model/text.ts";
import { shareNext } from "../io/share-next.ts";
import type { ReadPart } from "../io/state/parts.ts";
import type { ScriptRunner } from "../io/store/redis-store.ts";
import type { Leadership } from "../leader/leadership.ts";
import { SharedParts } from "./parts.ts";

export interface SharedBudgetsOptions {
  readonly store: ScriptRunner;
  readonly fleet: Fleet;
  /** The right to count, which only the leader has. */
  readonly leadership: Pick<Leadership, "mayPoll" | "token" | "isFailing" | "storeNowMs">;
  readonly monotonicMs: () => number;
  /** Whether this process polls by schedules, and may therefore continue for a while without the store. */
  readonly isDaemon: boolean;
  /** Called with the name of a part that cannot be read. */
  readonly onInvalid: (part: string) => void;
}

/**
 * A request counts for this much longer than its window, because another server of the store may have taken over, with another
 * clock.
 */
const SLACK_MS = 60_000;
/** How long the advance lasts after the last contact with the store. */
const ADVANCE_MS = 300_000;
/** If a leader may have used its advance, the next leader has no advance for this time. */
const NO_ADVANCE_MS = ADVANCE_MS + 90_000;
const KEY = "budgets";
const ACCOUNT = "account ";
const ADVANCE = "advance";

/**
 * The advance: a right to send requests without a record. `fromMs`: the right begins at this time of the store's clock.
 * `isHeld`: a leader has the right, and has not ended in order.
 */
const AdvanceJson = z.object({ fromMs: z.number().nonnegative(), isHeld: z.boolean() });

/**
 * The budgets of a fleet in the store. The leader alone counts; before a request is sent, the changed accounts are written
 * behind the fence of its lease. All other replicas read the accounts.
 *
 * While the store is away the leader has an advance: it may send the requests of five minutes of its schedules without a
 * record. If a leader did not end in order, its successor counts these requests as sent, and has no advance for `NO_ADVANCE_MS`.
 */
export class SharedBudgets implements BudgetRecord {
  readonly budgets: Budgets;
  readonly nowMs: () => number;
  readonly #options: SharedBudgetsOptions;
  readonly #parts: SharedParts;
  /** The advance in the store, or in the next write. */
  #advance: z.infer<typeof AdvanceJson> = { fromMs: 0, isHeld: false };
  /** Whether another process wrote the advance. */
  #isForeign = false;
  /** Whether this process has read all accounts. */
  #isInformed = false;
  /** The start of the last successful write. */
  #contact = NO_CONTACT;
  /** The number of requests that may still be sent unrecorded, by the account's id. */
  readonly #left = new Map<string, number>();
  readonly #inTurn = pLimit(1);

  constructor(options: SharedBudgetsOptions) {
    const { store, leadership, fleet } = options;
    this.#options = options;
    this.budgets = new Budgets(fleet, { slackMs: SLACK_MS });
    this.nowMs = () => leadership.storeNowMs();
    this.#parts = new SharedParts(store, KEY);
  }

  readonly problem = (): string | null =>
    this.#options.leadership.mayPoll() || this.#options.leadership.isFailing() ? null : OTHER_LEADS;

  /** Callers that wait at the same time share one write. */
  readonly flush = shareNext(() => this.#record(), this.#inTurn);

  readonly touchJournal = (): void => {
    // If this write fails, the next write contains its changes.
    this.flush().catch(() => undefined);
  };

  readonly useAdvance = (endpoint: Endpoint): boolean => {
    const { leadership } = this.#options;
    const account = this.budgets.accountOf(endpoint);
    const { storeMs, monotonicMs } = this.#contact;
    const isOver = this.#options.monotonicMs() - monotonicMs >= ADVANCE_MS;
    if (account === undefined || isOver || storeMs < this.#advance.fromMs || !leadership.mayPoll()) {
      return false;
    }
    const { id, inFiveMinutes } = account;
    const ledger = this.budgets.ledgerOf(account);
    // The request itself has already been counted.
    const left = this.#left.get(id) ?? Math.min(inFiveMinutes, ledger.limit + 1 - usedAt(ledger, storeMs));
    this.#left.set(id, left - 1);
    return left >= 1;
  };

  /** Reads the changes that the leader has written since the last call. False if the store did not reply. */
  follow(): Promise<boolean> {
    return this.#inTurn(async () => {
      const reading = await this.#parts.read();
      if (reading.kind === "reply") {
        this.#learn(reading.value.parts);
      } else if (reading.reason === "unusable") {
        this.#options.onInvalid(KEY);
        this.#exhaust(this.budgets.accounts().map(({ id }) => id));
      } else {
        return false;
      }
      this.#isInformed = true;
      return true;
    });
  }

  /** Called when this process begins to lead, after it has followed. `former`: counts from before the store. */
  takeOver(former: SavedBudgets | null): void {
    const nowMs = this.nowMs();
    if (former !== null) {
      this.budgets.merge(former);
    }
    let { fromMs } = this.#advance;
    if (this.#isForeign && this.#advance.isHeld && nowMs >= fromMs - SLACK_MS) {
      for (const account of this.budgets.accounts()) {
        this.budgets.countSent(account, account.inFiveMinutes, nowMs, nowMs + ADVANCE_MS);
      }
      fromMs = nowMs + NO_ADVANCE_MS;
    }
    this.#advance = { fromMs, isHeld: this.#options.isDaemon };
    this.#isForeign = false;
    this.#contact = NO_CONTACT;
    this.#left.clear();
  }

  /** Ends in order: the next leader need not count unrecorded requests of this process. */
  async release(): Promise<void> {
    this.#advance = { ...this.#advance, isHeld: false };
    await this.flush().catch(() => undefined);
  }

  /** @throws {Error} If some counts are not in the store. */
  async #record(): Promise<void> {
    const token = this.#options.leadership.token();
    if (token === null) {
      throw new Error(this.problem() ?? "the store is unreachable");
    }
    const contact = { storeMs: this.nowMs(), monotonicMs: this.#options.monotonicMs() };
    const { accounts } = this.budgets.save(contact.storeMs);
    // The advance is written last: the advance of the former leader stays in the store until all counts are there.
    const named = [
      ...Object.entries(accounts).map(([id, spent]) => [ACCOUNT + id, spent] as const),
      [ADVANCE, this.#advance] as const,
    ];
    const parts = named.map(([name, value]) => ({ name, version: value, text: () => JSON.stringify(value) }));
    const reply = await this.#parts.write(parts, token);
    if (reply.kind === "failed") {
      throw new Error(`the store is unreachable (${reply.detail})`);
    }
    if (reply.value !== "written") {
      // The new leader has counted the advance of this process.
      this.#contact = NO_CONTACT;
      throw new Error(OTHER_LEADS);
    }
    this.#contact = contact;
    this.#left.clear();
  }

  #learn(parts: readonly ReadPart[]): void {
    const accounts = new Map<string, Spent>();
    const invalid: string[] = [];
    for (const { name, text } of parts) {
      const json = parseJson(text);
      const id = name.slice(ACCOUNT.length);
      const advance = name === ADVANCE ? AdvanceJson.safeParse(json).data : undefined;
      const spent = name.startsWith(ACCOUNT) ? Spent.safeParse(json).data : undefined;
      if (advance !== undefined) {
        this.#advance = advance;
        this.#isForeign = true;
      } else if (spent !== undefined) {
        accounts.set(id, spent);
      } else {
        invalid.push(id);
        this.#options.onInvalid(`${KEY} ${name}`);
      }
    }
    this.budgets.restore({ accounts: Object.fromEntries(accounts), atMs: 0 });
    this.#exhaust(invalid);
  }

  /** For each account that cannot be read and that this process does not know, counts the whole limit as sent. */
  #exhaust(ids: readonly string[]): void {
    const lost = this.#isInformed ? [] : this.budgets.accounts().filter(({ id }) => ids.includes(id));
    for (const account of lost) {
      this.budgets.countSent(account, Number.POSITIVE_INFINITY, this.nowMs());
    }
  }
}

const NO_CONTACT = { storeMs: Number.NEGATIVE_INFINITY, monotonicMs: Number.NEGATIVE_INFINITY };
const OTHER_LEADS = "another replica leads";
