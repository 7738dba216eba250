import type { Observed } from "../../core/chain/chain.ts";
import type { Observation } from "../../core/model/observation.ts";
import type { ParityReading } from "../../core/model/parity.ts";
import type { Stability } from "./confirmations.ts";
import type { PollResult } from "./poll.ts";

/** What a batch is given to. */
export interface Observer {
  readonly observe: (observations: readonly Observation[]) => Observed;
  /** Called after `observe`, with the values that came with the observations. */
  readonly observeParity: (readings: readonly ParityReading[]) => void;
}

/** What the observations of one poll showed. */
export interface PollVerdict {
  readonly stability: Stability;
  readonly isImplausible: boolean;
}

/** What one poll brought. */
type Polled = Pick<PollResult, "observations" | "readings">;

interface PendingPoll {
  readonly polled: Polled;
  readonly onObserved: (verdict: PollVerdict) => void;
}

/** No poll waits longer for what follows from it: less than a reply takes. */
const LONGEST_WAIT_MS = 50;
/** So many polls are folded in within a few milliseconds, for which the event loop is blocked. */
const MOST_POLLS = 64;

/**
 * Collects what polls have brought, and hands it on together: what follows from all sources of a chain is then worked out
 * once, and not once for each observation. Whoever reads what follows calls `flush()` first, and so never sees less.
 */
export class ObservationBatches {
  readonly #observer: Observer;
  readonly #onBug: (error: unknown) => void;
  #pending: PendingPoll[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** `onBug` gets what the observer, or a callback of `add`, throws. */
  constructor(observer: Observer, onBug: (error: unknown) => void) {
    this.#observer = observer;
    this.#onBug = onBug;
  }

  /** `onObserved` is called once this is handed on. */
  add(polled: Polled, onObserved: (verdict: PollVerdict) => void): void {
    this.#pending.push({ polled, onObserved });
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
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    try {
      const observed = this.#observer.observe(pending.flatMap(({ polled }) => polled.observations));
      this.#observer.observeParity(pending.flatMap(({ polled }) => polled.readings));
      for (const { polled, onObserved } of pending) {
        onObserved(verdictOf(polled, observed));
      }
    } catch (error) {
      this.#onBug(error);
    }
  }
}

function verdictOf({ observations }: Polled, { changing, implausible }: Observed): PollVerdict {
  return {
    stability: observations.some(({ source }) => changing.includes(source)) ? "changing" : "stable",
    isImplausible: observations.some(({ source }) => implausible.includes(source)),
  };
}
