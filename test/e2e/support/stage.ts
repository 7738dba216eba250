import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { type App, startApp } from "../../../src/app/app.ts";
import { createCleanup } from "../../../src/app/cleanup.ts";
import type { Config } from "../../../src/config/config.ts";
import { parseConfig } from "../../../src/config/parse.ts";
import { accelerate, type Pace } from "../../../src/sim/fleet/accelerate.ts";
import { SIMULATED_API_KEY } from "../../../src/sim/fleet/endpoint-spec.ts";
import { mirrorFleet } from "../../../src/sim/fleet/mirror-fleet.ts";
import type { SimulatedFleet } from "../../../src/sim/fleet/simulated-fleet.ts";

/** A Synclag in this process, on a simulated fleet, with every string in the test's hands. */
export interface Stage extends AsyncDisposable {
  readonly app: App;
  readonly fleet: SimulatedFleet;
  /** What it runs on at first. */
  readonly config: Config;
  /** Reads this configuration at a reload; what throws is a file that cannot be used. */
  reloadWith(load: () => Config): Promise<void>;
  /** From now on its clock stands still, as if its loop did. */
  freezeClock(): void;
  /** `host:port`. */
  readonly address: string;
}

const PACKAGED = fileURLToPath(new URL("../../../chains.yaml", import.meta.url));

/** The packaged chains.yaml, with a made-up key. */
export function packagedConfig(): Config {
  return read(readFileSync(PACKAGED, "utf8"));
}

/** A Synclag beside it, on two chains, all of it in maintenance: what befalls it is told of itself alone. */
export function spareConfig(protocol: string): Config {
  return read(`
version: 1
chains:
  base:    { id: 8453, block_time: 2s }
  polygon: { id: 137, block_time: 2s }
protocols:
  ${protocol}:
    - variant: multichain
      dialect: envio
      url: https://indexer.hyperindex.xyz/${protocol}/v1/graphql
      chains: [base, polygon]
    - variant: subgraph
      dialect: graph
      url: "https://api.studio.thegraph.com/query/1/{protocol}-{chain}/version/latest"
      chains: [base, polygon]
maintenance:
  - { match: { protocol: ${protocol} }, from: 2020-01-01T00:00:00Z, to: 2100-01-01T00:00:00Z }
`);
}

/** Starts the fleet and the daemon; `adapt` changes the configuration before. */
export async function startStage(
  config: Config,
  pace: Pace,
  adapt: (played: Config) => Config = (played) => played,
): Promise<Stage> {
  const cleanup = createCleanup();
  let frozenAtMs: number | null = null;
  const nowMs = (): number => frozenAtMs ?? Date.now();
  const listen = { host: "127.0.0.1", port: 0 };
  const { config: played, fleet } = await mirrorFleet(accelerate({ ...config, listen }, pace), Date.now);
  cleanup.use(fleet);
  const first = adapt(played);
  let load = (): Config => first;
  const app = await startApp(first, {
    nowMs,
    monotonicMs: () => performance.now(),
    random: Math.random,
    logger: pino({ level: "silent" }),
    loadConfig: () => load(),
    onBug: (error) => {
      throw error;
    },
    build: { version: "0.0.0-test", revision: "test", nodeVersion: process.version },
    isLifecycleEnabled: false,
    stateFile: null,
  });
  cleanup.use(app);
  return {
    app,
    fleet,
    config: first,
    address: new URL(app.url).host,
    reloadWith: async (next) => {
      load = next;
      await app.reload();
    },
    freezeClock: () => {
      frozenAtMs = Date.now();
    },
    [Symbol.asyncDispose]: () => cleanup[Symbol.asyncDispose](),
  };
}

function read(text: string): Config {
  return parseConfig(text, {
    file: "chains.yaml",
    env: { THEGRAPH_API_KEY: SIMULATED_API_KEY },
    readFile: (path) => readFileSync(path, "utf8"),
  });
}
