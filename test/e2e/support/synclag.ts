import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import type { Report } from "../../../src/core/model/report.ts";
import { ReportSchema } from "../../../src/core/model/report-schema.ts";
import { getJson, getText } from "./loopback.ts";
import { type Program, printed, startProgram } from "./program.ts";
import { temporaryFolder } from "./undo.ts";

/** The built product, running as a user runs it. */
export interface Synclag extends Program {
  /** Without a slash at the end. */
  readonly url: string;
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
  /** The answer of `/api/v1/status`. */
  report(): Promise<Report>;
}

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const START_LIMIT_MS = 60_000;

/** Starts `synclag run` on the text of a chains.yaml, in a new folder. */
export async function startSynclagOn(name: string, chainsYaml: string): Promise<Synclag> {
  const file = join(await temporaryFolder(name), "chains.yaml");
  await writeFile(file, chainsYaml);
  return await startSynclag(file);
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
  const program = await startProgram({
    command: process.execPath,
    args: ["dist/main.js", ...args, "--listen", "127.0.0.1:0"],
    cwd: ROOT,
  });
  const url = await printed(program, /"url":"(http:[^"]+)"/);
  await vi.waitFor(() => getText(`${url}${waitFor}`), { timeout: START_LIMIT_MS, interval: 100 });
  return {
    ...program,
    url,
    metrics: () => getText(`${url}/metrics`),
    report: async () => ReportSchema.parse(await getJson(`${url}/api/v1/status`)),
  };
}
