import pLimit from "p-limit";
import { Budgets } from "../budgets/budgets.ts";
import type { SavedBudgets } from "../budgets/saved-budgets.ts";
import type { Fleet } from "../core/model/fleet.ts";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { ReplicaReport } from "../core/model/report.ts";
import { inSeconds } from "../core/model/text.ts";
import type { Daemon } from "../daemon/daemon.ts";
import { type EventStore, readEvents } from "../daemon/state/event-store.ts";
import {
  HISTORY_SHAPE,
  type HistoryStore,
  historyText,
  readHistoryText,
} from "../daemon/state/history-store.ts";
import { STATE_SHAPE } from "../io/state/seal.ts";
import type { RedisStore } from "../io/store/redis-store.ts";
import type { World } from "../io/world.ts";
import { Leadership } from "../leader/leadership.ts";
import type { Role } from "../leader/lease.ts";
import { eventParts, partsOf, readParts } from "./handover-parts.ts";
import { SharedParts } from "./parts.ts";
import { SharedBudgets, SLACK_MS } from "./shared-budgets.ts";

export interface ReplicaOptions {
  readonly store: Pick<RedisStore, "run" | "isUp" | "name">;
  /** What was counted without the store, and is added when this replica leads first. */
  readonly former: SavedBudgets | null;
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "logger" | "onBug">;
}

/** The daemon of a replica: it leads or stands by. */
interface Followers {
  readonly daemon: Daemon;
  readonly history: Pick<HistoryStore, "save" | "restore">;
  readonly events: Pick<EventStore, "log" | "started" | "standsBy">;
}

const TICK_MS = 100;
/** State is handed over so often. */
const PUBLISH_MS = 1_000;
/** A standby reads so often. */
const FOLLOW_MS = 500;
/** It is long and changes little: a leader that dies loses so much of the plots at most. */
const HISTORY_MS = 5 * 60_000;
/** Raised when an older version could not read the events. */
const EVENTS_FORMAT = 1;
const UNREADABLE_PART = "A part of the leader's state in the store cannot be read";

/**
 * Makes a daemon one of several: it polls while it holds the lease, or held it last and the store is away; else it learns what the
 * leader knows. Disposing it in order hands everything over, and the lease back.
 */
export class Replica implements AsyncDisposable {
  readonly shared: SharedBudgets;
  readonly #options: ReplicaOptions;
  readonly #leadership: Leadership;
  readonly #state: SharedParts;
  readonly #history: SharedParts;
  readonly #events: SharedParts;
  #name = "";
  /** Null before the start. */
  #followers: Followers | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** One thing at a time: a step of the loop, or a publication. */
  readonly #inTurn = pLimit(1);
  #isStepping = false;
  #isStopped = false;
  #isHistoryRead = false;
  #loggedRole: Role = "standby";
  #dueMs = 0;
  #historyDueMs = 0;
  /** The token of the lease when polling began. */
  #ledWith: number | null = null;
  /** The monotonic time of the current state. */
  #knownAtMs: number | null = null;
  readonly #warned = new Set<string>();

  constructor(fleet: Fleet, options: ReplicaOptions) {
    const { store, world } = options;
    this.#options = options;
    this.#leadership = new Leadership(store, world);
    const onTooLong = (part: string, length: number): void =>
      this.#warn("A part is too long to be handed over", part, { length });
    const parts = { store, nowMs: world.nowMs, onTooLong };
    this.#state = new SharedParts({ ...parts, key: "state", format: STATE_SHAPE });
    this.#history = new SharedParts({ ...parts, key: "history", format: HISTORY_SHAPE });
    this.#events = new SharedParts({ ...parts, key: "events", format: EVENTS_FORMAT });
    this.shared = new SharedBudgets({
      store,
      onTooLong,
      budgets: new Budgets(fleet, { slackMs: SLACK_MS }),
      leadership: this.#leadership,
      monotonicMs: world.monotonicMs,
      isDaemon: true,
      onInvalid: (part) => this.#warn(UNREADABLE_PART, part),
    });
  }

  /** Starts as a standby, and leads if no other replica does. `name`: where this process runs, shown to people. */
  start(name: string, followers: Followers): void {
    this.#name = name;
    this.#followers = followers;
    this.#leadership.start(name);
    this.#timer = setInterval(() => this.#tick(followers), TICK_MS);
  }

