import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { freePort } from "../../test/e2e/support/free-port.ts";
import { type MeasuredProcess, startMeasured } from "./measured-process.ts";
import { synclagArgs } from "./synclag-args.ts";
import { type FleetSpec, syntheticFleet } from "./synthetic-fleet.ts";

/** How late the event loop turned, in milliseconds. */
export type LoopDelay = z.infer<typeof delaySchema>;

/** A `synclag run` of a synthetic fleet, with all that it does by default. */
export interface FleetDaemon extends AsyncDisposable {
  readonly process: MeasuredProcess;
  /** From the start of the process to the answer that it is ready: read, and heard of every endpoint. */
  readonly startMs: number;
  /** Reads `/metrics` to its end, compressed as Prometheus asks for it, and throws it away. */
  readonly scrape: () => Promise<{ readonly tookMs: number; readonly bytes: number }>;
  /** Since it was asked before. */
  readonly loopDelay: () => Promise<LoopDelay>;
}

const delaySchema = z.object({ p99: z.number(), longest: z.number() });
const LOOK_MS = 20;

/** Starts it, and waits until it is ready. */
export async function startFleetDaemon(spec: FleetSpec): Promise<FleetDaemon> {
  const folder = await mkdtemp(join(tmpdir(), "synclag-fleet-"));
  const config = join(folder, "chains.yaml");
  await writeFile(config, syntheticFleet(spec));
  const listen = `127.0.0.1:${await freePort()}`;
  const startedMs = performance.now();
  const process = startMeasured({
    command: globalThis.process.execPath,
    args: [
      "--import",
      join(import.meta.dirname, "loop-delay.mjs"),
      ...synclagArgs(["run", "--config", config, "--listen", listen]),
    ],
  });
  await untilReady(`http://${listen}/-/ready`, process);
  return {
    process,
    startMs: performance.now() - startedMs,
    async scrape() {
      const beganMs = performance.now();
      const { bytes } = await read(`http://${listen}/metrics`);
      return { tookMs: performance.now() - beganMs, bytes };
    },
    loopDelay: () => askLoopDelay(process),
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

async function askLoopDelay({ pid, stderr }: MeasuredProcess): Promise<LoopDelay> {
  const before = stderr().length;
  globalThis.process.kill(pid, "SIGUSR2");
  while (stderr().length === before) {
    await sleep(LOOK_MS);
  }
  const told = stderr()
    .slice(before)
    .replace(/^.*loop delay /s, "");
  return delaySchema.parse(JSON.parse(told));
}
