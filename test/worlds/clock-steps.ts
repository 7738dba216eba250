import type { Observation } from "../../src/core/model/observation.ts";
import type { Status } from "../../src/core/model/report.ts";
import { type ChainModel, createChain, headAt, timeOf } from "../../src/sim/model/chain-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { Core, StartCore } from "./core.ts";
import type { Row } from "./figures.ts";
import { chainsOf, isNode } from "./fleet.ts";
import { drawLatency, headOf, keyOf, T0 } from "./simulated-poll.ts";

/** The clock of this machine is wrong by `byMs` for a while, and then right again. */
export interface ClockStep {
  readonly name: string;
  readonly byMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const POLL_MS = 15_000;
const BLOCK_TIME_MS = 2_000;
/** What is right after so many polls. */
const POLLS = 3;
/** Blocks that the head may be ahead of the reference: those of a tick in which nobody has been asked yet. */
const MOST_BEHIND = 10;
const WARM_UP_MS = 10 * MINUTE_MS;
const AFTER_MS = 10 * MINUTE_MS;

export const CLOCK_STEPS: readonly ClockStep[] = [
  ["1 min", MINUTE_MS],
  ["10 min", 10 * MINUTE_MS],
  ["1 h", HOUR_MS],
  ["1 d", 24 * HOUR_MS],
  ["30 d", 720 * HOUR_MS],
].flatMap(([name, ms]) => [
  { name: `+${name}`, byMs: Number(ms) },
  { name: `−${name}`, byMs: -Number(ms) },
]);

const VARIANTS = ["multichain", "subgraph", "ponder"].map((variant) => keyOf(`airdrops/${variant}`));

/** One play of a step: when in the cadence it comes, for how long, and whether the daemon restarts meanwhile. */
interface Phase {
  readonly seed: string;
  readonly byMs: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly restartMs: number | null;
  readonly sources: readonly string[];
}

interface StepFigures {
  readonly diverged: number;
  readonly wrongAfterwards: number;
}

/** Plays the phases of one step; a phase counts once, whatever went wrong in it. */
export function clockStepRowOf(step: ClockStep, phases: number, start: StartCore): Row {
  const figures = Array.from({ length: phases }, (_, index) => playStep(phaseOf(step, index), start));
  return {
    "clock set by": step.name,
    phases,
    "a healthy target diverged": figures.filter(({ diverged }) => diverged > 0).length,
    "wrong three polls after it is right again": figures.filter(({ wrongAfterwards }) => wrongAfterwards > 0)
      .length,
  };
}

function phaseOf({ byMs, name }: ClockStep, index: number): Phase {
  const seed = `clock/${name}/${index}`;
  const random = createRandom(seed);
  const fromMs = T0 + WARM_UP_MS + random() * MINUTE_MS;
  const untilMs = fromMs + MINUTE_MS + random() * 59 * MINUTE_MS;
  const restartMs = random() < 0.5 ? null : fromMs + random() * (untilMs - fromMs + 2 * POLL_MS);
  const withNode = random() < 0.5 ? ["rpc/bench/0"] : [];
  return { seed, byMs, fromMs, untilMs, restartMs, sources: [...VARIANTS, ...withNode] };
}

function playStep(phase: Phase, start: StartCore): StepFigures {
  const play = new Play(phase, start);
  let [diverged, wrongAfterwards] = [0, 0];
  for (let tickMs = T0; tickMs < phase.untilMs + AFTER_MS; tickMs += POLL_MS) {
    const isJudged = tickMs >= phase.untilMs + POLLS * POLL_MS;
    const { statuses, offBlocks } = play.tick(tickMs);
    const isWrong = offBlocks < 0 || offBlocks > MOST_BEHIND || statuses.some((status) => status !== "ok");
    diverged += statuses.filter((status) => status === "diverged").length;
    wrongAfterwards += Number(isJudged && isWrong);
  }
  return { diverged, wrongAfterwards };
}

/** A daemon whose wall clock is set while its monotonic one goes on. */
class Play {
  readonly #phase: Phase;
  readonly #random: () => number;
  readonly #chain: ChainModel;
  readonly #core: Core;
  #trueMs = T0;
  #restartMs: number;

  constructor(phase: Phase, start: StartCore) {
    const { byMs, fromMs, restartMs, seed, sources, untilMs } = phase;
    this.#phase = phase;
    this.#random = createRandom(`${seed}/play`);
    this.#chain = createChain({
      slug: "bench",
      id: 10,
      blockTimeMs: BLOCK_TIME_MS,
      startMs: T0,
      startBlock: 100_000_000,
      jitter: 0.2,
    });
    const chains = chainsOf(
      sources.map((key) => ({ key, pollIntervalMs: POLL_MS })),
      BLOCK_TIME_MS,
    );
    this.#core = start(chains, (trueMs) => trueMs + (trueMs >= fromMs && trueMs < untilMs ? byMs : 0));
    this.#restartMs = restartMs ?? Number.POSITIVE_INFINITY;
  }

  /** Asks every source once; what is said then, and how far the reference is behind the head. */
  tick(tickMs: number): { readonly statuses: readonly Status[]; readonly offBlocks: number } {
    this.#trueMs = tickMs;
    if (tickMs >= this.#restartMs) {
      this.#restartMs = Number.POSITIVE_INFINITY;
      this.#core.restart("kept", tickMs);
    }
    for (const source of this.#phase.sources) {
      const sentAtMs = this.#trueMs + this.#random() * 200;
      this.#trueMs = sentAtMs + drawLatency(this.#random);
      this.#core.observe(said(source, this.#chain, { sentAtMs, receivedAtMs: this.#trueMs }));
    }
    const { reference, targets } = this.#core.report(this.#trueMs);
    return {
      statuses: targets.map(({ status }) => status),
      offBlocks: headAt(this.#chain, this.#trueMs) - (reference?.block ?? 0),
    };
  }
}

/** Subgraphs and the node tell the times of their blocks. */
function said(
  source: string,
  chain: ChainModel,
  times: { readonly sentAtMs: number; readonly receivedAtMs: number },
): Observation {
  const block = headAt(chain, times.receivedAtMs - 100);
  const isDated = isNode({ key: source }) || source.includes("/subgraph/");
  return {
    kind: "head",
    source,
    ...times,
    head: headOf(block, isDated ? Math.floor(timeOf(chain, block) / 1_000) : null),
  };
}
