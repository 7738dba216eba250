import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { stringify } from "yaml";
import { graph } from "../../src/dialects/graph.ts";
import { burst, untilPhase } from "./bursts.ts";
import { type MeasuredProcess, startMeasured } from "./measured-process.ts";

/** blackbox_exporter, as someone sets it up who has nothing else for indexers. */
export interface Blackbox extends AsyncDisposable {
  readonly process: MeasuredProcess;
  /** Has it probe a URL as Prometheus does, over a connection to it that is kept. */
  readonly probe: (target: string, module: string) => Promise<void>;
}

/** A request that one module sends, whatever the target. */
export interface ProbeRequest {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The certificate to trust, as a PEM file. */
  readonly caFile?: string;
}

/** Where Debian's package puts it. */
const PROGRAM = "/usr/bin/prometheus-blackbox-exporter";
const START_MS = 5_000;
const LOOK_MS = 50;
const WARM_UP_PROBES = 100;
/** As the floor: Synclag goes on meanwhile, and its rounds begin with the period. */
const PHASE = 0.5;
const US_IN_MS = 1_000;
/** The module that `measureProbes` uses. */
const MODULE = "height";
/** Of a subgraph, of a multi-chain indexer, or of an RPC node. */
const HEIGHT = '"(number|progressBlock)":\\s*([1-9]|"0x)';

/** The module for an indexer on loopback that speaks as graph-node does. */
export function graphModule(caFile: string): Readonly<Record<string, ProbeRequest>> {
  return { [MODULE]: { body: JSON.stringify(graph.questions[0]?.body), caFile } };
}

/** @throws If it is not installed, or doesn't start. */
export async function startBlackbox(modules: Readonly<Record<string, ProbeRequest>>): Promise<Blackbox> {
  if (!existsSync(PROGRAM)) {
    throw new Error(
      `Cannot measure blackbox_exporter: ${PROGRAM} was not found; apt-get install prometheus-blackbox-exporter`,
    );
  }
  const folder = await mkdtemp(join(tmpdir(), "synclag-blackbox-"));
  const file = join(folder, "blackbox.yml");
  await writeFile(file, configuration(modules));
  const program = startMeasured({
    command: PROGRAM,
    args: [`--config.file=${file}`, "--web.listen-address=127.0.0.1:0", "--log.level=info"],
  });
  const address = await addressOf(program.stderr);
  const agent = new Agent();
  return {
    process: program,
    async probe(target, module) {
      const query = new URLSearchParams({ module, target });
      const { body } = await request(`http://${address}/probe?${query.toString()}`, { dispatcher: agent });
      if (!(await body.text()).includes("\nprobe_success 1\n")) {
        throw new Error(`Cannot probe ${target}: blackbox_exporter says that it failed`);
      }
    },
    async [Symbol.asyncDispose]() {
      await agent.close();
      await program[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

function configuration(modules: Readonly<Record<string, ProbeRequest>>): string {
  const named = Object.entries(modules).map(([name, module]) => [name, moduleOf(module)] as const);
  return stringify({ modules: Object.fromEntries(named) });
}

/** The same request as Synclag's; all that blackbox_exporter can say of the answer is whether it has a height. */
function moduleOf({ body, headers = {}, caFile }: ProbeRequest): object {
  return {
    prober: "http",
    timeout: "10s",
    http: {
      method: "POST",
      headers: {
        "User-Agent": "blackbox",
        Accept: "application/json",
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
        ...headers,
      },
      body,
      fail_if_body_not_matches_regexp: [HEIGHT],
      preferred_ip_protocol: "ip4",
      ...(caFile === undefined ? {} : { tls_config: { ca_file: caFile } }),
    },
  };
}

/** Rounds of probes, so many at a time, one round each period. */
interface Probes {
  readonly endpoints: number;
  readonly concurrency: number;
  readonly periodSec: number;
  readonly rounds: number;
}

/** Microseconds of CPU a probe. */
export async function measureProbes(
  { process, probe }: Blackbox,
  origin: string,
  probes: Probes,
): Promise<number> {
  const { endpoints, concurrency, periodSec, rounds } = probes;
  const periodMs = periodSec * 1_000;
  const one = (index: number) => probe(`${origin}/${index}`, MODULE);
  await burst(WARM_UP_PROBES, concurrency, one);
  await untilPhase(periodMs, PHASE);
  const beforeMs = await process.cpuMs();
  for (let round = 0; round < rounds; round += 1) {
    await burst(endpoints, concurrency, one);
    await untilPhase(periodMs, PHASE);
  }
  return (((await process.cpuMs()) - beforeMs) * US_IN_MS) / (endpoints * rounds);
}

/** It tells in its log where it listens. */
async function addressOf(log: () => string): Promise<string> {
  for (let waitedMs = 0; waitedMs < START_MS; waitedMs += LOOK_MS) {
    const [, address] = /msg="Listening on" address=(\S+)/.exec(log()) ?? [];
    if (address !== undefined) {
      return address;
    }
    await sleep(LOOK_MS);
  }
  throw new Error(`Cannot start blackbox_exporter: ${log()}`);
}
