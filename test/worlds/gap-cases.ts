import { createChain, type PaceChange } from "../../src/sim/model/chain-model.ts";
import {
  AT_THE_TIP,
  type IndexerBehaviour,
  type IndexerModel,
  processedAt,
} from "../../src/sim/model/indexer-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { StartCore } from "./core.ts";
import { percentile, type Row } from "./figures.ts";
import { chainsOf } from "./fleet.ts";
import { deliver, keyOf, poll, T0 } from "./simulated-poll.ts";

/** One situation in which the gap between two variants is measured. */
export interface GapCase {
  readonly name: string;
  readonly scheduleMs: number;
  /** Where it is not that of the other variant. */
  readonly targetScheduleMs?: number;
  readonly blockTimeMs: number;
  readonly jitter?: number;
  readonly paces?: (endMs: number) => readonly PaceChange[];
  readonly target?: Partial<IndexerBehaviour>;
}

const TICKS = 1_500;
/** Estimates before so many ticks are not judged: the first ones have nothing to go by. */
const WARM_UP = 20;
const FAST = { blockTimeMs: 250, scheduleMs: 15_000 } as const;

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

/** One tick's estimate, beside the truth at the instant at which the target was read. Blocks. */
interface Measured {
  readonly error: number;
  readonly uncertainty: number;
  readonly naiveError: number;
}

interface Pair {
  readonly against: IndexerModel;
  readonly target: IndexerModel;
}

/** One row of the table. */
export function gapRowOf(given: GapCase, start: StartCore): Row {
  const measured = play(given, start);
  const show = (p: number, of: (one: Measured) => number) => {
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
    "naive p50": show(0.5, ({ naiveError }) => naiveError),
    "naive p99": show(0.99, ({ naiveError }) => naiveError),
  };
}

function play(given: GapCase, start: StartCore): readonly Measured[] {
  const { scheduleMs, targetScheduleMs = scheduleMs } = given;
  const chain = createChain({
    slug: "bench",
    id: 42161,
    blockTimeMs: given.blockTimeMs,
    startMs: T0 - 86_400_000,
    startBlock: 300_000_000,
    jitter: given.jitter ?? 0,
    paces: given.paces?.(T0 + TICKS * scheduleMs) ?? [],
  });
  const pair: Pair = {
    against: { seed: "against", chain, behaviour: AT_THE_TIP },
    target: { seed: "target", chain, behaviour: { ...AT_THE_TIP, ...given.target } },
  };
  const [a, b] = [
    { key: keyOf("airdrops/multichain"), pollIntervalMs: scheduleMs },
    { key: keyOf("airdrops/subgraph"), pollIntervalMs: targetScheduleMs },
  ];
  const core = start(chainsOf([a, b], given.blockTimeMs));
  const random = createRandom(`gaps/${given.name}`);
  const rounds = targetScheduleMs / scheduleMs;
  const measured: Measured[] = [];
  for (let tick = 0; tick < TICKS * Math.min(rounds, 20); tick += 1) {
    const sentAtMs = T0 + tick * scheduleMs + random();
    const first = poll(a.key, pair.against, { sentAtMs, random });
    if (tick % rounds !== 0) {
      deliver(core, [first.observation]);
      continue;
    }
    const second = poll(b.key, pair.target, { sentAtMs, random });
    deliver(core, [first.observation, second.observation]);
    if (tick >= WARM_UP) {
      const [gap] = core.report(sentAtMs + 1_000).gaps;
      const error = Math.abs((gap?.blocks ?? Number.POSITIVE_INFINITY) - gapAt(pair, second.readAtMs));
      const uncertainty = gap?.uncertainty_blocks ?? 0;
      measured.push({ error, uncertainty, naiveError: naiveError(pair, { sentAtMs, random }) });
    }
  }
  return measured;
}

/** Two monitors that poll each variant each 15 s at a phase of its own, and subtract what they have. */
function naiveError(pair: Pair, at: { readonly sentAtMs: number; readonly random: () => number }): number {
  const [first, second] = [pair.against, pair.target].map((model) => {
    const { observation } = poll("", model, { ...at, sentAtMs: at.sentAtMs - at.random() * 15_000 });
    return observation.kind === "head" ? observation.head.block : 0;
  });
  return Math.abs((first ?? 0) - (second ?? 0) - gapAt(pair, at.sentAtMs));
}

function gapAt({ against, target }: Pair, atMs: number): number {
  return (processedAt(against, atMs) ?? 0) - (processedAt(target, atMs) ?? 0);
}
