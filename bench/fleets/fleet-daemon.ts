import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../test/e2e/support/free-port.ts";
import { type MeasuredProcess, startMeasured } from "../programs/measured-process.ts";
import { synclagArgs } from "../programs/synclag-args.ts";
import { type FleetSpec, syntheticFleet } from "../programs/synthetic-fleet.ts";
import { writeFullHistory } from "./full-history.ts";

/** A `synclag run` of a synthetic fleet, with all that it does by default. */
export interface FleetDaemon extends AsyncDisposable {
  readonly process: MeasuredProcess;
  /** From the start of the process to the answer that it is ready: read, and heard of every endpoint. */
  readonly startMs: number;
  readonly metricsUrl: string;
  /** Reads `/metrics` to its end, compressed as Prometheus asks for it, and throws it away. */
  readonly scrape: () => Promise<{ readonly tookMs: number; readonly bytes: number }>;
}

const LOOK_MS = 20;
/** Beside the configuration. */
const STATE_FILE = "synclag.state.json";

/**
 * Starts it with a day's history and with a module of this path loaded into it, and waits until it is ready.
 */
export async function startFleetDaemon(spec: FleetSpec, module: string): Promise<FleetDaemon> {
  const folder = await mkdtemp(join(tmpdir(), "synclag-fleet-"));
  const config = join(folder, "chains.yaml");
  const text = syntheticFleet(spec);
  await writeFile(config, text);
  await writeFullHistory(text, join(folder, STATE_FILE));
  const listen = `127.0.0.1:${await freePort()}`;
  const startedMs = performance.now();
  const process = startMeasured({
    command: globalThis.process.execPath,
    args: ["--import", module, ...synclagArgs(["run", "--config", config, "--listen", listen])],
  });
  await untilReady(`http://${listen}/-/ready`, process);
  const metricsUrl = `http://${listen}/metrics`;
  return {
    process,
    metricsUrl,
    startMs: performance.now() - startedMs,
    async scrape() {
      const beganMs = performance.now();
      const { bytes } = await read(metricsUrl);
      return { tookMs: performance.now() - beganMs, bytes };
    },
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

async function untilReady(url: string, process: MeasuredProcess): Promise<void> {
  while (!(await isReady(url))) {
    if (process.hasEnded()) {
      throw new Error(`Cannot measure what has ended: ${process.stderr()}`);
    }
    await sleep(LOOK_MS);
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await read(url)).status === 200;
  } catch {
    // It does not listen yet.
    return false;
  }
}

async function read(url: string): Promise<{ readonly status: number; readonly bytes: number }> {
  return await new Promise((resolved, rejected) => {
    const request = get(url, { agent: false, headers: { "accept-encoding": "gzip" } }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on("end", () => resolved({ status: response.statusCode ?? 0, bytes }));
      response.on("error", rejected);
    });
    request.on("error", rejected);
  });
}
