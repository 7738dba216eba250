import { randomUUID } from "node:crypto";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { ReplicaReport, Report } from "../core/model/report.ts";
import { inSeconds } from "../core/model/text.ts";
import type { Daemon } from "../daemon/daemon.ts";
import type { HistoryStore } from "../daemon/state/history-store.ts";
import { STATE_SHAPE } from "../io/state/seal.ts";
import type { RedisStore } from "../io/store/redis-store.ts";
import type { DrawingRight } from "../io/store/shared-budgets.ts";
import type { World } from "../io/world.ts";
import { Leadership } from "../leader/leadership.ts";
import type { Role } from "../leader/lease.ts";
import { partsOf, readParts } from "./handover-parts.ts";
import { HistoryHandover } from "./history-handover.ts";
import { PartReader } from "./part-reader.ts";
import { PartWriter } from "./part-writer.ts";

export interface ReplicaOptions {
  readonly store: Pick<RedisStore, "run" | "isUp" | "name">;
  readonly daemon: Daemon;
  readonly history: Pick<HistoryStore, "save" | "restore">;
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "logger" | "onBug">;
}

const TICK_MS = 100;
/** State is handed over so often. */
const PUBLISH_MS = 1_000;
/** A standby reads so often. */
const FOLLOW_MS = 500;

const STATE_KEY = "state";
const UNREADABLE_PART = "A part of the leader's state in the store cannot be read";

/**
 * Makes the daemon one of several: it polls while it holds the lease, or held it last and the store is away; else it learns what
 * the leader knows. Disposing it in order hands everything over, and the lease back.
 */
export class Replica implements AsyncDisposable {
  readonly #options: ReplicaOptions;
  #leadership: Leadership | null = null;
  readonly #writer: PartWriter;
  readonly #reader: PartReader;
  readonly #history: HistoryHandover;
  #name = "";
  #timer: NodeJS.Timeout | undefined;
  /** One thing at a time: a step of the loop, or a publication. */
  #turn: Promise<unknown> = Promise.resolve();
  #isStepping = false;
  #isStopped = false;
  #loggedRole: Role = "standby";
  #dueMs = 0;
  /** The token of the lease when polling began. */
  #ledWith: number | null = null;
  /** When what is known was current, by our monotonic clock. */
  #knownAtMs: number | null = null;
  readonly #warned = new Set<string>();

