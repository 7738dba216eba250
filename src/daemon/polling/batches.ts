import type { Observed } from "../../core/chain/observed.ts";
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
  readonly resolve: (verdict: PollVerdict) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Hands on together what all polls that end in one turn of the event loop have brought: what follows from all sources of a
 * chain is then worked out once, and not once for each observation.
 */
export class ObservationBatches {
  readonly #observer: Observer;
  #pending: PendingPoll[] = [];

  constructor(observer: Observer) {
    this.#observer = observer;
  }

  /** Settles once this is handed on, at the end of this turn of the event loop. Rejects with what the observer throws. */
  add(polled: Polled): Promise<PollVerdict> {
    if (this.#pending.length === 0) {
      setImmediate(() => this.flush());
    }
    return new Promise((resolve, reject) => {
      this.#pending.push({ polled, resolve, reject });
    });
  }

  /** Hands on at once what is pending: before the fleet changes, for example. */
  flush(): void {
    const pending = this.#pending;
    if (pending.length === 0) {
      return;
    }
    this.#pending = [];
    try {
      const observed = this.#observer.observe(pending.flatMap(({ polled }) => polled.observations));
      this.#observer.observeParity(pending.flatMap(({ polled }) => polled.readings));
      for (const { polled, resolve } of pending) {
        resolve(verdictOf(polled, observed));
      }
    } catch (error) {
      for (const { reject } of pending) {
        reject(error);
      }
    }
  }
}

function verdictOf({ observations }: Polled, { changing, implausible }: Observed): PollVerdict {
  return {
    stability: observations.some(({ source }) => changing.includes(source)) ? "changing" : "stable",
    isImplausible: observations.some(({ source }) => implausible.includes(source)),
  };
}
