import { type PaceChange, timeOf } from "../../src/sim/model/chain-model.ts";
import {
  AT_THE_HEAD,
  type IndexerBehaviour,
  type IndexerModel,
  processedAt,
} from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import { driftingPaces } from "../support/drifting-paces.ts";
import { startMonitor } from "./core.ts";
import { percentile, type Row } from "./figures.ts";
import { chainsOf, polledEach } from "./fleet.ts";
import { benchChain, deliver, keyOf, poll, T0 } from "./simulated-poll.ts";

/** One situation in which the gap between two variants is measured. */
interface GapCase {
  readonly name: string;
  readonly scheduleMs: number;
  /** Its batch size, if it differs from that of the other variant. */
  readonly targetScheduleMs?: number;
  readonly blockTimeMs: number;
  readonly jitter?: number;
  readonly paces?: (endMs: number) => readonly PaceChange[];
  readonly target?: Partial<IndexerBehaviour>;
}

const ARBITRUM = { id: 42161, startBlock: 300_000_000 };
const SCHEDULE_MS = 15_000;
const GAP_TICKS = 1_500;
/** Estimates before this tick are not judged: the first ones have no measures yet. */
const WARM_UP = 20;
const FAST = { blockTimeMs: 250, scheduleMs: SCHEDULE_MS } as const;

function paceFrom(blockTimeMs: number): NonNullable<GapCase["paces"]> {
  return (endMs) => [{ atMs: (T0 + endMs) / 2, blockTimeMs }];
}

export const GAP_CASES: readonly GapCase[] = [
  { name: "equal, each 1 s", ...FAST, scheduleMs: 1_000 },
  { name: "equal, each 15 s", ...FAST },
  { name: "equal, each 60 s", ...FAST, scheduleMs: 60_000 },
  { name: "equal, blocks up to 80 % late", ...FAST, jitter: 0.8 },
  { name: "10 behind", ...FAST, target: { lagBlocks: 10 } },
  { name: "1,000 behind", ...FAST, target: { lagBlocks: 1_000 } },
  { name: "100,000 behind", ...FAST, target: { lagBlocks: 100_000 } },
  { name: "pace doubles midway", ...FAST, paces: paceFrom(125) },
  { name: "pace halves midway", ...FAST, paces: paceFrom(500) },
  { name: "batches of 1 to 50, each 1 s", ...FAST, scheduleMs: 1_000, target: { batchBlocks: 25 } },
  { name: "batches of 1 to 50, each 15 s", ...FAST, target: { batchBlocks: 25 } },
  { name: "batches of 1 to 50, 12 s blocks", ...FAST, blockTimeMs: 12_000, target: { batchBlocks: 25 } },
  { name: "15 s against 30 min", ...FAST, targetScheduleMs: 1_800_000 },
];

/** One row of the table: the error of the estimates in blocks, at the instant at which the target was read. */
export function gapRowOf(given: GapCase): Row {
  const measured = measureGap(given);
  const show = (p: number, of: (one: (typeof measured)[number]) => number) => {
    const value = percentile(measured.map(of), p);
    return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
  };
  // A gap is reported to a tenth of a block.
  const inside = measured.filter(({ error, uncertainty }) => error <= uncertainty + 0.05);
  return {
    case: given.name,
    "error p50": show(0.5, ({ error }) => error),
    "error p99": show(0.99, ({ error }) => error),
    "truth inside": `${((100 * inside.length) / measured.length).toFixed(1)} %`,
    "± median": show(0.5, ({ uncertainty }) => uncertainty),
    "naive p50": show(0.5, (one) => one.naiveError),
    "naive p99": show(0.99, (one) => one.naiveError),
  };
}

function measureGap(given: GapCase) {
  const { blockTimeMs, scheduleMs, targetScheduleMs = scheduleMs } = given;
  const chain = benchChain({
    ...{ ...ARBITRUM, blockTimeMs, startMs: T0 - 86_400_000, jitter: given.jitter ?? 0 },
    paces: given.paces?.(T0 + GAP_TICKS * scheduleMs) ?? [],
  });
  const against: IndexerModel = { seed: "against", chain, behaviour: AT_THE_HEAD };
  const target: IndexerModel = { seed: "target", chain, behaviour: { ...AT_THE_HEAD, ...given.target } };
  const gapAt = (atMs: number) => (processedAt(against, atMs) ?? 0) - (processedAt(target, atMs) ?? 0);
  const [a, b] = [keyOf("airdrops/multichain"), keyOf("airdrops/subgraph")];
  const sources = [...polledEach(scheduleMs, [a]), ...polledEach(targetScheduleMs, [b])];
  const core = startMonitor(chainsOf(sources, blockTimeMs));
  const random = createRandom(`gaps/${given.name}`);
  /** Two monitors that poll each variant every 15 s, each at its own moment, and subtract the two heights. */
  const naiveErrorAt = (sentAtMs: number): number => {
    const [first = 0, second = 0] = [against, target].map((model) => {
      const { observation } = poll("", model, { random, sentAtMs: sentAtMs - random() * SCHEDULE_MS });
      return observation.kind === "head" ? observation.head.block : 0;
    });
    return Math.abs(first - second - gapAt(sentAtMs));
  };
  const rounds = targetScheduleMs / scheduleMs;
  const measured: Readonly<Record<"error" | "uncertainty" | "naiveError", number>>[] = [];
  for (let tick = 0; tick < GAP_TICKS * Math.min(rounds, 20); tick += 1) {
    const sentAtMs = T0 + tick * scheduleMs + random();
    const first = poll(a, against, { sentAtMs, random });
    if (tick % rounds !== 0) {
      deliver(core, [first.observation]);
      continue;
    }
    const second = poll(b, target, { sentAtMs, random });
    deliver(core, [first.observation, second.observation]);
    if (tick >= WARM_UP) {
      const [gap] = core.report(sentAtMs + 1_000).gaps;
      const error = Math.abs((gap?.blocks ?? Number.POSITIVE_INFINITY) - gapAt(second.readAtMs));
      const uncertainty = gap?.uncertainty_blocks ?? 0;
      measured.push({ error, uncertainty, naiveError: naiveErrorAt(sentAtMs) });
    }
  }
  return measured;
}

