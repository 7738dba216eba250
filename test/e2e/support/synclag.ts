import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Report } from "../../../src/core/model/report.ts";
import { ReportSchema } from "../../../src/core/model/report-schema.ts";
import type { SimulatedFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { startFleet } from "../../support/fleet.ts";
import { getJson, getText } from "./loopback.ts";
import { type Server, startServer } from "./program.ts";
import { temporaryFolder, undoLater } from "./undo.ts";

/** The built product, running as a user runs it. */
export interface Synclag extends Server {
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
  /** The answer of `/api/v1/status`. */
  report(): Promise<Report>;
}

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** In the log of a Synclag. */
export const STARTED = /"url":"(http:[^"]+)"/;

/** Indexers on loopback by the real clock, until the test file is through. */
export async function simulate(
  options: Omit<Parameters<typeof startFleet>[0], "nowMs">,
): Promise<SimulatedFleet> {
  const fleet = await startFleet({ nowMs: Date.now, ...options });
  undoLater(() => fleet[Symbol.asyncDispose]());
  return fleet;
}

/** Writes a chains.yaml to a new folder; an object, too, for JSON is YAML. */
export async function writeConfig(content: string | object): Promise<string> {
  const file = join(await temporaryFolder("config"), "chains.yaml");
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** Starts `synclag run` on a configuration, and waits until it answers HTTP; its first polls may be under way. */
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
