import { spawn } from "node:child_process";
import { once } from "node:events";
import { percentile } from "../../test/worlds/figures.ts";
import { type PlayedFleet, playPackagedFleet } from "../programs/played-fleet.ts";
import { startSynclag } from "../programs/running-synclag.ts";
import { synclagArgs } from "../programs/synclag-args.ts";
import type { Extent, Figure, Subject } from "./subject.ts";

/** By turns, so that whatever else the machine does befalls all alike. */
const COMMANDS: Readonly<Record<string, { readonly args: readonly string[]; readonly atMost?: number }>> = {
  "node -e 0": { args: ["-e", "0"] },
  "synclag --version": { args: synclagArgs(["--version"]), atMost: 80 },
  "synclag --help": { args: synclagArgs(["--help"]) },
  "synclag config check": { args: synclagArgs(["config", "check"]) },
};
/** Until ready, and for a whole `check`, where every answer takes 100 ms. */
const GOAL = { atMost: 1_500, latencyMs: 100 };
/** As the settings of chains.yaml have it. */
const PER_HOST = 6;

interface Latency {
  readonly minMs: number;
  readonly maxMs: number;
}

const LATENCIES: readonly Latency[] = [
  { minMs: 0, maxMs: 0 },
  { minMs: GOAL.latencyMs, maxMs: GOAL.latencyMs },
  { minMs: 20, maxMs: 400 },
];

export const subject: Subject = {
  title: "Start",
  about: `
Wall-clock time of the built program from process start until it has ended,
or until \`/-/ready\` returns 200: then every indexer of the packaged chains.yaml (100 endpoints and 29 RPC nodes)
was polled once, without a state file. The simulator runs in another process on the same machine.

With replies that take 20–400 ms most of the time is waiting: the gateway and Studio are asked for
46 endpoints each, 6 at a time, and 46 ÷ 6 × 210 ms are ${Math.round(((46 / PER_HOST) * 210) / 10) * 10} ms. A larger \`per_host\`
makes that shorter.`,
  async measure(extent) {
    await using fleet = await playPackagedFleet();
    const figures: Figure[] = [...(await measureCommands(fleet, extent))];
    for (const latency of extent === "whole" ? LATENCIES : LATENCIES.slice(1, 2)) {
      for (const { key } of fleet.endpoints) {
        fleet.simulated.endpoint(key).set({ latency });
      }
      figures.push(...(await measureReady(fleet, latency)), ...(await measureCheck(fleet, latency)));
    }
    return figures;
  },
};

async function measureCommands({ env }: PlayedFleet, extent: Extent): Promise<readonly Figure[]> {
  const turns = extent === "whole" ? 15 : 5;
  const taken = new Map(Object.keys(COMMANDS).map((name) => [name, [] as number[]]));
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [name, { args }] of Object.entries(COMMANDS)) {
      const startedMs = Date.now();
      await runToEnd(args, env);
      taken.get(name)?.push(Date.now() - startedMs);
    }
  }
  const median = (name: string): number => percentile(taken.get(name) ?? [], 0.5);
  return Object.entries(COMMANDS).flatMap(([row, { atMost }]) => {
    const common = { table: "Commands that ask nobody", row };
    return [
      { ...common, column: "ms", value: median(row), ...(atMost === undefined ? {} : { atMost }) },
      { ...common, column: "÷ bare node", value: median(row) / median("node -e 0") },
    ];
  });
}

async function measureReady(fleet: PlayedFleet, latency: Latency): Promise<readonly Figure[]> {
  await fleet.forgetState();
  const startedMs = Date.now();
  await using synclag = await startSynclag(fleet);
  const listeningMs = Date.now() - startedMs;
  await synclag.untilReady();
  const readyMs = Date.now() - startedMs;
  const cpuMs = await synclag.process.cpuMs();
  const common = { table: "`synclag run` until it is ready", row: rowOf(latency) };
  return [
    { ...common, column: "first request, ms", value: exchangesSince(startedMs, fleet).firstMs },
    { ...common, column: "listening, ms", value: listeningMs },
    { ...common, column: "ready, ms", value: readyMs, ...goalFor(latency) },
    { ...common, column: "its CPU until then, ms", value: cpuMs },
  ];
}

async function measureCheck(fleet: PlayedFleet, latency: Latency): Promise<readonly Figure[]> {
  await fleet.forgetState();
  const startedMs = Date.now();
  await runToEnd(synclagArgs(["check", "--config", fleet.file]), fleet.env);
  const wholeMs = Date.now() - startedMs;
  const { firstMs, lastMs } = exchangesSince(startedMs, fleet);
  const common = { table: "`synclag check`, the whole fleet", row: rowOf(latency) };
  return [
    { ...common, column: "until the first request, ms", value: firstMs },
    { ...common, column: "while requests are under way, ms", value: lastMs - firstMs },
    { ...common, column: "after the last answer, ms", value: wholeMs - lastMs },
    { ...common, column: "whole, ms", value: wholeMs, ...goalFor(latency) },
  ];
}

/** When the first request of an endpoint came in, and when the last was answered. */
function exchangesSince(
  startedMs: number,
  { simulated, endpoints }: PlayedFleet,
): { readonly firstMs: number; readonly lastMs: number } {
  const requests = endpoints
    .flatMap(({ key }) => simulated.endpoint(key).lastRequest ?? [])
    .filter(({ receivedAtMs }) => receivedAtMs >= startedMs);
  return {
    firstMs: Math.min(...requests.map(({ receivedAtMs }) => receivedAtMs)) - startedMs,
    lastMs: Math.max(...requests.map(({ readAtMs, afterMs }) => readAtMs + afterMs)) - startedMs,
  };
}

function goalFor({ maxMs }: Latency): { readonly atMost?: number } {
  return maxMs === GOAL.latencyMs ? { atMost: GOAL.atMost } : {};
}

function rowOf({ minMs, maxMs }: Latency): string {
  const range = minMs === maxMs ? `${maxMs}` : `${minMs}–${maxMs}`;
  return maxMs === 0 ? "answers at once" : `answers in ${range} ms`;
}

async function runToEnd(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: "ignore" });
  await once(child, "exit");
}
