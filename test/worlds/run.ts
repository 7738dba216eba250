import { parseArgs } from "node:util";
import { CLOCK_STEPS, clockStepRowOf } from "./clock-steps.ts";
import { type StartCore, startMonitor } from "./core.ts";
import { markdownTable, type Row } from "./figures.ts";
import { FLEET_FAMILIES } from "./fleet-families.ts";
import { PACE_CASES, paceRowOf, WOBBLE_CASES, wobbleRowOf } from "./healthy-chains.ts";
import { GAP_CASES, gapRowOf, LAG_CASES, lagRowOf } from "./measured-cases.ts";
import { parityWorld, VALUE_KINDS } from "./parity-world.ts";
import { FAULT_SCRIPTS, faultRowOf } from "./play-fault.ts";
import { parityRowOf, playParity } from "./play-parity.ts";
import { type Played, playWorld } from "./play-world.ts";
import {
  fallingWorld,
  longWorld,
  passingWorld,
  randomWorld,
  restartWorld,
  takeoverWorld,
} from "./random-worlds.ts";
import { REPLICA_CASES, replicaRowOf } from "./replica-cases.ts";
import type { World } from "./world.ts";

/*
 * Plays families of worlds against the core and prints a table of each. It fails where a number is worse than
 * docs/ACCURACY.md says.
 */

interface Sample {
  readonly count: number;
  /** The first world: a long run can be made in pieces. */
  readonly from: number;
}

interface Family {
  /** Worlds, where they are random. */
  readonly count?: number;
  readonly rows: (sample: Sample, start: StartCore) => readonly Row[];
  /** What must be 0 in each row. */
  readonly zero: readonly string[];
  /** In place of 0: in this share of the worlds at most goes wrong what docs/ACCURACY.md says, by the first cell of a row. */
  readonly known?: (name: string) => number;
}

/** What may go wrong in a world, by column. */
const MISTAKES = {
  accused: "sound source accused",
  untold: "far wrong one not told",
  referenceLow: "reference too low",
  referenceHigh: "reference too high",
  noReference: "no reference",
  wrongLag: "wrong lag",
} as const satisfies Partial<Record<keyof Played, string>>;
const ORDER = "depends on the order";

/** In which share of the fleets of a kind something goes wrong that nobody can know better; of all others, in 3 % for a moment. */
const FLEET_LIMITS: Readonly<Record<string, number>> = {
  "two of three late, without times": 0.4,
  "followers of final blocks": 0.3,
  "creeps ahead by 1 to 10 %": 0.4,
  "drifts while the others are asked twice an hour": 0.15,
};

const FAMILIES: Readonly<Record<string, Family>> = {
  gaps: { rows: (_, start) => GAP_CASES.map((given) => gapRowOf(given, start)), zero: [] },
  lags: { rows: (_, start) => LAG_CASES.map((given) => lagRowOf(given, start)), zero: [] },
  days: {
    rows: (_, start) => WOBBLE_CASES.map((given) => wobbleRowOf(given, start)),
    zero: ["taken for re-indexes", "changes of status"],
  },
  replicas: {
    rows: (_, start) => REPLICA_CASES.map((given) => replicaRowOf(given, start)),
    zero: ["others accused"],
  },
  faults: {
    rows: (_, start) => FAULT_SCRIPTS.map((script) => faultRowOf(script, start)),
    zero: ["later than 2 polls", "wrong otherwise"],
  },
  random: { ...honest(randomWorld, { count: 1_000, orders: 10 }), known: () => 0.003 },
  long: { ...honest(longWorld, { count: 100, orders: 1 }), known: () => 0.1 },
  falling: { ...honest(fallingWorld, { count: 1_000, orders: 2 }), known: () => 0.005 },
  restarts: { ...honest(restartWorld, { count: 1_000, orders: 1 }), known: () => 0.004 },
  takeovers: { ...honest(takeoverWorld, { count: 1_000, orders: 1 }), known: () => 0.065 },
  passing: { ...honest(passingWorld, { count: 1_000, orders: 1 }), known: () => 0.055 },
  clocks: {
    count: 200,
    rows: ({ count }, start) => CLOCK_STEPS.map((step) => clockStepRowOf(step, count, start)),
    zero: ["a healthy target diverged", "wrong three polls after it is right again"],
  },
  paces: {
    count: 200,
    rows: ({ count }, start) => PACE_CASES.map((given) => paceRowOf(given, count, start)),
    zero: ["a healthy target bad", "a lag at the reference's block"],
  },
  fleets: {
    count: 1_000,
    rows: fleetRows,
    zero: Object.values(MISTAKES),
    known: (name) => FLEET_LIMITS[name] ?? 0.03,
  },
  parity: { count: 500, rows: parityRows, zero: ["false differences"] },
};

