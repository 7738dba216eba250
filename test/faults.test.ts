import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Report, TargetReport } from "../src/core/model/report.ts";
import type { SimulatedFleet } from "../src/sim/fleet/simulated-fleet.ts";
import { FAULT_DEPLOYMENT, type FaultCase, faultCases, type Truth } from "./support/fault-cases.ts";
import { AUTHORITY, WIRE_CASES, type Wire } from "./support/fault-wires.ts";
import type { FAULTS } from "./support/faults.ts";
import { SIMULATED_CUSTOM, startFleet, type TestEndpoint } from "./support/fleet.ts";
import { expectGolden } from "./support/golden.ts";
import { startScenario } from "./support/scenario.ts";
import { startSynclag } from "./support/synclag-process.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

// One daemon meets every fault at once, so that a fault which disturbs the others is seen; beside each there is a healthy
// neighbour on the same host. Most are played in virtual time, those of the wire by a process over sockets.

interface Expected extends Pick<FaultCase, "name" | "reason" | "status"> {}

interface Met {
  readonly json: Report;
  /** How often a neighbour was asked. */
  readonly requestsTo: (name: string) => number;
}

/** Each neighbour is polled at least so often, so that the effect of what hangs is seen. */
const LEAST_POLLS = 3;
/** A scenario has no socket to spoil. */
const NEEDS_A_SOCKET = [
  "truncated",
  "huge",
  "metrics_page_of_1_gb",
  "metrics_line_of_1_gb",
  "gzip_bomb",
  "deflate_garbage",
  "plain_text",
  "untyped",
  "http_1_0",
  "informational",
] as const satisfies readonly (keyof typeof FAULTS)[];
const CASES = faultCases({ block: 1, timeSec: 1 });
const SPOILT = CASES.filter(({ name }) =>
  NEEDS_A_SOCKET.some((fault) => fault.replaceAll("_", "-") === name),
);
const ANSWERED = CASES.filter((one) => !SPOILT.includes(one));
/** In the order of the document. */
const ALL: readonly Expected[] = [...CASES, ...WIRE_CASES];

let inVirtualTime: Met;
let overSockets: Met;
let healed: readonly string[];
/** The text of `/metrics` before the first poll, and while the faults last. */
let metrics: { readonly before: string; readonly after: string };
let closeSockets = async (): Promise<void> => undefined;

beforeAll(async () => {
  await using play = await startScenario(
    chainsYaml(
      ANSWERED.flatMap(({ name }) => [name, neighbourOf(name)]).map((name) => ({
        name,
        url: `https://${name.replace("-neighbour", "")}.example/subgraphs/name/${name}`,
      })),
      "poll: { retries: 0, concurrency: 100, timeout: 5s }",
      "*/15",
    ),
    { prepare: spoil },
  );
  const before = play.metrics();
  await play.run("80s");
  metrics = { before, after: play.metrics() };
  inVirtualTime = {
    json: play.status(),
    requestsTo: (name) => play.fleet.endpoint(urlKeyOf(name)).requestCount,
  };
  for (const endpoint of play.fleet.endpoints("*/*/*/*")) {
    endpoint.heal();
  }
  await play.run("130s");
  healed = play
    .status()
    .targets.filter(({ status }) => status !== "ok")
    .map(({ protocol, status, detail }) => `${protocol}: ${status}: ${detail}`);
}, 60_000);

beforeAll(playOverSockets, 60_000);

afterAll(() => closeSockets());

