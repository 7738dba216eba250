import { setTimeout as sleep } from "node:timers/promises";
import { type MeasuredProcess, startMeasured } from "./measured-process.ts";
import type { PlayedFleet } from "./played-fleet.ts";
import { synclagArgs } from "./synclag-args.ts";

/** The built daemon, listening. */
export interface RunningSynclag extends AsyncDisposable {
  readonly process: MeasuredProcess;
  readonly url: string;
  /** Until every indexer was asked once. */
  readonly untilReady: () => Promise<void>;
}

const LOOK_MS = 5;

/** Starts the built program on a played fleet, and waits until it listens. Without options of Node it has those of the command. */
export async function startSynclag(
  { file, env }: Pick<PlayedFleet, "file" | "env">,
  nodeOptions?: readonly string[],
): Promise<RunningSynclag> {
  const daemon = startMeasured({
    command: process.execPath,
    args: synclagArgs(["run", "--config", file], nodeOptions),
    env,
  });
  const url = await listeningUrl(daemon);
  return {
    process: daemon,
    url,
    async untilReady() {
      while (!(await isOk(`${url}/-/ready`))) {
        await sleep(LOOK_MS);
      }
    },
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  };
}

/** Its log says it in the line that says that it has started. */
async function listeningUrl(daemon: MeasuredProcess): Promise<string> {
  for (;;) {
    const [, url] = /"url":"([^"]+)"/.exec(daemon.stderr()) ?? [];
    if (url !== undefined) {
      return url;
    }
    if (daemon.hasEnded()) {
      throw new Error(`Cannot start the daemon: ${daemon.stderr()}`);
    }
    await sleep(LOOK_MS);
  }
}

async function isOk(url: string): Promise<boolean> {
  const response = await fetch(url);
  await response.text();
  return response.ok;
}
