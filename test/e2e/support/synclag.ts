import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endpointsOf } from "../../../src/core/model/fleet.ts";
import type { Report } from "../../../src/core/model/report.ts";
import { ReportSchema } from "../../../src/core/model/report-schema.ts";
import { mirrorFleet } from "../../../src/sim/fleet/mirror-fleet.ts";
import type { SimulatedFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { configOf } from "../../support/running-app.ts";
import { getJson, getText } from "./loopback.ts";
import { type Server, startServer } from "./program.ts";
import { temporaryFolder, undoLater } from "./undo.ts";

/** The built product, running as a user runs it. */
export interface Synclag extends Server {
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
  /** The reply of `/api/v1/status`. */
  report(): Promise<Report>;
}

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Pattern of the log of a Synclag. */
export const STARTED = /"url":"(http:[^"]+)"/;

/**
 * Simulates the indexers of a chains.yaml on loopback, by the real clock, until the end of the test file. `config` is a file with
 * their addresses in place of the real ones.
 */
export async function simulate(chainsYaml: string): Promise<{ fleet: SimulatedFleet; config: string }> {
  const real = configOf(chainsYaml);
  const { fleet } = await mirrorFleet(real, Date.now);
  undoLater(() => fleet[Symbol.asyncDispose]());
  const origins = endpointsOf(real.fleet).map(({ key, url }) => [url, fleet.endpoint(key).url].map(originOf));
  const mirrored = origins.reduce((text, [from = "", to = ""]) => text.replaceAll(from, to), chainsYaml);
  return { fleet, config: await writeConfig(mirrored) };
}

function originOf(url: string): string {
  return new URL(url).origin;
}

/** Writes a chains.yaml to a new folder. */
export async function writeConfig(text: string): Promise<string> {
  const file = join(await temporaryFolder("config"), "chains.yaml");
  await writeFile(file, text);
  return file;
}

/** Starts `synclag run` on a configuration, and waits until it serves HTTP; its first polls may be under way. */
export function startSynclag(configFile: string, options: readonly string[] = []): Promise<Synclag> {
  return start(["run", "--config", configFile, ...options], "/-/healthy");
}

/** Starts `synclag demo`, and waits until every simulated indexer has been polled once. */
export function startDemo(options: readonly string[]): Promise<Synclag> {
  return start(["demo", ...options], "/-/ready");
}

async function start(args: readonly string[], waitFor: string): Promise<Synclag> {
  const command = ["dist/main.js", ...args, "--listen", "127.0.0.1:0"];
  const server = await startServer({ command: process.execPath, args: command, cwd: ROOT }, STARTED, waitFor);
  return {
    ...server,
    metrics: () => getText(`${server.url}/metrics`),
    report: async () => ReportSchema.parse(await getJson(`${server.url}/api/v1/status`)),
  };
}
