import { type ChainModel, headAt, paceAt, timeOf, withPace } from "../model/chain-model.ts";

/** A chain of a fleet. Its pace can be changed while the fleet runs. */
export class SimulatedChain {
  #model: ChainModel;
  readonly #nominalBlockTimeMs: number;
  readonly #nowMs: () => number;

  constructor(
    model: ChainModel,
    options: { readonly nominalBlockTimeMs: number; readonly nowMs: () => number },
  ) {
    this.#model = model;
    this.#nominalBlockTimeMs = options.nominalBlockTimeMs;
    this.#nowMs = options.nowMs;
  }

  get slug(): string {
    return this.#model.slug;
  }

  get id(): number {
    return this.#model.id;
  }

  /** The chain as plain data: replaced at every change of pace. */
  get model(): ChainModel {
    return this.#model;
  }

  /** The true head, now or at an instant. */
  headAt(atMs = this.#nowMs()): number {
    return headAt(this.#model, atMs);
  }

  timeOf(block: number): number {
    return timeOf(this.#model, block);
  }

  /** Stops producing blocks. */
  halt(): void {
    this.#changePace(null);
  }

  /** Produces blocks again, at the usual pace or `factor` times as fast. */
  resume(factor = 1): void {
    this.#changePace(this.#nominalBlockTimeMs / factor);
  }

  /** Returns to its usual pace. */
  heal(): void {
    if (paceAt(this.#model, this.#nowMs()) !== this.#nominalBlockTimeMs) {
      this.resume();
    }
  }

  #changePace(blockTimeMs: number | null): void {
    this.#model = withPace(this.#model, { atMs: this.#nowMs(), blockTimeMs });
  }
}
