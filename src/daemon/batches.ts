import type { Monitor } from "./monitor.ts";
import type { PollResult } from "./polling/poll.ts";

/**
 * Called with what the observations of one poll showed: whether a target's status is about to change, or has just changed, and whether
 * a height cannot be.
 */
type OnObserved = (isChanging: boolean, isImplausible: boolean) => void;

interface PendingPoll {
  readonly result: PollResult;
  readonly onObserved: OnObserved;
}

/** No poll waits longer for what follows from it: less than a reply takes. */
const LONGEST_WAIT_MS = 50;
/** So many polls are folded in within a few milliseconds, for which the event loop is blocked. */
const MOST_POLLS = 64;

/**
 * Collects what polls have brought, and hands it to the monitor together: what follows from all sources of a chain is then worked
 * out once, and not once for each observation. Whoever reads what follows calls `flush()` first, and so never sees less.
 */
export class ObservationBatches {
  readonly #monitor: Monitor;
  readonly #onBug: (error: unknown) => void;
  #pending: PendingPoll[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `onBug` gets what the monitor, or a callback of `add`, throws. */
  constructor(monitor: Monitor, onBug: (error: unknown) => void) {
    this.#monitor = monitor;
    this.#onBug = onBug;
  }

  /** `onObserved` is called once this is handed on. */
  add(result: PollResult, onObserved: OnObserved): void {
    this.#pending.push({ result, onObserved });
    if (this.#pending.length >= MOST_POLLS) {
      this.flush();
    } else {
      this.#timer ??= setTimeout(() => this.flush(), LONGEST_WAIT_MS);
    }
  }

  /** Hands on at once what is pending. */
  flush(): void {
    const pending = this.#pending;
    if (pending.length === 0) {
      return;
    }
    this.#pending = [];
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      const { changing, implausible } = this.#monitor.observe(
        pending.flatMap(({ result }) => result.observations),
      );
      this.#monitor.observeParity(pending.flatMap(({ result }) => result.readings));
      for (const { result, onObserved } of pending) {
        const isAmong = (keys: readonly string[]) =>
          result.observations.some(({ source }) => keys.includes(source));
        onObserved(isAmong(changing), isAmong(implausible));
      }
    } catch (error) {
      this.#onBug(error);
    }
  }
}
