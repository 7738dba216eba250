import { headAt } from "../../src/sim/model/chain-model.ts";
import { createRandom } from "../../src/sim/model/random.ts";
import { startMonitor } from "./core.ts";
import type { Row } from "./figures.ts";
import { chainsOf, isNode, polledEach } from "./fleet.ts";
import { benchChain, healthyPoll, keyOf, T0 } from "./simulated-poll.ts";

/** The clock of this machine is wrong by `byMs` for a while, and then right again. */
interface ClockStep {
  readonly name: string;
  readonly byMs: number;
}

const MINUTE_MS = 60_000;
const POLL_MS = 15_000;
const BLOCK_TIME_MS = 2_000;
/** After this number of polls with the right clock, everything must be right again. */
const POLLS = 3;
/** How far the head may be above the reference: the blocks of a tick in which no source has been polled yet. */
const MOST_BEHIND = 10;
/** Before the step, and after the clock is right again. */
const CALM_MS = 10 * MINUTE_MS;

export const CLOCK_STEPS: readonly ClockStep[] = Object.entries({
  ...{ "1 min": 1, "10 min": 10, "1 h": 60, "1 d": 1_440, "30 d": 43_200 },
}).flatMap(([name, minutes]) => [
  { name: `+${name}`, byMs: minutes * MINUTE_MS },
  { name: `−${name}`, byMs: -minutes * MINUTE_MS },
]);

const VARIANTS = ["multichain", "subgraph", "ponder"].map((variant) => keyOf(`airdrops/${variant}`));

/** Plays a step this number of times; a play counts once, even if several things went wrong in it. */
export function clockStepRowOf(step: ClockStep, phases: number): Row {
  const played = Array.from({ length: phases }, (_, index) => play(step, index));
  return {
    "clock set by": step.name,
    phases,
    "a healthy target diverged": played.filter(({ isAccused }) => isAccused).length,
    "wrong three polls after it is right again": played.filter(({ isWrong }) => isWrong).length,
  };
}

/**
 * Plays a daemon whose wall clock is wrong for up to an hour, from any moment of a round on, while its monotonic clock is right. In every
 * second play it restarts meanwhile. The subgraph and the node report block times.
 */
function play({ byMs, name }: ClockStep, index: number) {
  const seed = `clock/${name}/${index}`;
  const chance = createRandom(seed);
  const fromMs = T0 + CALM_MS + chance() * MINUTE_MS;
  const untilMs = fromMs + MINUTE_MS + chance() * 59 * MINUTE_MS;
  const restartMs = chance() < 0.5 ? null : fromMs + chance() * (untilMs - fromMs + 2 * POLL_MS);
  const sources = [...VARIANTS, ...(chance() < 0.5 ? ["rpc/bench/0"] : [])];
  const random = createRandom(`${seed}/play`);
  const chain = benchChain({ blockTimeMs: BLOCK_TIME_MS, jitter: 0.2 });
  const isOff = (trueMs: number): boolean => trueMs >= fromMs && trueMs < untilMs;
  const core = startMonitor(
    chainsOf(polledEach(POLL_MS, sources), BLOCK_TIME_MS),
    (trueMs) => trueMs + (isOff(trueMs) ? byMs : 0),
  );
  let [isAccused, isWrong] = [false, false];
  for (let tickMs = T0; tickMs < untilMs + CALM_MS; tickMs += POLL_MS) {
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
