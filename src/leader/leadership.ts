import { randomUUID } from "node:crypto";
import type { ScriptRunner } from "../io/store/redis-store.ts";
import { LEASE_KEY } from "../io/store/store-script.ts";
import type { World } from "../io/world.ts";
import {
  foldLease,
  isCallDue,
  LEASE_MS,
  type Lease,
  type LeaseEvent,
  NEW_LEASE,
  priorityOf,
  type Role,
  roleOf,
  tokenOf,
} from "./lease.ts";
import { CLAIM, RELEASE } from "./lease-scripts.ts";

const TICK_MS = 100;
/** A call that the store runs after this time takes over no lease. Twice a call's timeout, because the store's clock is an estimate. */
const CALL_MS = 2_000;

/** Holds the lease of the leader, or waits for it. Disposing it gives the lease back. */
export class Leadership implements AsyncDisposable {
  readonly #store: ScriptRunner;
  readonly #world: Pick<World, "nowMs" | "monotonicMs" | "onBug">;
  /** Identifies this process: another process may later have the same host and port. */
  readonly #id = randomUUID();
  readonly #nowMs: () => number;
  #name = "";
  #timer: NodeJS.Timeout | undefined;
  #lease: Lease = NEW_LEASE;
  #leader: string | null = null;
  #calling: Promise<void> = Promise.resolve();
  /** The store's clock minus the monotonic clock; before the first reply, the wall clock minus the monotonic clock. */
  #storeOffsetMs: number;

  constructor(store: ScriptRunner, world: Pick<World, "nowMs" | "monotonicMs" | "onBug">) {
    this.#store = store;
    this.#world = world;
    this.#nowMs = createLeaseClock(world);
    this.#storeOffsetMs = world.nowMs() - world.monotonicMs();
  }

  /** Starts to ask for the lease. `name`: shown to people. `patienceMs`: how long a free lease is left to other replicas. */
  start(name: string, patienceMs = 0): void {
    this.#name = name;
    this.#lease = { ...NEW_LEASE, patientUntilMs: this.#nowMs() + patienceMs };
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  /** What this process may do now. This is right even just after a suspension, before any timer has run. */
  role(): Role {
    return roleOf(this.#lease, this.#nowMs());
  }

  /** Whether this process leads, or led last and the store is away. */
  mayPoll(): boolean {
    const role = this.role();
    return role === "leader" || role === "cut_off";
  }

  /** The fencing token of every write; null if this process may not write. */
  token(): number | null {
    return tokenOf(this.#lease, this.#nowMs());
  }

  /** The leader's name in the store's last reply; null: no leader. */
  leader(): string | null {
    return this.#leader;
  }

  /** Whether calls to the store are failing. */
  isFailing(): boolean {
    return this.#lease.failingSinceMs !== null;
  }

  /** The store's time in Unix milliseconds, estimated from its last reply; before the first reply, the time of this machine. */
  storeNowMs(): number {
    return Math.round(this.#storeOffsetMs + this.#world.monotonicMs());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#calling;
    const token = this.token();
    this.#lease = NEW_LEASE;
    if (token !== null) {
      await this.#store.run(RELEASE, [LEASE_KEY], [token]);
    }
  }

  #tick(): void {
    if (isCallDue(this.#lease, this.#nowMs())) {
      this.#calling = this.#claim().catch(this.#world.onBug);
    }
  }

  async #claim(): Promise<void> {
    const calledMs = this.#nowMs();
    const sentMs = this.#world.monotonicMs();
    const { highestToken } = this.#lease;
    const priority = priorityOf(this.#lease, calledMs);
    // By the store's clock. After this time, this process no longer waits for the reply, so the call must not take over the lease.
    const deadline = this.storeNowMs() + CALL_MS;
    const args = [this.#id, this.#name, this.token() ?? 0, highestToken, LEASE_MS, priority, deadline];
    this.#fold({ kind: "called" });
    const reply = await this.#store.run(CLAIM, [LEASE_KEY], args);
    if (reply.kind === "failed") {
      this.#fold({ kind: "failed", calledMs });
      return;
    }
    const { isGranted, token, leader, storeNowMs } = reply.value;
    this.#leader = leader;
    this.#storeOffsetMs = storeNowMs - (sentMs + this.#world.monotonicMs()) / 2;
    if (isGranted) {
      this.#fold({ kind: "granted", calledMs, token });
    } else {
      this.#fold({ kind: leader === null ? "vacant" : "refused", token });
    }
  }

  #fold(event: LeaseEvent): void {
    this.#lease = foldLease(this.#lease, event, this.#nowMs());
  }
}

/**
 * A clock for leases, in milliseconds from an arbitrary instant. It advances with the faster of the wall clock and the
 * monotonic clock: the monotonic clock may stop while the machine sleeps, and the wall clock may be set back. A wall clock that
 * is set forward ends a lease early, which is safe.
 */
export function createLeaseClock(clocks: Pick<World, "nowMs" | "monotonicMs">): () => number {
  let wallMs = clocks.nowMs();
  let monotonicMs = clocks.monotonicMs();
  let readMs = 0;
  return () => {
    const [wall, monotonic] = [clocks.nowMs(), clocks.monotonicMs()];
    readMs += Math.max(wall - wallMs, monotonic - monotonicMs, 0);
    [wallMs, monotonicMs] = [wall, monotonic];
    return readMs;
  };
}
