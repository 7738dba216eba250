import { type App, startApp } from "../app/app.ts";
import { type Cleanup, createCleanup } from "../app/cleanup.ts";
import type { Config } from "../config/config.ts";
import { createRedact } from "../core/model/redact.ts";
import { createLogger } from "../io/logger.ts";
import type { World } from "../io/world.ts";
import { accelerate, paceAtSpeed } from "../sim/fleet/accelerate.ts";
import { withDemoFamilies } from "../sim/fleet/demo-families.ts";
import { mirrorFleet } from "../sim/fleet/mirror-fleet.ts";
import { SIMULATED_API_KEY } from "../sim/fleet/simulated-fleet.ts";
import { playScenario, type Scenario } from "../sim/scenarios/scenario.ts";
import { SCENARIOS } from "../sim/scenarios/scenarios.ts";
import { buildOf, CommandError, type CommandWorld } from "./command-world.ts";
import { describeDemo, describeStep } from "./describe-demo.ts";
import { loadConfig, readListen } from "./load-config.ts";
import { runUntilSignal } from "./run-until-signal.ts";
import { colorsFor } from "./terminal.ts";

export interface DemoFlags {
  readonly listen?: string;
  readonly scenario: string;
  readonly speed: string;
}

const FASTEST = 60;

/** `synclag demo`: the daemon on the packaged chains.yaml, with every endpoint simulated, until it is stopped. */
export async function demo(flags: DemoFlags, world: CommandWorld): Promise<number> {
  const scenario = SCENARIOS.find(({ name }) => name === flags.scenario);
  if (scenario === undefined) {
    const expected = `expected one of ${SCENARIOS.map(({ name }) => name).join(", ")}`;
    throw new CommandError(`Cannot play scenario ${JSON.stringify(flags.scenario)}: ${expected}`);
  }
  const speed = Number(flags.speed);
  if (!(speed > 0 && speed <= FASTEST)) {
    const expected = `expected a number above 0, at most ${FASTEST}`;
    throw new CommandError(`Cannot play at speed ${JSON.stringify(flags.speed)}: ${expected}`);
  }
  const packaged = readPackagedConfig(world);
  const real = { ...packaged, listen: readListen(flags.listen) ?? packaged.listen };
  const logger = await createLogger({
    level: "info",
    format: "pretty",
    colour: colorsFor("err", world),
    redact: () => createRedact([SIMULATED_API_KEY]),
    write: world.err,
  });
  const start = async (): Promise<App> => {
    const cleanup = createCleanup();
    try {
      return await startDemo(real, { scenario, speed }, { ...world, logger }, cleanup);
    } catch (error) {
      await cleanup[Symbol.asyncDispose]();
      throw error;
    }
  };
  return await runUntilSignal(start, { world, logger });
}

async function startDemo(
  real: Config,
  { scenario, speed }: { readonly scenario: Scenario; readonly speed: number },
  world: CommandWorld & Pick<World, "logger">,
  cleanup: Cleanup,
): Promise<App> {
  const pace = paceAtSpeed(speed);
  const { config, fleet } = await mirrorFleet(accelerate(real, pace), world.nowMs);
  cleanup.use(fleet);
  // What is wrong from the start is so before the first poll.
  for (const step of scenario.steps.filter(({ atSec }) => atSec === 0)) {
    await step.happens(fleet, speed);
  }
  const app = cleanup.use(
    await startApp(config, {
      ...world,
      loadConfig: () => config,
      onBug: world.crash,
      build: buildOf(world),
      isLifecycleEnabled: false,
      stateFile: null,
    }),
  );
  for (const line of describeDemo({ real, simulated: config, url: app.url, pace, scenario })) {
    world.out(line);
  }
  cleanup.use(
    playScenario(fleet, scenario, {
      speed,
      onStep: (step) => world.out(describeStep(step, speed)),
      onBug: world.crash,
    }),
  );
  return { ...app, [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose]() };
}

/** Comes after the packaged chains.yaml, where parity is a comment. */
export const DEMO_PARITY = `
parity:
  - name: campaigns
    protocol: airdrops
    every: 10s
    queries:
      multichain: { select: 'Campaign(where: {chainId: {_eq: "{chain_id}"}}, order_by: {subgraphId: desc}, limit: 1) { subgraphId }', value: Campaign.0.subgraphId }
      subgraph: { select: 'campaigns(orderBy: subgraphId, orderDirection: desc, first: 1) { subgraphId }', value: campaigns.0.subgraphId }
`;

/** The packaged configuration with a made-up key, so that a real one is never used, and the demo's own protocol. */
function readPackagedConfig(world: CommandWorld): Config {
  const env = { ...world.env, THEGRAPH_API_KEY: SIMULATED_API_KEY };
  const file = `${world.packageRoot}chains.yaml`;
  const readFile = (path: string) => `${world.readFile(path)}${path === file ? DEMO_PARITY : ""}`;
  return withDemoFamilies(loadConfig(file, { ...world, env, readFile }));
}
