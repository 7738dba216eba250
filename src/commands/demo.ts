import type { Config } from "../config/config.ts";
import { DAY_MS } from "../core/model/durations.ts";
import { endpointsOf } from "../core/model/fleet.ts";
import { accelerate, atRealPace, type Pace, paceAtSpeed } from "../sim/fleet/demo-config.ts";
import { mirrorFleet } from "../sim/fleet/mirror-fleet.ts";
import { playScenario, type Scenario, type Step } from "../sim/scenarios/scenario.ts";
import { SCENARIOS } from "../sim/scenarios/scenarios.ts";
import { YESTERDAY } from "../sim/scenarios/yesterday.ts";
import { SIMULATED_API_KEY } from "../sim/servers/families.ts";
import { type CommandWorld, cannotUse, type Flags } from "./command-world.ts";
import { daemonWorld } from "./daemon-world.ts";
import { playDay } from "./demo-day.ts";
import { loadConfig, readListen } from "./load-config.ts";
import { runUntilSignal } from "./run.ts";

/** At a lower speed, no cron expression could have the poll interval, such as 62 s. */
const SLOWEST = 0.1;
const FASTEST = 60;
const NOTICE = "Everything here is simulated, including the day before the start.";

/** `synclag demo`: the daemon on the packaged chains.yaml, with every endpoint simulated, until it is stopped. */
export async function demo(flags: Flags, world: CommandWorld): Promise<number> {
  const scenario = SCENARIOS.find(({ name }) => name === flags.scenario);
  if (scenario === undefined) {
    const names = SCENARIOS.map(({ name }) => name).join(", ");
    throw cannotUse("--scenario", flags.scenario, `one of ${names}`);
  }
  const speed = Number(flags.speed);
  if (!(speed >= SLOWEST && speed <= FASTEST)) {
    throw cannotUse("--speed", flags.speed, `a number from ${SLOWEST} to ${FASTEST}`);
  }
  const packaged = readPackagedConfig(world);
  const real = { ...packaged, listen: readListen(flags.listen) ?? packaged.listen };
  const pace = paceAtSpeed(speed);
  const own = await daemonWorld(world, "info");
  // The virtual time while the last day is played; null afterwards.
  const clock: { playedMs: number | null } = { playedMs: world.nowMs() - DAY_MS };
  const view = { protocols: null, title: "Demo", notice: NOTICE };
  const { config: mirrored, fleet } = await mirrorFleet(
    { ...real, public: view },
    () => clock.playedMs ?? world.nowMs(),
  );
  await using _fleet = fleet;
  const setClock = (nowMs: number) => {
    clock.playedMs = nowMs;
  };
  world.err("Playing the last 24 hours in virtual time, which takes a few seconds");
  const past = await playDay(atRealPace(mirrored), fleet, YESTERDAY, { setClock, world: own });
  clock.playedMs = null;
  const config = accelerate(mirrored, pace);
  // Faults that exist from the start are set before the first poll.
  for (const step of scenario.steps.filter(({ atSec }) => atSec === 0)) {
    await step.happens(fleet, speed);
  }
  return await runUntilSignal(config, world, { ...own, past, loadConfig: () => config }, ({ url }) => {
    world.out(describeDemo(config, url, pace, scenario));
    const onStep = (step: Step) => world.out(describeStep(step, speed));
    return playScenario(fleet, scenario, { speed, onStep, onBug: world.crash });
  });
}

/** The first output of the demo: its fleet, its addresses, and how it differs from a real fleet. */
function describeDemo({ fleet }: Config, url: string, pace: Pace, scenario: Scenario): string {
  const protocols = new Set(fleet.indexers.map(({ protocol }) => protocol));
  const { lagging, stalledMs } = pace.thresholds;
  return `Synclag watches ${fleet.chains.length} chains and ${protocols.size} protocols at ${endpointsOf(fleet).length} endpoints. All of them are simulated on this machine: no key, no network.

  page     ${url}/
  public   ${url}/public
  metrics  ${url}/metrics
  API      ${url}/api/v1/status
  stop     Ctrl-C

The demo has its own pace: every endpoint is polled every ${pace.pollIntervalSec} s. A target is lagging after ${(lagging.ms ?? 0) / 1_000} s (or three
block times) and stalled after ${stalledMs / 1_000} s (or 50 block times), whichever is longer. Budgets are raised to allow this.
The 24 hours before were played in virtual time, with the thresholds of a real fleet: /incidents shows what happened.

Scenario ${scenario.name}: ${scenario.about}`;
}

/** One line for a step of the scenario, with its time. */
function describeStep(step: Step, speed: number): string {
  const atSec = Math.round(step.atSec / speed);
  const [minutes, seconds] = [Math.floor(atSec / 60), atSec % 60].map((part) => `${part}`.padStart(2, "0"));
  return `${minutes}:${seconds}  ${step.say}`;
}

/** The packaged configuration and the demo's own protocol, with a made-up key, so that a real one is never used. */
function readPackagedConfig(world: CommandWorld): Config {
  const env = { ...world.env, THEGRAPH_API_KEY: SIMULATED_API_KEY };
  const file = `${world.packageRoot}chains.yaml`;
  const more = world.readFile(`${world.packageRoot}assets/demo.yaml`);
  const readFile = (path: string) => `${world.readFile(path)}${path === file ? more : ""}`;
  return loadConfig(file, { ...world, env, readFile });
}