describe("a fault of an indexer", () => {
  it("has the right reason and status, and leaves its neighbour ok and polled on time", () => {
    expect(ALL.length).toBeGreaterThan(150);
    expect(ALL.map(metBy)).toEqual(
      ALL.map(({ name, reason, status }) => ({ name, reason, status, effect: "none" })),
    );
  });

  it("is over once the indexer has healed", () => {
    expect(healed).toEqual([]);
  });

  it.each([
    { name: "tls-certificate-self-signed", wrong: "is self-signed" },
    { name: "tls-certificate-expired", wrong: "has expired" },
    { name: "tls-certificate-of-another-host", wrong: "is for another host" },
    { name: "tls-certificate-of-an-unknown-authority", wrong: "comes from an authority that is not trusted" },
  ])("says of a certificate what is wrong with it: $name", ({ name, wrong }) => {
    const target = overSockets.json.targets.find(({ protocol }) => protocol === name);

    expect(target?.detail).toContain(`the TLS certificate ${wrong}`);
  });

  it("is counted under its own reason and no other", () => {
    const counted = [...metrics.after.matchAll(/^synclag_poll_failures_total\{(.*)\} (?!0$)/gm)].map(
      ([, labels = ""]) => labels.replace(/protocol="([^"]*)".*reason="([^"]*)"/, "$1 $2"),
    );

    expect(counted).toEqual(
      ANSWERED.filter(({ reason }) => reason !== null).map(({ name, reason }) => `${name} ${reason}`),
    );
  });

  it("invents no series: every label's value was there before, or is in the configuration", () => {
    const known = new Set(labelValues(metrics.before));
    const invented = labelValues(metrics.after).filter(
      (value) => !known.has(value) && !/^Qm\w{44}$/.test(value),
    );

    expect(invented).toEqual([]);
  });

  it("is as in the golden", () => {
    expectGolden("test/goldens/faults.txt", faultsTable());
  });
});

/** The faults below HTTP, or of its framing: one port for each, and a daemon that trusts the test's authority. */
async function playOverSockets(): Promise<void> {
  const fleet = await startFleet({
    nowMs: Date.now,
    endpoints: [...SPOILT.flatMap(specsOf), ...WIRE_CASES.map((wire) => neighbourSpec(wire, "graph-node"))],
  });
  for (const { name, fault } of SPOILT) {
    if (fault !== null) {
      fleet.endpoint(keyOf(name)).fail(fault);
    }
  }
  const wires = await Promise.all(
    WIRE_CASES.map(
      async ({ name, open }): Promise<readonly [string, Wire]> => [
        name,
        await open(fleet.endpoint(keyOf(neighbourOf(name))).url),
      ],
    ),
  );
  const folder = await temporaryFolder();
  writeFileSync(join(folder.path, "authority.pem"), AUTHORITY.certPem);
  const endpoints = [
    ...SPOILT.flatMap(({ name }) => [name, neighbourOf(name)]).map((name) => ({
      name,
      url: fleet.endpoint(keyOf(name)).url,
    })),
    ...wires.flatMap(([name, wire]) => [
      { name, url: wire.url },
      { name: neighbourOf(name), url: wire.neighbourUrl },
    ]),
  ];
  writeFileSync(
    join(folder.path, "chains.yaml"),
    chainsYaml(endpoints, "listen: 127.0.0.1:0\npoll: { retries: 0, concurrency: 100, timeout: 600ms }", "*"),
  );
  const daemon = startSynclag(["run"], {
    cwd: folder.path,
    env: { NODE_EXTRA_CA_CERTS: join(folder.path, "authority.pem") },
  });
  closeSockets = async () => {
    await daemon[Symbol.asyncDispose]();
    await fleet[Symbol.asyncDispose]();
    await Promise.all(wires.map(([, wire]) => wire[Symbol.asyncDispose]()));
    await folder[Symbol.asyncDispose]();
  };
  const [, url = ""] = await daemon.logged(/"url":"(http:[^"]+)"/);
  const requestsTo = (name: string) => fleet.endpoint(keyOf(name)).requestCount;
  const untilMs = Date.now() + 40_000;
  do {
    await sleep(250);
    // Our own API, whose schema has tests of its own.
    const json = (await (await fetch(`${url}/api/v1/status`)).json()) as Report;
    overSockets = { json, requestsTo };
  } while (!isSettled() && Date.now() < untilMs);
}

/** Whether every fault over sockets was seen for what it is, and every neighbour was polled often enough. */
function isSettled(): boolean {
  return [...SPOILT, ...WIRE_CASES].every((expected) => {
    const { reason, status, effect } = metBy(expected);
    return reason === expected.reason && status === expected.status && effect === "none";
  });
}

