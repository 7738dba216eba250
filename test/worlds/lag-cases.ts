import { createChain, headAt, timeOf } from "../../src/sim/model/chain-model.ts";
import { AT_THE_TIP } from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import { driftingPaces } from "../support/drifting-paces.ts";
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

const SCHEDULE_MS = 15_000;
const TICKS = 960;
const NAMES = ["airdrops/multichain", "airdrops/subgraph", "lockup/multichain", "lockup/subgraph"];
/** The one that lags. */
const MEASURED = 3;

/** One row of the table. */
export function lagRowOf(given: LagCase, start: StartCore): Row {
  const lags = play(given, start);
  const seconds = (kind: Measured["kind"], p: number): string => {
    const errors = lags.filter((one) => one.kind === kind).map(({ errorMs }) => errorMs);
    return errors.length === 0 ? "-" : (percentile(errors, p) / 1_000).toFixed(2);
  };
  return {
    case: given.name,
    "within history": lags.filter(({ kind }) => kind === "within history").length,
    "error p50 (s)": seconds("within history", 0.5),
    "error p99 (s)": seconds("within history", 0.99),
    extrapolated: lags.filter(({ kind }) => kind === "extrapolated").length,
    "its error p99 (s)": seconds("extrapolated", 0.99),
  };
}

/** A lag, against the true one at the instant at which the target was read; whether the clock's history covers it. */
interface Measured {
  readonly kind: "within history" | "extrapolated";
  readonly errorMs: number;
}

function play(given: LagCase, start: StartCore): readonly Measured[] {
  const { blockTimeMs } = given;
  const chain = createChain({
    slug: "bench",
    id: 42161,
    blockTimeMs,
    startMs: T0 - 1,
    startBlock: 300_000_000,
    jitter: 0.1,
    paces: driftingPaces({
      seed: given.name,
      blockTimeMs,
      fromMs: T0,
      toMs: T0 + TICKS * SCHEDULE_MS,
      everyMs: 600_000,
      ratio: 0.05,
    }),
  });
  const sources = NAMES.map((name) => ({ key: keyOf(name), pollIntervalMs: SCHEDULE_MS }));
  const core = start(chainsOf(sources, blockTimeMs));
  const random = createRandom(`lags/${given.name}`);
  const measured: Measured[] = [];
  for (let tick = 0; tick < TICKS; tick += 1) {
    const tickMs = T0 + tick * SCHEDULE_MS;
    const reads = NAMES.map((seed, index) => {
      const lagMs = index === MEASURED ? given.lagMs : 0;
      const sentAtMs = tickMs + (index === MEASURED ? given.phaseMs : 0) + random();
      const timestamps = index === 1 ? given.timestamps : "none";
      return poll(
        keyOf(seed),
        { seed, chain, behaviour: { ...AT_THE_TIP, lagMs } },
        { sentAtMs, random, timestamps },
      );
    });
    deliver(
      core,
      reads.map(({ observation }) => observation),
    );
    const report = core.report(tickMs + given.phaseMs + 1_000).targets[MEASURED];
    const read = reads[MEASURED];
    if (read?.observation.kind === "head" && report?.lag_seconds != null) {
      const { block } = read.observation.head;
      const truthMs = timeOf(chain, headAt(chain, read.readAtMs)) - timeOf(chain, block);
      const kind = report.lag_extrapolated ? "extrapolated" : "within history";
      measured.push({ kind, errorMs: Math.abs(report.lag_seconds * 1_000 - truthMs) });
    }
  }
  return measured;
}
