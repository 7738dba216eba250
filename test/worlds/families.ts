import { CLOCK_STEPS, clockStepRowOf } from "./clock-steps.ts";
import { startMonitor } from "./core.ts";
import type { Row } from "./figures.ts";
import { FLEET_FAMILIES } from "./fleet-families.ts";
import { PACE_CASES, paceRowOf, WOBBLE_CASES, wobbleRowOf } from "./healthy-chains.ts";
import { GAP_CASES, gapRowOf, LAG_CASES, lagRowOf } from "./measured-cases.ts";
import { parityWorld, VALUE_KINDS } from "./parity-world.ts";
import { FAULT_SCRIPTS, faultRowOf } from "./play-fault.ts";
import { parityRowOf, playParity } from "./play-parity.ts";
import { MISTAKES, mistakesOf, type Played, playWorld } from "./play-world.ts";
import {
  fallingWorld,
  longWorld,
  passingWorld,
  randomWorld,
  restartWorld,
  takeoverWorld,
} from "./random-worlds.ts";
import { REPLICA_CASES, replicaRowOf } from "./replica-cases.ts";
import { REPORTED_FAMILIES } from "./reported-families.ts";
import type { World } from "./world.ts";

export interface Sample {
  readonly count: number;
  /** The index of the first world, so that a long run can be split. */
  readonly from: number;
}

export interface Family {
  /** The number of worlds, if they are random. */
  readonly count?: number;
  readonly rows: (sample: Sample) => readonly Row[];
  /** The largest value that each column of this row may have after this number of worlds. */
  readonly most: (row: Row, count: number) => Readonly<Record<string, number>>;
  /** The smallest value that each column may have. */
  readonly least?: (row: Row) => Readonly<Record<string, number>>;
}

const ORDER = "depends on the order";

/** Kinds that the rule does not cover, with the share of worlds that may go wrong. Of every other kind, 0.5 % may. */
const FLEET_LIMITS: Readonly<Record<string, number>> = {
  "creeps ahead by 1 to 10 %": 1,
  "drifts while the others are asked twice an hour": 1,
  "a halt of 1 to 9 minutes, a liar above the head": 0.2,
};

/** Families of worlds; docs/ACCURACY.md says how right Synclag is in each. */
export const FAMILIES: Readonly<Record<string, Family>> = {
  gaps: {
    rows: () => GAP_CASES.map((given) => gapRowOf(given)),
    most: (row) => ({ "error p99": isOfBatches(row) ? 3 : 1 }),
    least: (row) => ({ "truth inside": isOfBatches(row) ? 99 : 98 }),
  },
  lags: {
    rows: () => LAG_CASES.map((given) => lagRowOf(given)),
    // The limit is a little more than a block; the case begins with the block time.
    most: (row) => ({ "error p99 (s)": 0.4 + 1.15 * Number.parseFloat(String(row["case"])) }),
  },
  days: {
    rows: () => WOBBLE_CASES.map((given) => wobbleRowOf(given)),
    most: none("taken for re-indexes", "changes of status"),
    least: () => ({ "steps back": 100 }),
  },
  replicas: {
    rows: () => REPLICA_CASES.map((given) => replicaRowOf(given)),
    most: () => ({ "others accused": 0, "most in an hour": 1 }),
  },
  faults: {
    rows: () => FAULT_SCRIPTS.map((given) => faultRowOf(given)),
    most: none("later than 2 polls", "wrong otherwise"),
  },
  random: honest(randomWorld, 1_000, { orders: 10, known: 0.02 }),
  long: honest(longWorld, 100, { known: 0.1 }),
  falling: honest(fallingWorld, 1_000, { orders: 2, known: 0.4 }),
  restarts: honest(restartWorld, 1_000, { known: 0.02 }),
  takeovers: honest(takeoverWorld, 1_000, { known: 0.05 }),
  passing: honest(passingWorld, 1_000, { known: 0.9 }),
  clocks: {
    count: 200,
    rows: ({ count }) => CLOCK_STEPS.map((step) => clockStepRowOf(step, count)),
    most: none("a healthy target diverged", "wrong three polls after it is right again"),
  },
  paces: {
    count: 200,
    rows: ({ count }) => PACE_CASES.map((given) => paceRowOf(given, count)),
    most: none("a healthy target bad", "a lag at the reference's block"),
  },
  fleets: {
    count: 1_000,
    // A row for each kind of fleet.
    rows: (sample) =>
      Object.entries({ ...FLEET_FAMILIES, ...REPORTED_FAMILIES }).map(([fleet, make]) => ({
        fleet,
        ...worldRow(make, sample),
      })),
    most: ({ fleet = "" }, count) => inShare(FLEET_LIMITS[fleet] ?? 0.005, count),
  },
  parity: {
    count: 500,
    rows: parityRows,
    most: (row) => ({ "false differences": 0, "true differences": Number(row["told"]) }),
  },
};

