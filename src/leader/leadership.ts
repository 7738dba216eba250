import { LEASE_KEY } from "../io/store/budget-scripts.ts";
import type { RedisStore } from "../io/store/redis-store.ts";
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
import { createLeaseClock } from "./lease-clock.ts";
import { CLAIM, RELEASE } from "./lease-scripts.ts";

export interface LeadershipOptions {
  readonly store: Pick<RedisStore, "run">;
  /** Unique: of this process, not of its place. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly world: { readonly nowMs: () => number; readonly monotonicMs: () => number };
  readonly onBug: (error: unknown) => void;
}

const TICK_MS = 100;
/** A call takes a second at most; the rest is for the difference of two instants. */
const CALL_MS = 2_000;

/** Holds the lease of the leader, or waits for it. Disposing it gives the lease back. */
export class Leadership implements AsyncDisposable {
  readonly #options: LeadershipOptions;
  readonly #nowMs: () => number;
  readonly #timer: NodeJS.Timeout;
  #lease: Lease = NEW_LEASE;
  #leader: string | null = null;
  #calling: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** How far the store's clock is ahead of that of the lease; null: not known yet. */
  #storeAheadMs: number | null = null;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.#nowMs = createLeaseClock(options.world);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  /** What this process may do at this very moment, also after a pause that it has not noticed yet. */
  role(): Role {
    return roleOf(this.#lease, this.#nowMs());
  }

  /** The fencing token, which goes with every draw on a budget and every publication; null where neither is allowed. */
  token(): number | null {
    return tokenOf(this.#lease, this.#nowMs());
  }

  /** The name of who leads, by the store's last reply; null where nobody does. */
  leader(): string | null {
    return this.#leader;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#calling;
    const token = this.token();
    this.#lease = NEW_LEASE;
    if (token !== null) {
      await this.#options.store.run(RELEASE, [LEASE_KEY], [token]);
    }
  }

  #tick(): void {
    if (!this.#isStopped && isCallDue(this.#lease, this.#nowMs())) {
      this.#calling = this.#claim().catch(this.#options.onBug);
    }
  }

  async #claim(): Promise<void> {
    const { store, id, name } = this.#options;
    const calledMs = this.#nowMs();
    const { highestToken } = this.#lease;
    const priority = priorityOf(this.#lease, calledMs);
    const deadline = this.#deadline(calledMs);
    const args = [id, name, this.token() ?? 0, highestToken, LEASE_MS, priority, deadline];
    this.#fold({ kind: "called" });
    const reply = await store.run(CLAIM, [LEASE_KEY], args);
    if (reply.kind === "failed") {
      this.#fold({ kind: "failed", calledMs });
      return;
    }
    const { isGranted, token, leader, storeNowMs } = reply.value;
    this.#leader = leader;
    this.#storeAheadMs = storeNowMs - this.#nowMs();
    if (isGranted) {
      this.#fold({ kind: "granted", calledMs, token });
    } else {
      this.#fold({ kind: leader === null ? "vacant" : "refused", token });
    }
  }

  /** By the store's clock: later than that the answer would come too late. */
  #deadline(calledMs: number): string {
    return this.#storeAheadMs === null ? "" : Math.round(calledMs + this.#storeAheadMs + CALL_MS).toString();
  }

  #fold(event: LeaseEvent): void {
    this.#lease = foldLease(this.#lease, event, this.#nowMs());
  }
}
