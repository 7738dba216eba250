import { afterAll, beforeAll } from "vitest";
import { getCurrentSuite } from "vitest/suite";

/*
 * Loaded before each test file of the run without a fault. The code under test calls these functions where a fault can be planted; they
 * note which faults would have changed a value there.
 */

declare module "vitest" {
  interface TaskMeta {
    /** Ids of the faults that would have changed something while modules were loaded. They are loaded once for all files. */
    whileLoading?: readonly string[];
    /** Ids of the faults that would have changed something while the file's tests ran. */
    inTests?: readonly string[];
  }
}

type Operands = readonly [left: never, right: never];

const OPERATORS: Readonly<Record<string, (...operands: Operands) => unknown>> = {
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
  "===": (left, right) => left === right,
  "!==": (left, right) => left !== right,
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
};

const PROBES = {
  /** A value that the fault changes always. */
  always: (fault: string, value: unknown) => mark(fault, true, value),
  /** A value that the fault changes unless it is false or 0. */
  truthy: (fault: string, value: unknown) => mark(fault, Boolean(value), value),
  /** A predicate: the fault accepts all. */
  predicate:
    (fault: string, accepts: (...of: unknown[]) => unknown) =>
    (...of: unknown[]) => {
      const accepted = accepts(...of);
      return mark(fault, !accepted, accepted);
    },
  /** An operator and the one that the fault puts in its place. */
  operator: (fault: string, own: string, other: string, ...operands: Operands) => {
    const value = OPERATORS[own]?.(...operands);
    return mark(fault, !Object.is(value, OPERATORS[other]?.(...operands)), value);
  },
  /** A function of `Math` and the one that the fault puts in its place. */
  math: (fault: string, own: "min" | "floor", other: "min" | "floor", ...values: [number]) => {
    const value = Math[own](...values);
    return mark(fault, value !== Math[other](...values), value);
  },
};
export type Probe = keyof typeof PROBES;

let marked = new Set<string>();
Object.assign(globalThis, { PROBES });

const file = getCurrentSuite().file;
beforeAll(() => {
  file.meta.whileLoading = [...marked];
  marked = new Set();
});
afterAll(() => {
  file.meta.inTests = [...marked];
});

function mark<T>(fault: string, changed: boolean, value: T): T {
  if (changed) {
    marked.add(fault);
  }
  return value;
}
