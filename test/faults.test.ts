import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../src/app.ts";
import type { EndpointSpec } from "../src/sim/endpoint-spec.ts";
import { type SimulatedFleet, startFleet } from "../src/sim/simulated-fleet.ts";
import type { StatusJson, TargetJson } from "../src/views/status-json.ts";
import { issueCertificate } from "./support/certificates.ts";
import { type FaultCase, faultCases, type Truth } from "./support/fault-cases.ts";
import { type RawServer, startRawServer, takeRefusingPort } from "./support/raw-server.ts";
import { configOf, scrape, startTestApp } from "./support/running-app.ts";

// One daemon and one provider for each fault, all at once: what one of them could do to the others, it would do here.
// Beside each fault a healthy neighbour lives on the same host and port.

/** Long enough for every way to hang, and for its neighbour to be asked again and again meanwhile. */
const WATCHED_MS = 10_000;
const TIMEOUT_MS = 2_000;
const INTERVAL_MS = 3_000;

/** What the simulator's HTTP cannot do, for it is no HTTP. */
const WIRES: readonly (Pick<FaultCase, "name" | "reason" | "status"> & {
  readonly url: () => Promise<string>;
})[] = [
  {
    name: "connection-refused",
    reason: "connect",
    status: "unreachable",
    url: async () => `http://127.0.0.1:${await takeRefusingPort()}/`,
  },
  // Refused by the resolver itself: no packet leaves.
  {
    name: "name-without-address",
    reason: "dns",
    status: "unreachable",
    url: async () => `http://${"a".repeat(64)}.invalid/`,
  },
  {
    name: "tls-certificate-of-nobody",
    reason: "tls",
    status: "unreachable",
    url: () => serveTls(86_400_000),
  },
  { name: "tls-expired", reason: "tls", status: "unreachable", url: () => serveTls(-86_400_000) },
  {
    name: "tls-asked-of-plain-http",
    reason: "tls",
    status: "unreachable",
    url: () => Promise.resolve(`https://${fleet.origins[0]?.host ?? ""}/`),
  },
  {
    name: "no-http-at-all",
    reason: "malformed",
    status: "unreachable",
    url: () => serveRaw("SSH-2.0-OpenSSH_9.2\r\n"),
  },
  {
    name: "headers-of-20-kb",
    reason: "too_large",
    status: "unreachable",
    url: () => serveRaw(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`),
  },
  {
    name: "a-bad-chunk",
    reason: "malformed",
    status: "unreachable",
    url: () => serveRaw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
  },
  {
    name: "two-lengths",
    reason: "malformed",
    status: "unreachable",
    url: () => serveRaw("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}"),
  },
  {
    name: "informational-answers-without-end",
    reason: "timeout",
    status: "unreachable",
    url: () => serveRaw("HTTP/1.1 102 Processing\r\n\r\n"),
  },
];

let cases: readonly FaultCase[];
let fleet: SimulatedFleet;
let app: App;
let before: ReadonlyMap<string, number>;
let after: ReadonlyMap<string, number>;
let json: StatusJson;
let usedBytes: number;
const servers: RawServer[] = [];

beforeAll(async () => {
  fleet = await startFleet({
    nowMs: Date.now,
    endpoints: faultCases({ block: 1, timeSec: 1 }).flatMap(specsOf),
  });
  cases = faultCases(truthOf(fleet));
  for (const { name, fault } of cases) {
    if (fault !== null) {
      fleet.endpoint(keyOf(name)).fail(fault);
    }
  }
  const wires = await Promise.all(WIRES.map(async ({ name, url }) => indexerYaml(name, await url())));
  app = await startTestApp(configOf(chainsYaml(wires)));
  before = await scrape(app);
  const usedBefore = process.memoryUsage().rss;
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  json = (await (await fetch(`${app.url}/api/v1/status`)).json()) as StatusJson;
  after = await scrape(app);
  usedBytes = process.memoryUsage().rss - usedBefore;
}, 60_000);

afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await fleet[Symbol.asyncDispose]();
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
});

describe("a fault of an indexer", () => {
  it("comes in many kinds", () => {
    expect(all().length).toBeGreaterThan(110);
  });

  it("has the right reason and the right status, each of them", () => {
    const told = all().map(({ name }) => ({ name, ...targetOf(name) }));

    expect(told).toEqual(
      all().map(({ name, reason, status: expected }) => ({ name, reason, status: expected })),
    );
  });

  it("leaves its neighbour on the same host well, and asked on time", () => {
    const disturbed = cases.filter(({ name }) => effectOn(name) !== "none");

    expect(disturbed.map(({ name }) => `${name}: ${effectOn(name)}`)).toEqual([]);
  });

  it("is counted under its own reason and no other", () => {
    const counted = [...after].filter(
      ([series, value]) => series.startsWith("synclag_poll_failures_total") && value > 0,
    );
    const wrong = counted.filter(([series]) => {
      const [, protocol = "", reason = ""] = /protocol="([^"]*)".*reason="([^"]*)"/.exec(series) ?? [];
      // All providers live in this process too: where the machine is busy, any of them may once be too slow.
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
    expect(usedBytes).toBeLessThan(400 * 1024 * 1024);
  });

  it("leaves the loop, the metrics and the page alone", async () => {
    const paths = ["/-/healthy", "/-/ready", "/metrics", "/", "/chains/base", "/api/v1/status"];
    const answers = await Promise.all(paths.map(async (path) => (await fetch(app.url + path)).status));

    expect(answers).toEqual(paths.map(() => 200));
  });

  it("is in docs/FAULTS.md as it happens", async () => {
    await expect(faultsMd()).toMatchFileSnapshot("../docs/FAULTS.md");
  });
});

function all(): readonly Pick<FaultCase, "name" | "reason" | "status">[] {
  return [...cases, ...WIRES];
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
  const due = Math.floor(WATCHED_MS / INTERVAL_MS);
  if (status !== "ok") {
    return status;
  }
  return requestCount < due - 1 ? `asked ${requestCount} times, not ${due}` : "none";
}

function faultsMd(): string {
  const rows = all().map(({ name }) => {
    const { reason, status } = targetOf(name);
    const effect = WIRES.some((wire) => wire.name === name) ? "not measured" : effectOn(name);
    return `| ${name.replaceAll("-", " ")} | ${reason ?? "–"} | ${status} | ${effect} |`;
  });
  return `# What becomes of a fault

Written by \`test/faults.test.ts\` from what happens when one daemon meets all of these at once, each on a host of
its own with a healthy endpoint beside it (but for raw sockets, which serve one alone: "not measured"): do not edit. \`–\`: what came is usable all the same, or says by itself
how the target is. Expired, self-signed and misnamed certificates of trusted authorities: \`test/io/http-client-tls.test.ts\`.

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
  return [name, neighbourOf(name)].map((protocol) => ({
    ...(protocol === name ? spec : { kind: spec.kind }),
    key: keyOf(protocol),
    chains: ["base"],
    origin: name,
  }));
}

function truthOf(simulated: SimulatedFleet): Truth {
  const chain = simulated.chain("base");
  const block = chain.headAt();
  return { block, timeSec: Math.floor(chain.timeOf(block) / 1_000) };
}

function chainsYaml(wires: readonly string[]): string {
  const simulated = fleet
    .endpoints("*/*/*/*")
    .map(({ key, url }) => indexerYaml(key.split("/")[0] ?? "", url));
  return `
version: 1
poll: { timeout: ${TIMEOUT_MS}ms, retries: 0, concurrency: 100 }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:${[...simulated, ...wires].join("")}
`;
}

function indexerYaml(protocol: string, url: string): string {
  const envio = new Set(
    cases.filter(({ spec }) => spec.kind === "envio").flatMap(({ name }) => [name, neighbourOf(name)]),
  );
  const dialect = envio.has(protocol) ? "envio" : "graph";
  return `
  ${protocol}:
    - { variant: subgraph, dialect: ${dialect}, url: "${url}", schedule: "*/${INTERVAL_MS / 1_000} * * * * *", chains: [base] }`;
}

/** Answers every request with these bytes, and says no more. */
async function serveRaw(bytes: string): Promise<string> {
  const server = await startRawServer({ onRequest: (socket) => socket.write(bytes) });
  servers.push(server);
  return server.url;
}

/** With a certificate that nobody has signed, which ends so long from now. */
async function serveTls(endsInMs: number): Promise<string> {
  const nowMs = Date.now();
  const { certPem, keyPem } = issueCertificate({
    host: "localhost",
    validFrom: new Date(nowMs - 2 * 86_400_000),
    validTo: new Date(nowMs + endsInMs),
  });
  const server = await startRawServer({
    onRequest: (socket) => socket.end(),
    tls: { cert: certPem, key: keyPem },
  });
  servers.push(server);
  return server.url.replace("http:", "https:").replace("127.0.0.1", "localhost");
}
