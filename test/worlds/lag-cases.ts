import {
  type ChainModel,
  createChain,
  driftingPaces,
  headAt,
  timeOf,
} from "../../src/sim/model/chain-model.ts";
import { AT_THE_TIP, type IndexerModel } from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { StartCore } from "./core.ts";
import { percentile, type Row } from "./figures.ts";
import { chainsOf } from "./fleet.ts";
import { deliver, keyOf, poll, T0 } from "./simulated-poll.ts";

/** One situation in which the lag of a target without timestamps is measured. */
export interface LagCase {
  readonly name: string;
  readonly blockTimeMs: number;
  readonly lagMs: number;
  /** How long the target is polled after the sources of the reference. */
  readonly phaseMs: number;
  readonly timestamps: "reported" | "none";
}

export const LAG_CASES: readonly LagCase[] = [250, 2_000, 12_000].flatMap((blockTimeMs) =>
  (["none", "reported"] as const).flatMap((timestamps) =>
    [
      { lagMs: 5_000, phaseMs: 0 },
      { lagMs: 60_000, phaseMs: 7_000 },
      { lagMs: 2_400_000, phaseMs: 7_000 },
    ].map((late) => ({ name: caseName(blockTimeMs, late, timestamps), blockTimeMs, timestamps, ...late })),
  ),
);

function caseName(
  blockTimeMs: number,
  late: Pick<LagCase, "lagMs" | "phaseMs">,
  timestamps: LagCase["timestamps"],
): string {
  const phase = late.phaseMs === 0 ? "same tick" : `${late.phaseMs / 1_000} s later`;
  const clock = timestamps === "none" ? "no timestamps at all" : "one subgraph reports timestamps";
  return `${blockTimeMs / 1_000} s blocks, ${late.lagMs / 1_000} s behind, ${phase}, ${clock}`;
}

interface LagFigures {
  /** Milliseconds, of lags that the clock's history covers. */
  readonly errorsMs: readonly number[];
  readonly extrapolatedErrorsMs: readonly number[];
  readonly naiveErrorsMs: readonly number[];
}

const SCHEDULE_MS = 15_000;
const TICKS = 960;

/** Plays a case and holds each lag against the true one at the instant at which the target was read. */
function measureLagCase(lagCase: LagCase, start: StartCore): LagFigures {
  const { blockTimeMs } = lagCase;
  const model = createChain({
    slug: "bench",
    id: 42161,
    blockTimeMs,
    startMs: T0 - 1,
    startBlock: 300_000_000,
    jitter: 0.1,
    paces: driftingPaces({
      seed: lagCase.name,
      blockTimeMs,
      fromMs: T0,
      toMs: T0 + TICKS * SCHEDULE_MS,
      everyMs: 600_000,
      ratio: 0.05,
    }),
  });
  return play(lagCase, model, start);
}

function play(lagCase: LagCase, model: ChainModel, start: StartCore): LagFigures {
  const names = ["airdrops/multichain", "lockup/multichain", "airdrops/subgraph", "lockup/subgraph"];
  const targets = names.map((name) => ({ key: keyOf(name), pollIntervalMs: SCHEDULE_MS }));
  const models = names.map(
    (seed): IndexerModel => ({
      seed,
      chain: model,
      behaviour: { ...AT_THE_TIP, lagMs: seed === "lockup/subgraph" ? lagCase.lagMs : 0 },
    }),
  );
  const core = start(chainsOf(targets, lagCase.blockTimeMs));
  const random = createRandom(`lags/${lagCase.name}`);
  const figures = {
    errorsMs: [] as number[],
    extrapolatedErrorsMs: [] as number[],
    naiveErrorsMs: [] as number[],
  };
  for (let tick = 0; tick < TICKS; tick += 1) {
    const tickMs = T0 + tick * SCHEDULE_MS;
    const reads = targets.flatMap((target, index) => {
      const indexer = models[index];
      const isMeasured = index === 3;
      const sentAtMs = tickMs + (isMeasured ? lagCase.phaseMs : 0) + random();
      const timestamps = index === 2 ? lagCase.timestamps : "none";
      return indexer === undefined ? [] : [poll(target.key, indexer, { sentAtMs, random, timestamps })];
    });
    deliver(
      core,
      reads.map(({ observation }) => observation),
    );
    const reported = core.report(tickMs + lagCase.phaseMs + 1_000).targets[3];
    const measured = reads[3];
    const lagMs = reported?.lagMs ?? null;
    if (measured !== undefined && measured.observation.kind === "head" && lagMs !== null) {
      const { block } = measured.observation.head;
      const truthMs = timeOf(model, headAt(model, measured.readAtMs)) - timeOf(model, block);
      const extrapolated = reported?.lagExtrapolated === true;
      (extrapolated ? figures.extrapolatedErrorsMs : figures.errorsMs).push(Math.abs(lagMs - truthMs));
      figures.naiveErrorsMs.push(Math.abs(naiveLagMs(lagCase, reads, block) - truthMs));
    }
  }
  return figures;
}

/** The highest height that anybody reports, minus the target's, times the configured block time. */
function naiveLagMs(lagCase: LagCase, reads: readonly ReturnType<typeof poll>[], block: number): number {
  const heads = reads.map(({ observation }) => (observation.kind === "head" ? observation.head.block : 0));
  return (Math.max(...heads) - block) * lagCase.blockTimeMs;
}

/** One row of the table. */
export function lagRowOf(lagCase: LagCase, start: StartCore): Row {
  const { errorsMs, extrapolatedErrorsMs, naiveErrorsMs } = measureLagCase(lagCase, start);
  const seconds = (values: readonly number[], p: number) =>
    values.length === 0 ? "-" : (percentile(values, p) / 1_000).toFixed(2);
  return {
    case: lagCase.name,
    "within history": errorsMs.length,
    "error p50 (s)": seconds(errorsMs, 0.5),
    "error p99 (s)": seconds(errorsMs, 0.99),
    extrapolated: extrapolatedErrorsMs.length,
    "its error p99 (s)": seconds(extrapolatedErrorsMs, 0.99),
    "naive p99 (s)": seconds(naiveErrorsMs, 0.99),
  };
}
