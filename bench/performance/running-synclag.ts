import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type MeasuredProcess, startMeasured } from "./measured-process.ts";
import type { PlayedFleet } from "./played-fleet.ts";

/** The built daemon, listening. */
export interface RunningSynclag extends AsyncDisposable {
  readonly process: MeasuredProcess;
  readonly url: string;
  /** Until every indexer was asked once. */
  readonly untilReady: () => Promise<void>;
}

const LOOK_MS = 5;

/** Starts the built program on a played fleet, with these options of Node, and waits until it listens. */
export async function startSynclag(
  { file, env }: Pick<PlayedFleet, "file" | "env">,
  nodeOptions: readonly string[] = [],
): Promise<RunningSynclag> {
  const daemon = startMeasured({
    command: process.execPath,
    args: [...nodeOptions, "dist/main.js", "run", "--config", file],
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

/** Those with which the command and the image start. */
export function nodeFlags(): readonly string[] {
  return (
    /^#!\/usr\/bin\/env -S node (.*)\n/.exec(readFileSync("dist/main.js", "utf8"))?.[1]?.split(" ") ?? []
  );
}
