import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseConfig } from "../src/config/parse.ts";
import { type Endpoint, endpointsOf, type Fleet } from "../src/core/model/fleet.ts";
import { mirrorFleet } from "../src/sim/fleet/mirror-fleet.ts";
import type { SimulatedFleet } from "../src/sim/fleet/simulated-fleet.ts";
import { SIMULATED_API_KEY } from "../src/sim/servers/families.ts";

/** A chains.yaml for a daemon in another process. The simulator in this process serves all its URLs. */
export interface PlayedFleet extends AsyncDisposable {
  readonly file: string;
  /** Variables that the daemon needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly simulated: SimulatedFleet;
  readonly endpoints: readonly Endpoint[];
}

const ENV = { THEGRAPH_API_KEY: SIMULATED_API_KEY };

/** Simulates the fleet of the packaged chains.yaml; the daemon listens on a free port of loopback. */
export async function playPackagedFleet(): Promise<PlayedFleet> {
  const text = readFileSync("chains.yaml", "utf8");
  const config = parseConfig(text, {
    file: "chains.yaml",
    env: ENV,
    readFile: (path) => readFileSync(path, "utf8"),
  });
  const played = await mirrorFleet(config, Date.now);
  const folder = await mkdtemp(join(tmpdir(), "synclag-played-"));
  const file = join(folder, "chains.yaml");
  await writeFile(file, `listen: 127.0.0.1:0\n${withPlayedOrigins(text, config.fleet, played.config.fleet)}`);
  return {
    file,
    env: ENV,
    simulated: played.fleet,
    endpoints: endpointsOf(config.fleet),
    async [Symbol.asyncDispose]() {
      await played.fleet[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

/** Replaces each real origin in the text, which writes origins in full, by the simulated one. */
function withPlayedOrigins(text: string, real: Fleet, played: Fleet): string {
  const origins = new Map(
    endpointsOf(real).map((endpoint, index) => [
      new URL(endpoint.url).origin,
      new URL(endpointsOf(played)[index]?.url ?? "").origin,
    ]),
  );
  // The longest first: an origin may be the beginning of another.
  return [...origins]
    .toSorted(([one], [other]) => other.length - one.length)
    .reduce((changed, [origin, simulated]) => changed.replaceAll(origin, simulated), text);
}
