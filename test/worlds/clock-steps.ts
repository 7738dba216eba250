import { createChain, headAt } from "../../src/sim/model/chain-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import type { StartCore } from "./core.ts";
import type { Row } from "./figures.ts";
import { chainsOf, isNode } from "./fleet.ts";
import { healthyPoll, keyOf, T0 } from "./simulated-poll.ts";

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

/** Plays the phases of one step; a phase counts once, whatever went wrong in it. */
export function clockStepRowOf(step: ClockStep, phases: number, start: StartCore): Row {
  const played = Array.from({ length: phases }, (_, index) => play(phaseOf(step, index), start));
  return {
    "clock set by": step.name,
    phases,
    "a healthy target diverged": played.filter(({ isAccused }) => isAccused).length,
    "wrong three polls after it is right again": played.filter(({ isWrong }) => isWrong).length,
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

/** A daemon whose wall clock is set while its monotonic one goes on. Subgraphs and the node tell the times of their blocks. */
function play({ byMs, fromMs, restartMs, seed, sources, untilMs }: Phase, start: StartCore) {
  const random = createRandom(`${seed}/play`);
  const chain = createChain({
    slug: "bench",
    id: 10,
    blockTimeMs: BLOCK_TIME_MS,
    startMs: T0,
    startBlock: 100_000_000,
    jitter: 0.2,
  });
  const core = start(
    chainsOf(
      sources.map((key) => ({ key, pollIntervalMs: POLL_MS })),
      BLOCK_TIME_MS,
    ),
    (trueMs) => trueMs + (trueMs >= fromMs && trueMs < untilMs ? byMs : 0),
  );
  let [isAccused, isWrong] = [false, false];
  for (let tickMs = T0; tickMs < untilMs + AFTER_MS; tickMs += POLL_MS) {
    if (restartMs !== null && tickMs >= restartMs && tickMs - POLL_MS < restartMs) {
      core.restart("kept", tickMs);
    }
    let nowMs = tickMs;
    for (const source of sources) {
      const isDated = isNode({ key: source }) || source.includes("/subgraph/");
      const said = healthyPoll(source, chain, { sentAtMs: nowMs + random() * 200, random, isDated });
      core.observe(said);
      nowMs = said.receivedAtMs;
    }
    const { reference, targets } = core.report(nowMs);
    const offBlocks = headAt(chain, nowMs) - (reference?.block_number ?? 0);
    isAccused ||= targets.some(({ status }) => status === "diverged");
    if (tickMs >= untilMs + POLLS * POLL_MS) {
      isWrong ||= offBlocks < 0 || offBlocks > MOST_BEHIND || targets.some(({ status }) => status !== "ok");
    }
  }
  return { isAccused, isWrong };
}
