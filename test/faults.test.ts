import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EndpointSpec } from "../src/sim/fleet/endpoint-spec.ts";
import { type SimulatedFleet, startFleet } from "../src/sim/fleet/simulated-fleet.ts";
import type { TargetBehaviour } from "../src/sim/fleet/simulated-target.ts";
import { SIMULATED_CUSTOM_QUERY } from "../src/sim/servers/custom.ts";
import type { StatusJson, TargetJson } from "../src/views/api/api-schema.ts";
import { FAULT_DEPLOYMENT, type FaultCase, faultCases, type Truth } from "./support/fault-cases.ts";
import { AUTHORITY, WIRE_CASES, type Wire } from "./support/fault-wires.ts";
import { scrape } from "./support/running-app.ts";
import { type SynclagProcess, startSynclag } from "./support/synclag-process.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// One daemon polls one provider for each fault, all at once, so that a fault which disturbs the others is seen.
// Beside each fault there is a healthy neighbour: on the same host and port, wherever something can still answer there.

const TIMEOUT_MS = 1_000;
const INTERVAL_MS = 2_000;
/** Each neighbour is polled at least so often, so that the effect of what hangs is seen. */
const LEAST_POLLS = 3;
/** All providers live in one process: on a busy machine any of them may answer too late for a while. */
const DEADLINE_MS = 60_000;

let cases: readonly FaultCase[];
let fleet: SimulatedFleet;
let wires: ReadonlyMap<string, Wire>;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let daemon: SynclagProcess;
let url: string;
let before: ReadonlyMap<string, number>;
let after: ReadonlyMap<string, number>;
let json: StatusJson;

beforeAll(async () => {
  fleet = await startFleet({
    nowMs: Date.now,
    endpoints: [...faultCases({ block: 1, timeSec: 1 }).flatMap(specsOf), ...WIRE_CASES.map(neighbourSpec)],
  });
  cases = faultCases(truthOf(fleet));
  for (const { name, fault } of cases) {
    if (fault !== null) {
      fleet.endpoint(keyOf(name)).fail(fault);
    }
  }
  wires = new Map(
    await Promise.all(
      WIRE_CASES.map(
        async ({ name, open }) => [name, await open(fleet.endpoint(keyOf(neighbourOf(name))).url)] as const,
      ),
    ),
  );
  folder = await temporaryFolder();
  writeFileSync(join(folder.path, "authority.pem"), AUTHORITY.certPem);
  writeFileSync(join(folder.path, "chains.yaml"), chainsYaml());
  // A process of its own: its memory is its alone, and it trusts the test's authority.
  daemon = startSynclag(["run"], {
    cwd: folder.path,
    env: { NODE_EXTRA_CA_CERTS: join(folder.path, "authority.pem") },
  });
  [, url = ""] = await daemon.logged(/"url":"(http:[^"]+)"/);
  before = await scrape({ url });
  const untilMs = Date.now() + DEADLINE_MS;
  do {
    await sleep(250);
    json = (await (await fetch(`${url}/api/v1/status`)).json()) as StatusJson;
  } while (!isSettled() && Date.now() < untilMs);
  after = await scrape({ url });
}, 120_000);

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await fleet[Symbol.asyncDispose]();
  await Promise.all([...wires.values()].map((wire) => wire[Symbol.asyncDispose]()));
  await folder[Symbol.asyncDispose]();
});

