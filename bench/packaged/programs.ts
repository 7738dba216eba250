import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Blackbox, type ProbeRequest, startBlackbox } from "../programs/blackbox.ts";
import { burst } from "../programs/bursts.ts";
import { type MeasuredProcess, startMeasured } from "../programs/measured-process.ts";
import type { PlayedFleet } from "../programs/played-fleet.ts";
import { type RunningSynclag, startSynclag } from "../programs/running-synclag.ts";
import { nodeOptionsOfCommand } from "../programs/synclag-args.ts";

/** A program that polls a fleet of its own. */
export interface Program extends AsyncDisposable {
  readonly process: MeasuredProcess;
  readonly fleet: PlayedFleet;
  /** Whether `counters.mjs` is loaded into it. */
  readonly isNode: boolean;
}

/** What is asked of an endpoint each period. */
interface Poll {
  /** The endpoint's, by which it is found in every copy of the fleet. */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly periodMs: number;
}

const COUNTERS = ["--import", join(import.meta.dirname, "counters.mjs")];
/** At once, in all: as the settings of chains.yaml have it. */
const CONCURRENCY = 16;
/** Every period is a multiple of it. */
const STEP_MS = 15_000;
const LOOK_MS = 20;
/** Node's client sets these by itself. */
const OWN_HEADERS = new Set(["host", "connection", "content-length", "transfer-encoding"]);

/** Starts the daemon on a fleet, without state, and waits until it has asked every endpoint. */
export async function startDaemon(fleet: PlayedFleet): Promise<Program & Pick<RunningSynclag, "url">> {
  const synclag = await startSynclag(fleet, [...nodeOptionsOfCommand(), ...COUNTERS]);
  await synclag.untilReady();
  return {
    process: synclag.process,
    url: synclag.url,
    fleet,
    isNode: true,
    [Symbol.asyncDispose]: () => synclag[Symbol.asyncDispose](),
  };
}

/** What the daemon has just sent to each endpoint. */
export function pollsOf({ simulated, endpoints }: PlayedFleet): readonly Poll[] {
  return endpoints.map(({ key, pollIntervalMs }) => {
    const call = simulated.endpoint(key).lastRequest?.call;
    if (call === undefined) {
      throw new Error(`Cannot repeat the request to ${key}: it got none`);
    }
    const headers = Object.entries(call.headers).filter(([name]) => !OWN_HEADERS.has(name));
    return { key, headers: Object.fromEntries(headers), body: call.body, periodMs: pollIntervalMs };
  });
}

/** Starts the least that Node can do with these polls, serving these pages, and waits until all are asked once. */
export async function startFloor(
  fleet: PlayedFleet,
  polls: readonly Poll[],
  pages: Readonly<Record<string, string>>,
): Promise<Program & Pick<RunningSynclag, "url">> {
  const file = join(fleet.folder, "floor.json");
  const requests = polls.map((poll) => ({ ...poll, url: fleet.simulated.endpoint(poll.key).url }));
  await writeFile(file, JSON.stringify({ requests, pages }));
  const program = startMeasured({
    command: process.execPath,
    args: [...nodeOptionsOfCommand(), ...COUNTERS, join(import.meta.dirname, "floor.mjs"), file],
  });
  const url = await wordOf(program, /"url":"([^"]+)"/);
  await wordOf(program, /polled (\d+)/);
  return {
    process: program,
    url,
    fleet,
    isNode: true,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

/** Starts blackbox_exporter, and has it probe each endpoint with each period, as Prometheus would. */
export async function startProbes(fleet: PlayedFleet, polls: readonly Poll[]): Promise<Program> {
  const modules = new Map<string, { readonly name: string; readonly request: ProbeRequest }>();
  const probes = polls.map(({ key, headers, body, periodMs }) => {
    const id = JSON.stringify([headers, body]);
    const request = { body, headers };
    const module = modules.get(id) ?? { name: `module-${modules.size}`, request };
    modules.set(id, module);
    return { periodMs, url: fleet.simulated.endpoint(key).url, module: module.name };
  });
  const blackbox = await startBlackbox(
    Object.fromEntries([...modules.values()].map(({ name, request }) => [name, request])),
  );
  await probeAll(blackbox, probes);
  const stop = repeat((dueMs) =>
    probeAll(
      blackbox,
      probes.filter(({ periodMs }) => dueMs % periodMs === 0),
    ),
  );
  return {
    process: blackbox.process,
    fleet,
    isNode: false,
    async [Symbol.asyncDispose]() {
      await stop();
      await blackbox[Symbol.asyncDispose]();
    },
  };
}

async function probeAll(
  { probe }: Blackbox,
  probes: readonly { readonly url: string; readonly module: string }[],
): Promise<void> {
  await burst(probes.length, CONCURRENCY, async (index) => {
    const one = probes[index];
    if (one !== undefined) {
      await probe(one.url, one.module);
    }
  });
}

/** Calls it at each multiple of the step, until it is stopped; that waits for the call under way. */
function repeat(call: (dueMs: number) => Promise<void>): () => Promise<void> {
  let underWay = Promise.resolve();
  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    const dueMs = (Math.floor(Date.now() / STEP_MS) + 1) * STEP_MS;
    timer = setTimeout(() => {
      schedule();
      underWay = underWay.then(() => call(dueMs));
    }, dueMs - Date.now());
  };
  schedule();
  return async () => {
    clearTimeout(timer);
    await underWay;
  };
}

/** Waits for it in what a program writes to stderr. */
async function wordOf(program: MeasuredProcess, pattern: RegExp): Promise<string> {
  for (;;) {
    const [, word] = pattern.exec(program.stderr()) ?? [];
    if (word !== undefined) {
      return word;
    }
    if (program.hasEnded()) {
      throw new Error(`Cannot measure what has ended: ${program.stderr()}`);
    }
    await sleep(LOOK_MS);
  }
}
