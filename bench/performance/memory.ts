import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { freePort } from "../../test/e2e/support/free-port.ts";
import { type ResidentMb, residentMb, startMeasured } from "../programs/measured-process.ts";
import { type PlayedFleet, playPackagedFleet } from "../programs/played-fleet.ts";
import { startSynclag } from "../programs/running-synclag.ts";
import type { Figure, Subject } from "./subject.ts";

const MB = 1e6;
const GO_EXPORTERS = ["blackbox", "node"] as const;
const TABLE = "Where it goes";

export const subject: Subject = {
  title: "Memory",
  about: `
The packaged chains.yaml (100 endpoints, 29 RPC nodes), served by the simulator in another process. Each row is a separate process that does what the rows above it
do, and more. *RSS* is resident memory; *its own* is the part that no file backs (RssAnon of proc(5)): most of the rest is the
\`node\` executable, whose pages all Node processes of a machine share. *Heap used* includes garbage not collected yet; *external* is buffers and the text of modules.
The command and the image start Node with \`--max-semi-space-size=4\`.

For comparison, two Go exporters of Debian after their first scrape. They keep no state from one scrape to the next.`,

  async measure() {
    await using fleet = await playPackagedFleet();
    const figures = [
      ...(await measureStage("`node -e 'setInterval(…)'`", "", fleet)),
      ...(await measureStage("with all modules that `run` loads", MODULES, fleet)),
      ...(await measureStage("with chains.yaml read", MODULES + CONFIG, fleet)),
      ...(await measureDaemon("`node dist/main.js run`", { fleet, nodeOptions: [] })),
      ...(await measureDaemon("`synclag run`", { fleet })),
    ];
    for (const name of GO_EXPORTERS) {
      figures.push(...(await measureGoExporter(name)));
    }
    return figures;
  },
};

const MODULES = `await import("./dist/commands/run.js");`;
const CONFIG = `
const { readFileSync } = await import("node:fs");
const { parseConfig } = await import("./dist/config/parse.js");
const readFile = (path) => readFileSync(path, "utf8");
globalThis.config = parseConfig(readFile(process.argv[1]), { file: "chains.yaml", env: process.env, readFile });`;
const TELL = `
const { heapUsed, external } = process.memoryUsage();
process.stdout.write(JSON.stringify({ heapUsed, external }) + "\\n");
setInterval(() => {}, 1e6);`;

const heapSchema = z.object({ heapUsed: z.number(), external: z.number() });

async function measureStage(row: string, code: string, fleet: PlayedFleet): Promise<readonly Figure[]> {
  const args = ["--input-type=module", "-e", code + TELL, fleet.file];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...fleet.env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    for await (const line of createInterface(child.stdout)) {
      const heap = heapSchema.parse(JSON.parse(line));
      return figuresOf(row, { ...(await residentMb(child.pid ?? 0)), ...heap });
    }
    throw new Error(`Cannot measure ${row}: its process ended`);
  } finally {
    child.kill();
  }
}

async function measureDaemon(
  row: string,
  { fleet, nodeOptions }: { readonly fleet: PlayedFleet; readonly nodeOptions?: readonly string[] },
): Promise<readonly Figure[]> {
  await fleet.forgetState();
  await using synclag = await startSynclag(fleet, nodeOptions);
  await synclag.untilReady();
  const heap = heapOf(await scrape(synclag.url));
  return figuresOf(`${row}, ready and scraped`, { ...(await residentMb(synclag.process.pid)), ...heap });
}

async function measureGoExporter(name: (typeof GO_EXPORTERS)[number]): Promise<readonly Figure[]> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const config = name === "blackbox" ? ["--config.file=/etc/prometheus/blackbox.yml"] : [];
  await using exporter = startMeasured({
    command: `/usr/bin/prometheus-${name}-exporter`,
    args: [`--web.listen-address=${new URL(url).host}`, ...config],
  });
  while ((await scrape(url).catch(() => "")) === "") {
    if (exporter.hasEnded()) {
      throw new Error(`Cannot measure ${name}_exporter: ${exporter.stderr()}`);
    }
    await sleep(50);
  }
  return figuresOf(`${name}_exporter (Go), scraped`, await residentMb(exporter.pid));
}

/** What Node says of itself; the daemon's metrics have the first alone. */
interface Heap {
  readonly heapUsed: number;
  readonly external?: number;
}

/** What a daemon says of itself. */
function heapOf(exposition: string): Heap {
  return { heapUsed: Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(exposition)?.[1]) };
}

function figuresOf(
  row: string,
  { rssMb, anonymousMb, heapUsed, external }: ResidentMb & Partial<Heap>,
): readonly Figure[] {
  const common = { table: TABLE, row };
  return [
    { ...common, column: "RSS, MB", value: rssMb },
    { ...common, column: "its own, MB", value: anonymousMb },
    ...(heapUsed === undefined ? [] : [{ ...common, column: "heap used, MB", value: heapUsed / MB }]),
    ...(external === undefined ? [] : [{ ...common, column: "external, MB", value: external / MB }]),
  ];
}

async function scrape(url: string): Promise<string> {
  return await (await fetch(`${url}/metrics`)).text();
}
