import type { ParityValue } from "../model/parity.ts";
import type { KnownValues, ValueRun } from "./known-values.ts";

/** The highest block at which two sources are known. */
export interface SharedHeight {
  readonly block: number;
  readonly own: ParityValue;
  readonly against: ParityValue;
  /** `read`: both were read at this height; `between`: one value holds between two equal readings. */
  readonly evidence: "read" | "between";
  /** How many blocks above it the higher of the two was read last. */
  readonly belowHead: number;
}

/** Finds the highest block at which both are known, or null. */
export function highestShared(own: KnownValues, against: KnownValues): SharedHeight | null {
  const head = Math.max(own.runs.at(-1)?.to ?? 0, against.runs.at(-1)?.to ?? 0);
  for (const one of own.runs.toReversed()) {
    const other = against.runs.findLast(({ from, to }) => from <= one.to && to >= one.from);
    if (other !== undefined) {
      const block = Math.min(one.to, other.to);
      const evidence = wasReadAt(one, block) && wasReadAt(other, block) ? "read" : "between";
      return { block, own: one, against: other, evidence, belowHead: head - block };
    }
  }
  return null;
}

/** `against - own` where both are numbers, else null. Exact for decimals of any length until the result is rounded. */
export function differenceOf(own: ParityValue, against: ParityValue): number | null {
  const one = decimalOf(own);
  const other = decimalOf(against);
  if (one === null || other === null) {
    return null;
  }
  const scale = Math.max(one.scale, other.scale);
  const units = scaled(other, scale) - scaled(one, scale);
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0");
  const point = digits.length - scale;
  const difference = Number(`${units < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}0`);
  return Number.isFinite(difference) ? difference : null;
}

function wasReadAt({ from, to }: ValueRun, block: number): boolean {
  return block === from || block === to;
}

interface Decimal {
  readonly units: bigint;
  /** How many of its digits are behind the point. */
  readonly scale: number;
}

function decimalOf({ text, isNumber }: ParityValue): Decimal | null {
  const [, whole, fraction = ""] = /^(-?\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  return isNumber && whole !== undefined
    ? { units: BigInt(`${whole}${fraction}`), scale: fraction.length }
    : null;
}

function scaled({ units, scale }: Decimal, toScale: number): bigint {
  return units * 10n ** BigInt(toScale - scale);
}