describe("a fault of an indexer", () => {
  it("comes in many kinds", () => {
    expect(all().length).toBeGreaterThan(115);
  });

  it("has the right reason and status", () => {
    const told = all().map(({ name }) => ({ name, ...targetOf(name) }));

    expect(told).toEqual(
      all().map(({ name, reason, status: expected }) => ({ name, reason, status: expected })),
    );
  });

  it.each([
    { name: "tls-certificate-self-signed", wrong: "is self-signed" },
    { name: "tls-certificate-expired", wrong: "has expired" },
    { name: "tls-certificate-of-another-host", wrong: "is for another host" },
    { name: "tls-certificate-of-an-unknown-authority", wrong: "comes from an authority that is not trusted" },
  ])("says of a certificate what is wrong with it: $name", ({ name, wrong }) => {
    const target = json.targets.find(({ protocol }) => protocol === name);

    expect(target?.detail).toContain(`the TLS certificate ${wrong}`);
  });

  it("leaves its neighbour ok, and polled on time", () => {
    const disturbed = all().filter(({ name }) => effectOn(name) !== "none");

    expect(disturbed.map(({ name }) => `${name}: ${effectOn(name)}`)).toEqual([]);
  });

  it("is counted under its own reason and no other", () => {
    const counted = [...after].filter(
      ([series, value]) => series.startsWith("synclag_poll_failures_total") && value > 0,
    );
    const wrong = counted.filter(([series]) => {
      const [, protocol = "", reason = ""] = /protocol="([^"]*)".*reason="([^"]*)"/.exec(series) ?? [];
      // All providers live in one process: where the machine is busy, any of them may once be too slow.
      return reason !== "timeout" && all().find(({ name }) => name === protocol)?.reason !== reason;
    });

    expect(counted.length).toBeGreaterThan(80);
    expect(wrong).toEqual([]);
  });

  it("invents no series: every label's value was there before, or is in the configuration", () => {
    const known = new Set([...before.keys()].flatMap(labelValues));
    const invented = [...after.keys()].filter((series) =>
      labelValues(series).some((value) => !known.has(value) && !/^Qm\w{44}$/.test(value)),
    );

    expect(invented).toEqual([]);
  });

  it("costs a bounded amount of memory, whatever is sent", () => {
    // The most that it ever had, with Node and all; a single answer that was taken as a whole would be seen.
    const [, peakKb = ""] =
      /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${daemon.child.pid}/status`, "utf8")) ?? [];

    expect(Number(peakKb)).toBeLessThan(350 * 1024);
  });

  it("leaves the loop, the metrics and the page alone", async () => {
    const paths = ["/-/healthy", "/-/ready", "/metrics", "/", "/chains/base", "/api/v1/status"];
    const answers = await Promise.all(paths.map(async (path) => (await fetch(url + path)).status));

    expect(answers).toEqual(paths.map(() => 200));
  });

  it("is in docs/FAULTS.md as it happens", async () => {
    await expect(faultsMd()).toMatchFileSnapshot("../docs/FAULTS.md");
  });
});

/** Whether every fault was seen for what it is, and every neighbour was polled often enough. */
function isSettled(): boolean {
  return all().every(({ name, reason, status }) => {
    const seen = targetOf(name);
    return seen.reason === reason && seen.status === status && effectOn(name) === "none";
  });
}

function all(): readonly Pick<FaultCase, "name" | "reason" | "status">[] {
  return [...cases, ...WIRE_CASES];
}

function targetOf(protocol: string): Pick<TargetJson, "reason" | "status"> {
  const { reason, status } = json.targets.find((target) => target.protocol === protocol) ?? {
    reason: null,
    status: "unknown",
  };
  return { reason, status };
}

/** What became of the healthy endpoint on the same host. */
function effectOn(name: string): string {
  const { status } = targetOf(neighbourOf(name));
  const { requestCount } = fleet.endpoint(keyOf(neighbourOf(name)));
  if (status !== "ok") {
    return status;
  }
  return requestCount < LEAST_POLLS ? `polled ${requestCount} times` : "none";
}

function faultsMd(): string {
  const rows = all().map(({ name }) => {
    const { reason, status } = targetOf(name);
    return `| ${name.replaceAll("-", " ")} | ${reason ?? "–"} | ${status} | ${effectOn(name)} |`;
  });
  return `# Faults and how they are reported

Generated by \`test/faults.test.ts\` from what one daemon reports when it meets all of these at once; do not edit. Each fault
has a host and port of its own and a healthy endpoint beside it, whose polls and status are the last column. Where that port
cannot answer at all (no connection, no name, no trusted certificate), the healthy endpoint is on another port.
\`–\`: the answer is usable despite the fault, or the height itself decides the status. Skipped events leave the height perfect: only
[parity](parity.md) finds them. Faults of the store: [HIGH-AVAILABILITY.md](HIGH-AVAILABILITY.md#when-the-store-is-in-trouble).

| fault | reason | status | effect on others |
|---|---|---|---|
${rows.join("\n")}
`;
}

/** But for the bounds of histograms, which are numbers of our own. */
function labelValues(series: string): readonly string[] {
  return [...series.matchAll(/[{,](?!le=)\w+="((?:[^"\\]|\\.)*)"/g)].map(([, value = ""]) => value);
}

function neighbourOf(name: string): string {
  return `${name}-neighbour`;
}

function keyOf(protocol: string): string {
  return `${protocol}/subgraph/production/base`;
}

/** The endpoint of a fault, and its neighbour on the same host. */
function specsOf({ name, spec }: FaultCase): readonly EndpointSpec[] {
  return [{ ...spec, key: keyOf(name), chains: ["base"], origin: name }, neighbourSpec({ name, spec })];
}

function neighbourSpec({ name, spec }: Pick<FaultCase, "name"> & Partial<FaultCase>): EndpointSpec {
  const kind = spec?.kind ?? "graph-node";
  const path = kind === "graph-status" ? { path: "/neighbour/graphql" } : {};
  const targetBehaviour = (): Partial<TargetBehaviour> =>
    kind === "graph-status" ? { deployment: FAULT_DEPLOYMENT } : {};
  return { kind, key: keyOf(neighbourOf(name)), chains: ["base"], origin: name, ...path, targetBehaviour };
}

function truthOf(simulated: SimulatedFleet): Truth {
  const chain = simulated.chain("base");
  const block = chain.headAt();
  return { block, timeSec: Math.floor(chain.timeOf(block) / 1_000) };
}

function chainsYaml(): string {
  const simulated = cases
    .flatMap(({ name }) => [name, neighbourOf(name)])
    .map((name) => indexerYaml(name, fleet.endpoint(keyOf(name)).url));
  const wired = [...wires].flatMap(([name, wire]) => [
    indexerYaml(name, wire.url),
    indexerYaml(neighbourOf(name), wire.neighbourUrl),
  ]);
  return `
version: 1
listen: 127.0.0.1:0
poll: { timeout: ${TIMEOUT_MS}ms, retries: 0, concurrency: 100 }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:${[...simulated, ...wired].join("")}
`;
}

function indexerYaml(protocol: string, endpointUrl: string): string {
  return `
  ${protocol}:
    - { variant: subgraph, dialect: ${dialectOf(protocol)}${customOf(protocol)}, url: "${endpointUrl}", schedule: "*/${INTERVAL_MS / 1_000} * * * * *", chains: { base: {${deploymentOf(protocol)}} } }`;
}

function deploymentOf(protocol: string): string {
  return dialectOf(protocol) === "graph-status" ? ` deployment: ${FAULT_DEPLOYMENT} ` : "";
}

/** JSON is YAML. */
function customOf(protocol: string): string {
  const { chainId, ...query } = SIMULATED_CUSTOM_QUERY;
  return dialectOf(protocol) === "custom"
    ? `, custom: ${JSON.stringify({ ...query, chain_id: chainId })}`
    : "";
}

/** The named faults come from a graph-node; the others from the kind of server that their name is filed under. */
function dialectOf(protocol: string): string {
  const kind = cases.find(({ name }) => name === protocol || neighbourOf(name) === protocol)?.spec.kind;
  return kind === undefined || kind === "graph-node" ? "graph" : kind;
}
