import { Budgets } from "../budgets/budgets.ts";
import type { SavedBudgets } from "../budgets/saved-budgets.ts";
import type { Fleet } from "../core/model/fleet.ts";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { ReplicaReport } from "../core/model/report.ts";
import { inSeconds } from "../core/model/text.ts";
import type { Daemon } from "../daemon/daemon.ts";
import type { HistoryStore } from "../daemon/state/history-store.ts";
import { HISTORY_SHAPE, historyText, readHistoryText } from "../io/state/history-file.ts";
import { STATE_SHAPE } from "../io/state/seal.ts";
import type { RedisStore } from "../io/store/redis-store.ts";
import type { World } from "../io/world.ts";
import { Leadership } from "../leader/leadership.ts";
import type { Role } from "../leader/lease.ts";
import { partsOf, readParts } from "./handover-parts.ts";
import { SharedParts, type WriteResult } from "./parts.ts";
import { SharedBudgets, SLACK_MS } from "./shared-budgets.ts";

export interface ReplicaOptions {
  readonly store: Pick<RedisStore, "run" | "isUp" | "name">;
  /** What was counted without the store, and is added when this replica leads first. */
  readonly former: SavedBudgets | null;
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "logger" | "onBug">;
}

/** What a replica makes lead or stand by. */
interface Followers {
  readonly daemon: Daemon;
  readonly history: Pick<HistoryStore, "save" | "restore">;
}

const TICK_MS = 100;
/** State is handed over so often. */
const PUBLISH_MS = 1_000;
/** A standby reads so often. */
const FOLLOW_MS = 500;
/** It is long and changes little: a leader that dies loses so much of the plots at most. */
const HISTORY_MS = 5 * 60_000;
const UNREADABLE_PART = "A part of the leader's state in the store cannot be read";

/**
 * Makes a daemon one of several: it polls while it holds the lease, or held it last and the store is away; else it learns what the
 * leader knows. Disposing it in order hands everything over, and the lease back.
 */
export class Replica implements AsyncDisposable {
  readonly shared: SharedBudgets;
  readonly #options: ReplicaOptions;
  readonly #state: SharedParts;
  readonly #history: SharedParts;
  #started: ({ readonly leadership: Leadership; readonly name: string } & Followers) | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** One thing at a time: a step of the loop, or a publication. */
  #turn: Promise<unknown> = Promise.resolve();
  #isStepping = false;
  #isStopped = false;
  #isHistoryRead = false;
  #loggedRole: Role = "standby";
  #dueMs = 0;
  #historyDueMs = 0;
  /** The token of the lease when polling began. */
  #ledWith: number | null = null;
  /** When what is known was current, by our monotonic clock. */
  #knownAtMs: number | null = null;
  readonly #warned = new Set<string>();