/** Worlds whose honest sources are right, each in so many orders of arrival. */
function honest(
  make: (index: number) => World,
  { count, orders }: { readonly count: number; readonly orders: number },
): Family {
  const rows: Family["rows"] = (sample, start) => [worldRow(make, sample, start, orders)];
  return { count, rows, zero: [...Object.values(MISTAKES), ORDER] };
}

/** A column counts the worlds in which that was wrong at any moment. */
function worldRow(
  make: (index: number) => World,
  { count, from }: Sample,
  start: StartCore,
  orders: number,
): Row {
  const played = Array.from({ length: count }, (_, index) => {
    const world = make(from + index);
    return Array.from({ length: orders }, (_unused, order) => playWorld(world, start, order));
  });
  const wrong = Object.entries(MISTAKES).map(([what, column]) => {
    const isWrong = (play: Played): boolean => play[what as keyof typeof MISTAKES].length > 0;
    return [column, played.filter((plays) => plays.some(isWrong)).length] as const;
  });
  const outcomes = played.map((plays) => new Set(plays.map(({ outcome }) => outcome)).size);
  return {
    played: `${count} × ${orders}`,
    ...Object.fromEntries(wrong),
    [ORDER]: outcomes.filter((different) => different > 1).length,
  };
}

/** A row for each kind of fleet. */
function fleetRows(sample: Sample, start: StartCore): readonly Row[] {
  return Object.entries(FLEET_FAMILIES).map(([fleet, make]) => ({
    fleet,
    ...worldRow(make, sample, start, 1),
  }));
}

function parityRows({ count, from }: Sample, start: StartCore): readonly Row[] {
  const played = Array.from({ length: count }, (_, index) => {
    const world = parityWorld(from + index);
    return { kind: world.kind, ...playParity(world, start) };
  });
  const ofKind = VALUE_KINDS.map((kind) =>
    parityRowOf(
      kind,
      played.filter((one) => one.kind === kind),
    ),
  );
  return [...ofKind, parityRowOf("all", played)];
}

function run(name: string, family: Family, given: { readonly count?: string; readonly from: string }): void {
  const started = process.cpuUsage().user;
  const sample = { count: Number(given.count ?? family.count ?? 0), from: Number(given.from) };
  const rows = family.rows(sample, startMonitor);
  const seconds = (process.cpuUsage().user - started) / 1e6;
  console.log(`\n## ${name} (${seconds.toFixed(0)} s of CPU time)\n\n${markdownTable(rows)}`);
  const { known = () => 0, zero } = family;
  for (const row of rows) {
    const [first] = Object.values(row);
    const most = Math.ceil(known(String(first)) * sample.count);
    const wrong = zero.filter((column) => !(Number(row[column]) <= most));
    if (wrong.length > 0) {
      console.log(`\n${first}: more than ${most}: ${wrong.join(", ")}`);
      process.exitCode = 1;
    }
  }
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { count: { type: "string" }, from: { type: "string", default: "0" } },
});
const chosen = positionals.length === 0 ? Object.keys(FAMILIES) : positionals;
for (const name of chosen) {
  const family = FAMILIES[name];
  if (family === undefined) {
    console.log(`Cannot play ${name}: expected ${Object.keys(FAMILIES).join(", ")}`);
    process.exitCode = 2;
  } else {
    run(name, family, values);
  }
}
