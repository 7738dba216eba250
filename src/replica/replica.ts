import pLimit from "p-limit";
import type { SavedBudgets } from "../budgets/saved-budgets.ts";
import type { Fleet } from "../core/model/fleet.ts";
import type { MetricsSource } from "../core/model/metrics-source.ts";
import type { ReplicaReport } from "../core/model/report.ts";
import { inSeconds } from "../core/model/text.ts";
import type { Daemon } from "../daemon/daemon.ts";
import type { Notifier } from "../daemon/notify.ts";
import type { EventStore } from "../daemon/state/event-store.ts";
import type { RedisStore } from "../io/store/redis-store.ts";
import type { World } from "../io/world.ts";
import { Leadership } from "../leader/leadership.ts";
import type { Role } from "../leader/lease.ts";
import { handoverParts, readHandover } from "./handover-parts.ts";
import { SharedParts } from "./parts.ts";
import { SharedBudgets } from "./shared-budgets.ts";

export interface ReplicaOptions {
  readonly store: Pick<RedisStore, "run" | "isUp" | "name">;
  /** The counts from before the store, which are added when this replica first leads. */
  readonly former: SavedBudgets | null;
  readonly world: Pick<World, "nowMs" | "monotonicMs" | "logger" | "onBug">;
}

/** The parts of this process that act differently as leader and as standby. */
interface RoleParts {
  readonly daemon: Daemon;
  readonly events: Pick<EventStore, "log" | "started" | "standsBy">;
  readonly notifier: Pick<Notifier, "handOver">;
}

const TICK_MS = 100;
/** How often the leader hands over its state. */
const PUBLISH_MS = 1_000;
/** How often a standby reads that state. */
const FOLLOW_MS = 500;

/**
 * Makes a daemon one of several replicas. The daemon polls while this replica holds the lease, or if it held the lease last and
 * the store is away; else it reads the state of the leader. Disposing hands over everything, and gives the lease back.
 */
export class Replica implements AsyncDisposable {
  readonly shared: SharedBudgets;
  readonly #options: ReplicaOptions;
  readonly #leadership: Leadership;
  readonly #parts: SharedParts;
  #name = "";
  /** Null before the start. */
  #roleParts: RoleParts | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** Runs one task at a time: a step of the loop, or a publication. */
  readonly #inTurn = pLimit(1);
  #isStopped = false;
  #loggedRole: Role = "standby";
  #dueMs = 0;
  /** The token of the lease when polling began; null if another replica has led since. */
  #ledWith: number | null = null;
  /** The monotonic time at which the leader wrote the state in use. */
  #knownAtMs: number | null = null;
  readonly #warned = new Set<string>();

  constructor(fleet: Fleet, options: ReplicaOptions) {
    const { store, world } = options;
    this.#options = options;
    this.#leadership = new Leadership(store, world);
    this.#parts = new SharedParts(store, "state");
    this.shared = new SharedBudgets({
      store,
      fleet,
      leadership: this.#leadership,
      monotonicMs: world.monotonicMs,
      isDaemon: true,
      onInvalid: (part) => this.#warnOf([part]),
    });
  }

