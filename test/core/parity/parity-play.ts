import type { Target } from "../../../src/core/model/fleet.ts";
import type { ParityValue } from "../../../src/core/model/parity.ts";
import type { PairState } from "../../../src/core/parity/pair-state.ts";
import {
  NO_PARITY,
  observeReadings,
  type ParityState,
  pairStateOf,
  type TakenReading,
} from "../../../src/core/parity/parity-state.ts";
import type { WatchedProbe } from "../../../src/core/parity/watched-probe.ts";
import { BASE, T0, targetOn } from "../chain/chain-fixture.ts";

const MINUTE = 60_000;
const STALE_MS = 5 * MINUTE;

/** What a variant says: its height, and the value there. */
export type Said = readonly [block: number, value: number | string | boolean | null];

/** A probe over production targets of these variants, each compared with those before it. */
function probeOver(variants: readonly string[], everyMs = MINUTE): WatchedProbe {
  const targets = variants.map((variant) => targetOn(BASE, `airdrops/${variant}`));
  return {
    name: "rows",
    everyMs,
    targets: targets.map((target) => ({ target, select: "rows { n }", query: "q" })),
    pairs: targets.flatMap((target, index) =>
      targets.slice(0, index).map((against) => ({ target, against })),
    ),
  };
}

/** Plays readings of one probe, a minute after another unless told otherwise. */
export class ParityPlay {
  readonly probe: WatchedProbe;
  state: ParityState = NO_PARITY;
  nowMs = T0;

  constructor(variants: readonly string[] = ["a", "b"], everyMs = MINUTE) {
    this.probe = probeOver(variants, everyMs);
  }

  /** One tick, in which these variants are read at once. */
  read(said: Readonly<Record<string, Said>>, stepMs = this.probe.everyMs): this {
    this.nowMs += stepMs;
    return this.take(
      Object.entries(said).map(([variant, [block, value]]) =>
        takenReading(this.#target(variant), { block, value: parityValue(value), atMs: this.nowMs }),
      ),
    );
  }

  take(taken: readonly TakenReading[]): this {
    this.state = observeReadings(this.state, { probes: [this.probe], staleMs: STALE_MS }, taken);
    return this;
  }

  pair(target = "b", against = "a"): PairState {
    return pairStateOf(this.state, this.probe, {
      target: this.#target(target),
      against: this.#target(against),
    });
  }

  #target(variant: string): Target {
    const found = this.probe.targets.find(({ target }) => target.variant === variant);
    if (found === undefined) {
      throw new Error(`Cannot read ${variant}: the probe has no such variant`);
    }
    return found.target;
  }
}

/** A trusted reading of a target. */
export function takenReading(
  { key }: Target,
  { block, value, atMs }: { readonly block: number; readonly value: ParityValue; readonly atMs: number },
): TakenReading {
  return {
    reading: {
      kind: "value",
      probe: "rows",
      target: key,
      block,
      value,
      sentAtMs: atMs - 50,
      receivedAtMs: atMs,
    },
    trust: "trusted",
    deployment: null,
  };
}

export function parityValue(value: Said[1]): ParityValue {
  const isNumber = typeof value === "number";
  return { text: typeof value === "string" ? value : JSON.stringify(value), isNumber };
}