  constructor(options: ReplicaOptions) {
    const { store, world, history } = options;
    this.#options = options;
    const shared = {
      store,
      nowMs: world.nowMs,
      onTooLong: (part: string, length: number) =>
        this.#warn("A part is too long to be handed over", part, { length }),
    };
    this.#writer = new PartWriter({ ...shared, key: STATE_KEY, format: STATE_SHAPE });
    this.#history = new HistoryHandover({
      ...shared,
      history,
      monotonicMs: world.monotonicMs,
      onInvalid: (part) => this.#warn(UNREADABLE_PART, part),
    });
    this.#reader = new PartReader(store, STATE_KEY, STATE_SHAPE);
  }

  /** Stands by from now on, and leads if nobody else does. `name`: for people, where this process is. */
  start(name: string): void {
    const { store, world } = this.#options;
    this.#name = name;
    this.#leadership = new Leadership({ store, id: randomUUID(), name, world, onBug: world.onBug });
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** The report of the daemon, with who leads. */
  report(): Report {
    return { ...this.#options.daemon.report(), replica: this.#state() };
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

  /** By which right it draws on budgets at this moment. */
  right(): DrawingRight {
    const token = this.#token();
    if (token !== null) {
      return { kind: "leader", token };
    }
    return { kind: this.#role() === "cut_off" ? "cut_off" : "none" };
  }

  /** Hands over what is known now. */
  async publish(): Promise<boolean> {
    return await this.#inTurn(() => this.#publish());
  }

  /** After a reload: what was skipped as unknown may be part of the new configuration. */
  reloaded(): void {
    this.#reader.startOver();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#inTurn(async () => {
      const isLeader = this.#role() === "leader" && this.#options.daemon.isPolling();
      this.#isStopped = true;
      await this.#options.daemon.stopPolling();
      if (isLeader) {
        await this.#publish();
        await this.#publishHistory((token) => this.#history.write(token));
      }
      await this.#leadership?.[Symbol.asyncDispose]();
    });
  }

  #state(): ReplicaReport {
    const { world } = this.#options;
    const name = this.#name;
    const role = this.#role();
    const isPolling = this.#isPolling(role);
    const knownForMs = this.#knownAtMs === null ? null : world.monotonicMs() - this.#knownAtMs;
    return {
      role,
      name,
      leader: isPolling && role === "leader" ? name : this.#leader(),
      age_seconds: isPolling ? 0 : inSeconds(knownForMs),
    };
  }

  #token(): number | null {
    return this.#leadership?.token() ?? null;
  }

  #role(): Role {
    return this.#leadership?.role() ?? "standby";
  }

  #leader(): string | null {
    return this.#leadership?.leader() ?? null;
  }

  #isPolling(role: Role): boolean {
    return this.#options.daemon.isPolling() && (role === "leader" || role === "cut_off");
  }

  #tick(): void {
    if (!this.#isStepping) {
      this.#isStepping = true;
      this.#inTurn(() => this.#step())
        .catch(this.#options.world.onBug)
        .finally(() => {
          this.#isStepping = false;
        });
    }
  }

  async #step(): Promise<void> {
    const { daemon, world } = this.#options;
    const role = this.#role();
    this.#logRole(role);
    const isDue = world.monotonicMs() >= this.#dueMs;
    // With another token another replica may have led meanwhile.
    if (role === "leader" && (!daemon.isPolling() || this.#token() !== this.#ledWith)) {
      await this.#takeOver();
    } else if (role === "leader" && isDue) {
      this.#dueMs = world.monotonicMs() + PUBLISH_MS;
      await this.#publish();
      await this.#publishHistory((token) => this.#history.writeWhenDue(token));
    } else if ((role === "standby" || role === "unsure") && daemon.isPolling()) {
      await daemon.stopPolling();
      this.#reader.startOver();
    } else if (role === "standby" && isDue) {
      this.#dueMs = world.monotonicMs() + FOLLOW_MS;
      await this.#follow();
    }
  }

  /** All that the last leader handed over is taken in before the first poll. */
  async #takeOver(): Promise<void> {
    const token = this.#token();
    if (this.#options.daemon.isPolling()) {
      this.#reader.startOver();
    }
    if (token === null || !(await this.#follow()) || this.#token() !== token) {
      return;
    }
    this.#ledWith = token;
    this.#writer.startOver();
    this.#history.startOver();
    this.#options.daemon.startPolling();
    await this.#publish();
  }

  async #publish(): Promise<boolean> {
    const token = this.#token();
    if (token === null) {
      return false;
    }
    return (await this.#writer.write(partsOf(this.#options.daemon.handover()), token)) === "written";
  }

  async #publishHistory(write: (token: number) => Promise<void>): Promise<void> {
    const token = this.#token();
    if (token !== null) {
      await write(token);
    }
  }

  /** False if the store did not answer. */
  async #follow(): Promise<boolean> {
    const { daemon, world } = this.#options;
    const reading = await this.#reader.read();
    if (reading.kind === "failed") {
      return false;
    }
    if (reading.kind === "other format") {
      this.#warn("Another version of Synclag leads, whose state cannot be read", reading.format);
    }
    if (reading.kind === "read") {
      const ownAheadMs = world.nowMs() - reading.storeNowMs;
      if (reading.parts.length > 0) {
        const learned = readParts(reading.parts, reading.writerAheadMs - ownAheadMs);
        for (const part of learned.invalid) {
          this.#warn(UNREADABLE_PART, `${STATE_KEY} ${part}`);
        }
        daemon.learn(learned);
      }
      this.#knownAtMs = world.monotonicMs() - Math.max(0, reading.storeNowMs - reading.writtenAtMs);
    }
    return await this.#history.readOnce();
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

const ROLE_LINES: Readonly<Record<Role, string>> = {
  leader: "Leading: polling from now on",
  standby: "Standing by: another replica leads",
  cut_off: "The store is away: polling on, but endpoints with a budget only from what was drawn before",
  unsure: "The lease has expired: not polling until the store answers",
};
