import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type MeasuredProcess, startMeasured } from "./measured-process.ts";

/** The built daemon, listening. */
export interface RunningSynclag extends AsyncDisposable {
  readonly process: MeasuredProcess;
  readonly url: string;
  /** Waits until every indexer has been polled. */
  readonly untilReady: () => Promise<void>;
}

const PROGRAM = resolve("dist/main.js");
const LOOK_MS = 5;

/** Starts the built program on a chains.yaml, with the Node options of its first line, and waits until it listens. */
export async function startSynclag({
  env,
  file,
}: {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}): Promise<RunningSynclag> {
  const [, options = ""] = /^#!\/usr\/bin\/env -S node (.*)\n/.exec(readFileSync(PROGRAM, "utf8")) ?? [];
  const daemon = startMeasured([...options.split(" "), PROGRAM, "run", "--config", file], env);
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

/** The URL in the log, which has it once the daemon listens. */
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