  constructor(fleet: Fleet, options: ReplicaOptions) {
    const { store, world } = options;
    this.#options = options;
    const { nowMs, monotonicMs } = world;
    const onTooLong = (part: string, length: number): void =>
      this.#warn("A part is too long to be handed over", part, { length });
    const parts = { store, nowMs, onTooLong };
    this.#state = new SharedParts({ ...parts, key: "state", format: STATE_SHAPE });
    this.#history = new SharedParts({ ...parts, key: "history", format: HISTORY_SHAPE });
    this.shared = new SharedBudgets({
      store,
      onTooLong,
      budgets: new Budgets(fleet, { slackMs: SLACK_MS }),
      nowMs: () => this.#started?.leadership.storeNowMs() ?? nowMs(),
      monotonicMs,
      isDaemon: true,
      right: () => {
        const token = this.#token();
        return token === null
          ? { kind: this.#role() === "cut_off" ? "cut_off" : "none" }
          : { kind: "leader", token };
      },
      onInvalid: (part) => this.#warn(UNREADABLE_PART, part),
    });
  }

  /** Stands by from now on, and leads if nobody else does. `name`: for people, where this process is. */
  start(name: string, followers: Followers): void {
    const { store, world } = this.#options;
    this.#started = { ...followers, name, leadership: new Leadership({ store, name, world }) };
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Who leads, and how old the report of this process is. */
  state(): ReplicaReport {
    const name = this.#started?.name ?? "";
    const role = this.#role();
    const isPolling = this.#isPolling(role);
    const knownForMs = this.#knownAtMs === null ? null : this.#options.world.monotonicMs() - this.#knownAtMs;
    return {
      role,
      name,
      leader: isPolling && role === "leader" ? name : this.#leader(),
      age_seconds: isPolling ? 0 : inSeconds(knownForMs),
    };
  }

  metrics(): MetricsSource["replica"] {
    const role = this.#role();
    return {
      isLeader: role === "leader",
      isStoreUp: this.#options.store.isUp(),
      isPolling: this.#isPolling(role),
    };
  }

  /** Whether a poll may be sent at this moment. */
  mayPoll(): boolean {
    const role = this.#role();
    return !this.#isStopped && (role === "leader" || role === "cut_off");
  }

  /** Hands over what is known now; false if that failed. */
  async publish(): Promise<boolean> {
    return await this.#inTurn(() => this.#publish());
  }

  /** After a reload: what was skipped as unknown may be part of the new configuration. */
  reloaded(): void {
    this.#state.startOver();
  }

  /** The lease goes first, so that another replica leads while this one writes the long history. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#inTurn(async () => {
      const started = this.#started;
      const isLeader = this.#role() === "leader" && started?.daemon.isPolling() === true;
      this.#isStopped = true;
      await started?.daemon.stopPolling();
      if (isLeader) {
        await this.#publish();
        await this.shared.release();
      }
      await started?.leadership[Symbol.asyncDispose]();
      if (isLeader) {
        await this.#writeHistory(null);
      }
    });
  }

  #token(): number | null {
    return this.#started?.leadership.token() ?? null;
  }

  #role(): Role {
    return this.#started?.leadership.role() ?? "standby";
  }

  #leader(): string | null {
    return this.#started?.leadership.leader() ?? null;
  }

  #isPolling(role: Role): boolean {
    return this.#started?.daemon.isPolling() === true && (role === "leader" || role === "cut_off");
  }

  #tick(): void {
    if (!this.#isStepping && this.#started !== null) {
      const { daemon, history } = this.#started;
      this.#isStepping = true;
      this.#inTurn(() => this.#step({ daemon, history }))
        .catch(this.#options.world.onBug)
        .finally(() => {
          this.#isStepping = false;
        });
    }
  }

  async #step({ daemon, history }: Followers): Promise<void> {
    const { world } = this.#options;
    const role = this.#role();
    this.#logRole(role);
    const isDue = world.monotonicMs() >= this.#dueMs;
    // With another token another replica may have led meanwhile.
    if (role === "leader" && (!daemon.isPolling() || this.#token() !== this.#ledWith)) {
      await this.#takeOver({ daemon, history });
    } else if (role === "leader" && isDue) {
      this.#dueMs = world.monotonicMs() + PUBLISH_MS;
      await this.#publish();
      if (world.monotonicMs() >= this.#historyDueMs) {
        await this.#writeHistory(this.#token());
      }
    } else if ((role === "standby" || role === "unsure") && daemon.isPolling()) {
      await daemon.stopPolling();
    } else if (role === "standby" && isDue) {
      this.#dueMs = world.monotonicMs() + FOLLOW_MS;
      await this.#follow({ daemon, history });
    }
  }

  /** All that the last leader handed over is taken in before the first poll. */
  async #takeOver({ daemon, history }: Followers): Promise<void> {
    const token = this.#token();
    if (token === null || !(await this.#follow({ daemon, history })) || this.#token() !== token) {
      return;
    }
    this.shared.takeOver(this.#options.former);
    this.#ledWith = token;
    this.#historyDueMs = this.#options.world.monotonicMs() + HISTORY_MS;
    daemon.startPolling();
    await this.#publish();
  }

  async #publish(): Promise<boolean> {
    const token = this.#token();
    if (token === null || this.#started === null) {
      return false;
    }
    this.shared.touchJournal();
    return isWritten(await this.#state.write(partsOf(this.#started.daemon.handover()), token));
  }

  /** A null token writes it though the lease was given back, unless another replica has written its own. */
  async #writeHistory(token: number | null): Promise<void> {
    this.#historyDueMs = this.#options.world.monotonicMs() + HISTORY_MS;
    const parts = [...(this.#started?.history.save() ?? [])].map(([name, chain]) => ({
      name,
      version: Symbol(name),
      text: () => historyText([name, chain]),
    }));
    await this.#history.write(parts, token);
  }

  /** False if the store did not answer. */
  async #follow({ daemon, history }: Followers): Promise<boolean> {
    const { world } = this.#options;
    const reading = await this.#state.read();
    if (reading.kind === "failed") {
      return false;
    }
    if (reading.kind === "other format") {
      this.#warn("Another version of Synclag leads, whose state cannot be read", reading.format);
    }
    if (reading.kind === "read") {
      const ownAheadMs = world.nowMs() - reading.storeNowMs;
      if (reading.parts.length > 0) {
        await daemon.stopPolling();
        const learned = readParts(reading.parts, reading.writerAheadMs - ownAheadMs);
        for (const part of learned.invalid) {
          this.#warn(UNREADABLE_PART, `state ${part}`);
        }
        daemon.learn(learned);
      }
      this.#knownAtMs = world.monotonicMs() - Math.max(0, reading.storeNowMs - reading.writtenAtMs);
    }
    return (await this.shared.follow()) && (await this.#readHistory(history));
  }

  /** Once: after that each replica keeps its own. False if the store did not answer. */
  async #readHistory(history: Followers["history"]): Promise<boolean> {
    if (this.#isHistoryRead) {
      return true;
    }
    const reading = await this.#history.read();
    this.#isHistoryRead = reading.kind !== "failed";
    if (reading.kind === "read") {
      const chains = reading.parts.flatMap(({ name, text }) => {
        const chain = readHistoryText(text);
        if (chain === null) {
          this.#warn(UNREADABLE_PART, `history ${name}`);
        }
        return chain === null ? [] : [chain];
      });
      history.restore(Object.fromEntries(chains));
    }
    return this.#isHistoryRead;
  }

  #logRole(role: Role): void {
    const { world, store } = this.#options;
    if (role !== this.#loggedRole) {
      this.#loggedRole = role;
      const leader = this.#leader();
      world.logger[role === "cut_off" ? "warn" : "info"](
        { role, leader, store: store.name },
        ROLE_LINES[role],
      );
    }
  }

  /** Once for each subject. */
  #warn(message: string, subject: string, fields: object = {}): void {
    if (!this.#warned.has(`${message} ${subject}`)) {
      this.#warned.add(`${message} ${subject}`);
      this.#options.world.logger.warn({ subject, ...fields }, message);
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return await result;
  }
}

function isWritten({ kind }: WriteResult): boolean {
  return kind === "written";
}

const ROLE_LINES: Readonly<Record<Role, string>> = {
  leader: "Leading: polling from now on",
  standby: "Standing by: another replica leads",
  cut_off: "The store is away: polling on, endpoints with a budget for five minutes",
  unsure: "The lease has expired: not polling until the store answers",
};