/** One situation in which the lag of a target without timestamps is measured. */
interface LagCase {
  readonly name: string;
  readonly blockTimeMs: number;
  readonly lagMs: number;
  /** How long the target is polled after the sources of the reference. */
  readonly phaseMs: number;
  readonly timestamps: "reported" | "none";
}

const CLOCKS = { none: "no timestamps at all", reported: "one subgraph reports timestamps" } as const;

export const LAG_CASES: readonly LagCase[] = [250, 2_000, 12_000].flatMap((blockTimeMs) =>
  (["none", "reported"] as const).flatMap((timestamps) =>
    [
      { lagMs: 5_000, phaseMs: 0, phase: "same tick" },
      { lagMs: 60_000, phaseMs: 7_000, phase: "7 s later" },
      { lagMs: 2_400_000, phaseMs: 7_000, phase: "7 s later" },
    ].map(({ phase, ...late }) => ({
      name: `${blockTimeMs / 1_000} s blocks, ${late.lagMs / 1_000} s behind, ${phase}, ${CLOCKS[timestamps]}`,
      ...{ blockTimeMs, timestamps, ...late },
    })),
  ),
);

const LAG_TICKS = 960;
const NAMES = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"];
/** The target that lags. */
const MEASURED = 3;

/** One row of the table: the error of the lags at the instant at which the target was read. */
export function lagRowOf(given: LagCase): Row {
  const lags = measureLag(given);
  const seconds = (isExtrapolated: boolean, p: number): string => {
    const errors = lags.filter((one) => one.isExtrapolated === isExtrapolated).map(({ errorMs }) => errorMs);
    return errors.length === 0 ? "-" : (percentile(errors, p) / 1_000).toFixed(2);
  };
  const extrapolated = lags.filter(({ isExtrapolated }) => isExtrapolated).length;
  return {
    case: given.name,
    "within history": lags.length - extrapolated,
    "error p50 (s)": seconds(false, 0.5),
    "error p99 (s)": seconds(false, 0.99),
    extrapolated,
    "its error p99 (s)": seconds(true, 0.99),
  };
}

function measureLag(given: LagCase) {
  const { blockTimeMs, lagMs, name, phaseMs } = given;
  const span = { fromMs: T0, toMs: T0 + LAG_TICKS * SCHEDULE_MS };
  const paces = driftingPaces({ seed: name, blockTimeMs, ...span, everyMs: 600_000, ratio: 0.05 });
  const chain = benchChain({ ...ARBITRUM, blockTimeMs, startMs: T0 - 1, jitter: 0.1, paces });
  const core = startMonitor(chainsOf(polledEach(SCHEDULE_MS, NAMES.map(keyOf)), blockTimeMs));
  const random = createRandom(`lags/${name}`);
  const measured: { readonly isExtrapolated: boolean; readonly errorMs: number }[] = [];
  for (let tickMs = T0; tickMs < span.toMs; tickMs += SCHEDULE_MS) {
    const reads = NAMES.map((seed, index) => {
      const isMeasured = index === MEASURED;
      const behaviour = { ...AT_THE_HEAD, lagMs: isMeasured ? lagMs : 0 };
      const sentAtMs = tickMs + (isMeasured ? phaseMs : 0) + random();
      const timestamps = index === 1 ? given.timestamps : "none";
      return poll(keyOf(seed), { seed, chain, behaviour }, { sentAtMs, random, timestamps });
    });
    const said = reads.map(({ observation }) => observation);
    deliver(core, said);
    const report = core.report(tickMs + phaseMs + 1_000).targets[MEASURED];
    const read = reads[MEASURED];
    if (read?.observation.kind === "head" && report?.lag_seconds != null) {
      const { block } = read.observation.head;
      const truthMs = Math.max(0, read.readAtMs - timeOf(chain, block + 1));
      const errorMs = Math.abs(report.lag_seconds * 1_000 - truthMs);
      measured.push({ isExtrapolated: report.lag_extrapolated, errorMs });
    }
  }
  return measured;
}
