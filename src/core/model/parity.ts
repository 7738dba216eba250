import type { PollTimes } from "./observation.ts";

/** Values of one protocol that must be equal in several variants: one entry of `parity` in chains.yaml. */
export interface ParityProbe {
  /** The metric label `probe`; unique in a fleet. */
  readonly name: string;
  readonly protocol: string;
  /** The first poll that falls due after this time carries the selection. */
  readonly everyMs: number;
  /** Slugs of the chains on which the variants are compared. */
  readonly chains: readonly string[];
  /** At least two, in the order of the fleet's indexers. */
  readonly variants: readonly string[];
}

/** What a probe asks of one target, sent with the query for the height. */
export interface CarriedSelection {
  /** The probe's name. */
  readonly probe: string;
  /** As of the probe. */
  readonly everyMs: number;
  /** The target's key. */
  readonly target: string;
  /** A GraphQL selection with filled placeholders, without an alias. */
  readonly select: string;
  /** The path of the value in `data`: field names and indexes, e.g. `["campaigns", "0", "subgraphId"]`. */
  readonly value: readonly string[];
}

/** A value as it is compared: numbers and decimal strings by value, everything else as JSON. */
export interface ParityValue {
  /** `12.50` and `12.5` have the same canonical text, `12.5`; other strings are in quotes, so that "null" is not null. */
  readonly text: string;
  readonly isNumber: boolean;
}

/** What one poll said of one probe on one target. The block belongs to the same answer as the value. */
export type ParityReading = PollTimes & {
  readonly probe: string;
  /** The target's key. */
  readonly target: string;
} & (
    | { readonly kind: "value"; readonly block: number; readonly value: ParityValue }
    /** The selection could not be answered or read. `detail` is the server's words, without secrets. */
    | { readonly kind: "failed"; readonly detail: string }
  );
