import { parseConfig } from "../../src/config/parse.ts";
import type { ChainState } from "../../src/core/head/chain-state.ts";
import type { Fleet } from "../../src/core/model/fleet.ts";
import type { Observation } from "../../src/core/model/observation.ts";
import type { Status } from "../../src/core/model/report.ts";
import { Monitor } from "../../src/daemon/monitor.ts";
import { type ChainModel, createChain, headAt, timeOf } from "../../src/sim/model/chain-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import { T0 } from "./simulated-polls.ts";

/** The clock of this machine is wrong by `byMs` for a while, and then right again. */
export interface ClockStep {
  readonly name: string;
  readonly byMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const POLL_MS = 15_000;
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

const FLEET = fleetOf(`
version: 1
chains:
  bench: { id: 10, name: Bench, block_time: 2s, rpc: ["https://node.example/"] }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://a.example/", chains: [bench], schedule: "*/15 * * * * *" }
    - { variant: subgraph, dialect: graph, url: "https://b.example/", chains: [bench], schedule: "*/15 * * * * *" }
    - { variant: ponder, dialect: ponder, url: "https://c.example/", chains: [bench], schedule: "*/15 * * * * *" }
`);

function fleetOf(text: string): Fleet {
  return parseConfig(text, { file: "bench.yaml", env: {}, readFile: () => "" }).fleet;
}

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
export function clockStepSummaryOf(
  step: ClockStep,
  phases: number,
): Readonly<Record<string, string | number>> {
  const figures = Array.from({ length: phases }, (_, index) => playStep(phaseOf(step, index)));
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
  const variants = ["multichain", "subgraph", "ponder"].map(
    (variant) => `airdrops/${variant}/production/bench`,
  );
  return { seed, byMs, fromMs, untilMs, restartMs, sources: [...variants, ...withNode] };
}

function playStep(phase: Phase): StepFigures {
  const play = new Play(phase);
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
  #trueMs = T0;
  #monitor: Monitor;
  #restartMs: number;

  constructor(phase: Phase) {
    this.#phase = phase;
    this.#random = createRandom(`${phase.seed}/play`);
    this.#chain = createChain({
      slug: "bench",
      id: 10,
      blockTimeMs: 2_000,
      startMs: T0,
      startBlock: 100_000_000,
      jitter: 0.2,
    });
    this.#monitor = this.#start();
    this.#restartMs = phase.restartMs ?? Number.POSITIVE_INFINITY;
  }

  /** Asks every source once; what is said then, and how far the reference is behind the head. */
  tick(tickMs: number): { readonly statuses: readonly Status[]; readonly offBlocks: number } {
    this.#trueMs = tickMs;
    if (tickMs >= this.#restartMs) {
      this.#restart();
    }
    for (const source of this.#phase.sources) {
      this.#trueMs += this.#random() * 200;
      const sentAtMs = this.#wallMs();
      this.#trueMs += 20 + this.#random() * 900;
      const times = { sentAtMs, receivedAtMs: this.#wallMs(), trueMs: this.#trueMs };
      this.#monitor.observe([said(source, this.#chain, times)]);
    }
    const [report] = this.#monitor.report().chains;
    return {
      statuses: report?.targets.map(({ status }) => status) ?? [],
      offBlocks: headAt(this.#chain, this.#trueMs) - (report?.reference?.block ?? 0),
    };
  }

  #start(): Monitor {
    const clocks = { nowMs: () => this.#wallMs(), monotonicMs: () => this.#trueMs };
    return new Monitor(FLEET, { ...clocks, budgets: () => [] });
  }

  #restart(): void {
    this.#restartMs = Number.POSITIVE_INFINITY;
    const saved: Record<string, ChainState> = structuredClone(this.#monitor.save().chains);
    this.#monitor = this.#start();
    this.#monitor.restore(new Map(Object.entries(saved)), []);
  }

  #wallMs(): number {
    const { byMs, fromMs, untilMs } = this.#phase;
    return this.#trueMs + (this.#trueMs >= fromMs && this.#trueMs < untilMs ? byMs : 0);
  }
}

/** Subgraphs and the node tell the times of their blocks. */
function said(
  source: string,
  chain: ChainModel,
  {
    receivedAtMs,
    sentAtMs,
    trueMs,
  }: { readonly sentAtMs: number; readonly receivedAtMs: number; readonly trueMs: number },
): Observation {
  const block = headAt(chain, trueMs - 100);
  const isDated = source.startsWith("rpc/") || source.includes("/subgraph/");
  const timestampSec = isDated ? Math.floor(timeOf(chain, block) / 1_000) : null;
  return {
    kind: "head",
    source,
    sentAtMs,
    receivedAtMs,
    head: { block, timestampSec, hash: null, deployment: null, indexingErrors: null },
  };
}