/** The rows of a family, and the values that break their limits. */
export function playFamily(
  family: Family,
  sample: Sample,
): { readonly rows: readonly Row[]; readonly wrong: readonly string[] } {
  const rows = family.rows(sample);
  const wrong = rows.flatMap((row) => {
    const numberIn = (column: string): number => Number.parseFloat(String(row[column]));
    const most = Object.entries(family.most(row, sample.count));
    const least = Object.entries(family.least?.(row) ?? {});
    return [
      ...most.flatMap(([column, limit]) =>
        numberIn(column) <= limit ? [] : [`more than ${limit}: ${column}`],
      ),
      ...least.flatMap(([column, limit]) =>
        numberIn(column) >= limit ? [] : [`less than ${limit}: ${column}`],
      ),
    ].map((what) => `${what} in ${JSON.stringify(row)}`);
  });
  return { rows, wrong };
}

/** Worlds with a known truth, each played in several orders of arrival. `known`: the share of worlds in which something may be wrong. */
function honest(
  make: (index: number) => World,
  count: number,
  { orders = 1, known }: { readonly orders?: number; readonly known: number },
): Family {
  return {
    count,
    rows: (sample) => [worldRow(make, sample, orders)],
    most: (_, played) => inShare(known, played),
  };
}

function isOfBatches(row: Row): boolean {
  return String(row["case"]).startsWith("batches");
}

function none(...columns: readonly string[]): Family["most"] {
  return () => Object.fromEntries(columns.map((column) => [column, 0]));
}

/** The limits of a row if this share of its worlds may go wrong. */
function inShare(share: number, count: number): Readonly<Record<string, number>> {
  const most = Math.floor(share * count + 1e-9);
  return Object.fromEntries([...Object.values(MISTAKES), ORDER].map((column) => [column, most]));
}

/** Each column counts the worlds in which its mistake occurred at any moment. */
function worldRow(make: (index: number) => World, { count, from }: Sample, orders = 1): Row {
  const played = Array.from({ length: count }, (_, index) => {
    const world = make(from + index);
    return Array.from({ length: orders }, (_unused, order) => playWorld(world, startMonitor, order));
  });
  const wrong = Object.entries(MISTAKES).map(([what, column]) => {
    const isWrong = (play: Played): boolean => play[what as keyof typeof MISTAKES].length > 0;
    return [column, played.filter((plays) => plays.some(isWrong)).length] as const;
  });
  const [example = "–"] = played.flatMap((plays, index) =>
    plays.flatMap(mistakesOf).map((said) => `world ${from + index}, ${said}`),
  );
  const outcomes = played.map((plays) => new Set(plays.map(({ outcome }) => outcome)).size);
  return {
    played: `${count} × ${orders}`,
    ...Object.fromEntries(wrong),
    [ORDER]: outcomes.filter((different) => different > 1).length,
    example,
  };
}

function parityRows({ count, from }: Sample): readonly Row[] {
  const played = Array.from({ length: count }, (_, index) => {
    const world = parityWorld(from + index);
    return { kind: world.kind, ...playParity(world) };
  });
  const ofKind = VALUE_KINDS.map((kind) =>
    parityRowOf(
      kind,
      played.filter((one) => one.kind === kind),
    ),
  );
  return [...ofKind, parityRowOf("all", played)];
}
