import type { PollTimes } from "./observation.ts";

/** Values of one protocol that must be equal in several variants: one entry of `parity` in chains.yaml. */
export interface ParityProbe {
  /** The metric label `probe`; unique in a fleet. */
  readonly name: string;
  readonly protocol: string;
  /** The shortest time between two requests that carry its query. */
  readonly everyMs: number;
  /** Slugs of the chains on which the variants are compared. */
  readonly chains: readonly string[];
  /** At least two, in the order of the fleet's indexers. */
  readonly variants: readonly string[];
}

/** A value as it is compared: numbers and decimal strings by value, everything else as JSON. */
export interface ParityValue {
  /** `12.50` and `12.5` have the same canonical text, `12.5`; other strings are in quotes, so that "null" is not null. */
  readonly text: string;
  readonly isNumber: boolean;
}

/** The value of one probe on one target, in the reply to one poll. The block is of the same reply. */
export type ParityReading = PollTimes & {
  readonly probe: string;
  /** The target's key. */
  readonly target: string;
} & (
    | { readonly kind: "value"; readonly block: number; readonly value: ParityValue }
    /** The reply has no value that can be compared. */
    | { readonly kind: "unreadable"; readonly detail: string }
  );