  /** Starts as a standby, and leads if no other replica does. `name`: where this process runs, shown to people. */
  start(name: string, roleParts: RoleParts): void {
    this.#name = name;
    this.#roleParts = roleParts;
    this.#leadership.start(name);
    this.#timer = setInterval(() => {
      if (this.#inTurn.activeCount === 0) {
        this.#inTurn(() => this.#step(roleParts)).catch(this.#options.world.onBug);
      }
    }, TICK_MS);
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
    return !this.#isStopped && this.#leadership.mayPoll();
  }

  /** If this replica leads, writes the current state for the next leader. */
  async publish(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#roleParts !== null && this.#isPolling()) {
        await this.#publish(this.#roleParts);
      }
    });
  }

  /** Called after a reload: parts that were skipped as unknown may belong to the new configuration. */
  reloaded(): void {
    this.#parts.startOver();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#inTurn(async () => {
      const roleParts = this.#roleParts;
      const isPolling = this.#isPolling();
      this.#isStopped = true;
      await roleParts?.daemon.stopPolling();
      if (roleParts !== null && isPolling && this.#leadership.token() !== null) {
        await this.#publish(roleParts);
        await this.shared.release();
      }
      await this.#leadership[Symbol.asyncDispose]();
    });
  }

  #knownForMs(): number | null {
    return this.#knownAtMs === null ? null : this.#options.world.monotonicMs() - this.#knownAtMs;
  }

  #isPolling(): boolean {
    return this.#roleParts?.daemon.isPolling() === true && this.mayPoll();
  }

  async #step(roleParts: RoleParts): Promise<void> {
    const { daemon, events } = roleParts;
    const nowMs = this.#options.world.monotonicMs();
    const token = this.#leadership.token();
    this.#logRole(this.#leadership.role());
    // With a new token, another replica may have led meanwhile.
    if (token !== null && (!daemon.isPolling() || token !== this.#ledWith)) {
      await this.#takeOver(roleParts, token);
    } else if (daemon.isPolling() && !this.mayPoll()) {
      events.standsBy();
      await daemon.stopPolling();
    } else if (nowMs >= this.#dueMs && token !== null) {
      this.#dueMs = nowMs + PUBLISH_MS;
      await this.#publish(roleParts);
    } else if (nowMs >= this.#dueMs && !this.mayPoll()) {
      this.#dueMs = nowMs + FOLLOW_MS;
      await this.#follow(roleParts);
    }
  }

  /** Reads everything that the last leader handed over, before the first poll. */
  async #takeOver(roleParts: RoleParts, token: number): Promise<void> {
    if (!(await this.#follow(roleParts)) || this.#leadership.token() !== token) {
      return;
    }
    this.shared.takeOver(this.#options.former);
    this.#ledWith = token;
    // Without the store, the last leader has polled all the time, so it does not start.
    if (!roleParts.daemon.isPolling()) {
      const knownForMs = this.#knownForMs();
      const aliveMs = knownForMs === null ? null : this.#options.world.nowMs() - knownForMs;
      roleParts.events.started(this.#name, aliveMs);
      roleParts.daemon.startPolling();
    }
    await this.#publish(roleParts);
  }

  async #publish({ daemon, events }: RoleParts): Promise<void> {
    const token = this.#leadership.token();
    if (token !== null) {
      this.shared.touchJournal();
      await this.#parts.write(handoverParts(daemon.handover(), events.log), token);
    }
  }

  /** False if the store did not reply. */
  async #follow({ daemon, events, notifier }: RoleParts): Promise<boolean> {
    const reading = await this.#parts.read();
    if (reading.kind === "reply") {
      const { parts, ageMs } = reading.value;
      if (parts.length > 0) {
        const { learned, events: happened, invalid } = readHandover(parts);
        this.#warnOf(invalid);
        await daemon.stopPolling();
        daemon.learn(learned);
        events.log.replace(happened);
        if (this.#ledWith !== null) {
          this.#ledWith = null;
          notifier.handOver(daemon.report());
        }
      }
      this.#knownAtMs = ageMs === null ? this.#knownAtMs : this.#options.world.monotonicMs() - ageMs;
    }
    const hasReplied = reading.kind === "reply" || reading.reason === "unusable";
    return hasReplied && (await this.shared.follow());
  }

  #logRole(role: Role): void {
    const { world, store } = this.#options;
    if (role !== this.#loggedRole) {
      this.#loggedRole = role;
      const fields = { role, leader: this.#leadership.leader(), store: store.name };
      world.logger[role === "cut_off" ? "warn" : "info"](fields, ROLE_LINES[role]);
    }
  }

  /** Warns once about each part in the store that cannot be read. */
  #warnOf(invalid: readonly string[]): void {
    const parts = invalid.filter((part) => !this.#warned.has(part));
    if (parts.length > 0) {
      this.#options.world.logger.warn(
        { parts },
        "The leader's state in the store is damaged, or of another version",
      );
    }
    for (const part of parts) {
      this.#warned.add(part);
    }
  }
}

const ROLE_LINES: Readonly<Record<Role, string>> = {
  leader: "Leading: polling from now on",
  standby: "Standing by: another replica leads",
  cut_off: "Store unreachable: polling continues; endpoints with a budget are polled for five more minutes",
  unsure: "The lease has expired: not polling until the store replies",
};