/** What became of a fault, and of the healthy endpoint on its host. */
function metBy({ name }: Pick<Expected, "name">) {
  const { json, requestsTo } = ANSWERED.some((one) => one.name === name) ? inVirtualTime : overSockets;
  const targetOf = (protocol: string): Pick<TargetReport, "reason" | "status"> =>
    json.targets.find((target) => target.protocol === protocol) ?? { reason: null, status: "unknown" };
  const { reason, status } = targetOf(name);
  const neighbour = targetOf(neighbourOf(name)).status;
  const polls = requestsTo(neighbourOf(name));
  const late = polls < LEAST_POLLS ? `polled ${polls} times` : "none";
  return { name, reason, status, effect: neighbour === "ok" ? late : neighbour };
}

/** Makes each indexer fail as its case says, with the true height where the answer has one. */
function spoil(fleet: SimulatedFleet): void {
  for (const { name, fault, spec } of faultCases(truthOf(fleet))) {
    const [endpoint] = fleet.endpoints(urlKeyOf(name));
    if (endpoint === undefined) {
      continue;
    }
    endpoint.set(spec.behaviour ?? {});
    for (const target of endpoint.targets) {
      target.set(spec.targetBehaviour?.("base") ?? {});
    }
    if (fault !== null) {
      endpoint.fail(fault);
    }
  }
}

function faultsTable(): string {
  const rows = new Map<string, string[]>();
  for (const { name, reason, status } of ALL) {
    const row = `| ${status} | ${reason ?? "–"}`;
    rows.set(row, [...(rows.get(row) ?? []), name.replaceAll("-", " ")]);
  }
  const lines = [...rows].sort().map(([row, names]) => `${row} | ${names.join(", ")} |`);
  return `How each fault is reported. One daemon meets all of them at once. Each fault has a host of its own, with a healthy
endpoint beside it: that endpoint stays ok and polled on time. –: the reply is usable despite the fault, or the
height itself decides the status.

| status | reason | faults |
|---|---|---|
${lines.join("\n")}
`;
}

/** But for the bounds of histograms, which are numbers of our own. */
function labelValues(text: string): readonly string[] {
  return [...text.matchAll(/[{,](?!le=)\w+="((?:[^"\\]|\\.)*)"/g)].map(([, value = ""]) => value);
}

function neighbourOf(name: string): string {
  return `${name}-neighbour`;
}

function keyOf(protocol: string): string {
  return `${protocol}/subgraph/production/base`;
}

/** The key of an endpoint whose URL has no placeholder. */
function urlKeyOf(protocol: string): string {
  return `${protocol}/subgraph/production/all`;
}

/** The endpoint of a fault, and its neighbour on the same host. */
function specsOf({ name, spec }: FaultCase): readonly TestEndpoint[] {
  return [{ ...spec, key: keyOf(name), chains: ["base"], origin: name }, neighbourSpec({ name }, spec.kind)];
}

function neighbourSpec({ name }: Pick<FaultCase, "name">, kind: TestEndpoint["kind"]): TestEndpoint {
  return { kind, key: keyOf(neighbourOf(name)), chains: ["base"], origin: name };
}

function truthOf(simulated: SimulatedFleet): Truth {
  const chain = simulated.chain("base");
  const block = chain.headAt();
  return { block, timeSec: Math.floor(chain.timeOf(block) / 1_000) };
}

function chainsYaml(
  endpoints: readonly { readonly name: string; readonly url: string }[],
  settings: string,
  seconds: string,
): string {
  const indexers = endpoints.map(({ name, url }) => {
    const dialect = dialectOf(name);
    const { chainId, ...query } = SIMULATED_CUSTOM;
    // JSON is YAML.
    const custom = dialect === "custom" ? `, custom: ${JSON.stringify({ ...query, chain_id: chainId })}` : "";
    const deployment = dialect === "graph-status" ? ` deployment: ${FAULT_DEPLOYMENT} ` : "";
    return `
  ${name}:
    - { variant: subgraph, dialect: ${dialect}${custom}, url: "${url}", schedule: "${seconds} * * * * *", chains: { base: {${deployment}} } }`;
  });
  return `
version: 1
${settings}
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:${indexers.join("")}
`;
}

/** The named faults come from a graph-node; the others from the kind of server that their name is filed under. */
function dialectOf(protocol: string): string {
  const kind = CASES.find(({ name }) => name === protocol || neighbourOf(name) === protocol)?.spec.kind;
  return kind === undefined || kind === "graph-node" ? "graph" : kind;
}