  /** The leader, and the age of this process's report. */
  state(): ReplicaReport {
    const role = this.#leadership.role();
    const isPolling = this.#isPolling();
    return {
      role,
      name: this.#name,
      leader: isPolling && role === "leader" ? this.#name : this.#leadership.leader(),
      age_seconds: isPolling ? 0 : inSeconds(this.#knownForMs()),
    };
  }

  metrics(): MetricsSource["replica"] {
    return {
      isLeader: this.#leadership.role() === "leader",
      isStoreUp: this.#options.store.isUp(),
      isPolling: this.#isPolling(),
    };
  }

  /** Whether a poll may be sent at this moment. */
  mayPoll(): boolean {
    const role = this.#leadership.role();
    return !this.#isStopped && (role === "leader" || role === "cut_off");
  }

  /** Writes the current state for the next leader; false if that failed. */
  async publish(): Promise<boolean> {
    return await this.#inTurn(async () => this.#followers !== null && (await this.#publish(this.#followers)));
  }

  /** After a reload: what was skipped as unknown may be part of the new configuration. */
  reloaded(): void {
    this.#state.startOver();
  }

  /** The lease goes first, so that another replica leads while this one writes the long history. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#inTurn(async () => {
      const followers = this.#followers;
      const isLeader = this.#leadership.role() === "leader" && this.#isPolling();
      this.#isStopped = true;
      await followers?.daemon.stopPolling();
      if (followers !== null && isLeader) {
        await this.#publish(followers);
        await this.shared.release();
      }
      await this.#leadership[Symbol.asyncDispose]();
      if (followers !== null && isLeader) {
        await this.#writeHistory(followers, null);
      }
    });
  }

  #knownForMs(): number | null {
    return this.#knownAtMs === null ? null : this.#options.world.monotonicMs() - this.#knownAtMs;
  }

  #isPolling(): boolean {
    const role = this.#leadership.role();
    return this.#followers?.daemon.isPolling() === true && (role === "leader" || role === "cut_off");
  }

  #tick(followers: Followers): void {
    if (!this.#isStepping) {
      this.#isStepping = true;
      this.#inTurn(() => this.#step(followers))
        .catch(this.#options.world.onBug)
        .finally(() => {
          this.#isStepping = false;
        });
    }
  }

  async #step(followers: Followers): Promise<void> {
    const { daemon, events } = followers;
    const { world } = this.#options;
    const role = this.#leadership.role();
    const token = this.#leadership.token();
    this.#logRole(role);
    const isDue = world.monotonicMs() >= this.#dueMs;
    // With another token another replica may have led meanwhile.
    if (token !== null && (!daemon.isPolling() || token !== this.#ledWith)) {
      await this.#takeOver(followers, token);
    } else if (token !== null && isDue) {
      this.#dueMs = world.monotonicMs() + PUBLISH_MS;
      await this.#publish(followers);
      if (world.monotonicMs() >= this.#historyDueMs) {
        await this.#writeHistory(followers, this.#leadership.token());
      }
    } else if ((role === "standby" || role === "unsure") && daemon.isPolling()) {
      events.standsBy();
      await daemon.stopPolling();
    } else if (role === "standby" && isDue) {
      this.#dueMs = world.monotonicMs() + FOLLOW_MS;
      await this.#follow(followers);
    }
  }

  /** All that the last leader handed over is taken in before the first poll. */
  async #takeOver(followers: Followers, token: number): Promise<void> {
    if (!(await this.#follow(followers)) || this.#leadership.token() !== token) {
      return;
    }
    this.shared.takeOver(this.#options.former);
    this.#ledWith = token;
    this.#historyDueMs = this.#options.world.monotonicMs() + HISTORY_MS;
    const knownForMs = this.#knownForMs();
    const aliveMs = knownForMs === null ? null : this.#options.world.nowMs() - knownForMs;
    followers.events.started(this.#name, aliveMs);
    followers.daemon.startPolling();
    await this.#publish(followers);
  }

  async #publish({ daemon, events }: Followers): Promise<boolean> {
    const token = this.#leadership.token();
    if (token === null) {
      return false;
    }
    this.shared.touchJournal();
    await this.#events.write(eventParts(events.log), token);
    const { kind } = await this.#state.write(partsOf(daemon.handover()), token);
    return kind === "written";
  }

  /** A null token writes it though the lease was given back, unless another replica has written its own. */
  async #writeHistory({ history }: Followers, token: number | null): Promise<void> {
    this.#historyDueMs = this.#options.world.monotonicMs() + HISTORY_MS;
    const parts = [...history.save()].map((chain) => ({ name: chain[0], text: () => historyText(chain) }));
    await this.#history.write(parts, token);
  }

  /** False if the store did not answer. */
  async #follow({ daemon, events, history }: Followers): Promise<boolean> {
    const { world } = this.#options;
    const reading = await this.#state.read();
    if (reading.kind === "failed") {
      return false;
    }
    if (reading.kind === "other format") {
      this.#warn("Another version of Synclag leads, whose state cannot be read", reading.format);
    }
    if (reading.kind === "read") {
      if (reading.parts.length > 0) {
        await daemon.stopPolling();
        const warn = (part: string): void => this.#warn(UNREADABLE_PART, `state ${part}`);
        daemon.learn(readParts(reading.parts, reading.aheadMs, warn));
      }
      this.#knownAtMs = world.monotonicMs() - reading.ageMs;
    }
    return (
      (await this.shared.follow()) && (await this.#readHistory(history)) && (await this.#readEvents(events))
    );
  }

  /** False if the store did not answer. */
  async #readEvents({ log }: Followers["events"]): Promise<boolean> {
    const reading = await this.#events.read();
    if (reading.kind === "read" && reading.parts.length > 0) {
      log.replaceHours(new Map(reading.parts.map(({ name, text }) => [name, readEvents(text).events])));
    }
    return reading.kind !== "failed";
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
      const fields = { role, leader: this.#leadership.leader(), store: store.name };
      world.logger[role === "cut_off" ? "warn" : "info"](fields, ROLE_LINES[role]);
    }
  }

  /** Once for each subject. */
  #warn(message: string, subject: string, fields: object = {}): void {
    if (!this.#warned.has(`${message} ${subject}`)) {
      this.#warned.add(`${message} ${subject}`);
      this.#options.world.logger.warn({ subject, ...fields }, message);
    }
  }
}

const ROLE_LINES: Readonly<Record<Role, string>> = {
  leader: "Leading: polling from now on",
  standby: "Standing by: another replica leads",
  cut_off: "Store unreachable: polling continues, endpoints with a budget for five minutes",
  unsure: "The lease has expired: not polling until the store answers",
};
