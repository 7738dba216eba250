import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";
import type { ServerKind } from "../../src/sim/servers/families.ts";
import { SIMULATED_API_KEY } from "../../src/sim/servers/families.ts";
import { issueCertificate } from "../support/certificates.ts";
import { FAULTS, type FaultName } from "../support/faults.ts";
import { startFleet } from "../support/fleet.ts";
import { expectGolden } from "../support/golden.ts";
import { serve } from "../support/listener.ts";
import { startRawServer } from "../support/raw-server.ts";
import { runCommand, transcriptOf } from "./run-command.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

const SERVERS: readonly { readonly kind: ServerKind; readonly chains: readonly string[] }[] = [
  { kind: "graph-node", chains: ["base"] },
  { kind: "envio", chains: ["ethereum", "base"] },
  { kind: "envio-3.2", chains: ["ethereum", "base"] },
  { kind: "envio-2.27", chains: ["ethereum", "base"] },
  { kind: "ponder", chains: ["ethereum", "base"] },
  { kind: "squid", chains: ["base"] },
  { kind: "subquery", chains: ["ethereum", "base"] },
  { kind: "graph-status", chains: ["base"] },
  { kind: "custom", chains: ["base"] },
  { kind: "rpc", chains: ["base"] },
];

describe("synclag probe", () => {
  it.each(["table", "json"])("says what each kind of server serves: %s", async (format) => {
    const transcripts = [];
    for (const { kind, chains } of SERVERS) {
      await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind, chains }] });
      transcripts.push(`# ${kind}\n${await probed(fleet.endpoint(kind).url, ["--format", format])}`);
    }

    expectGolden(`test/fixtures/cli/probe-${format}.expected.txt`, transcripts.join("\n"));
  });

  it("reports the fault and what to try next", async () => {
    const faults: readonly FaultName[] = [
      "unknown_key",
      "http_301",
      "hang_before_headers",
      "html_with_200",
      "http_429",
      "http_500",
    ];
    const transcripts = [];
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-node" }] });
    const endpoint = fleet.endpoint("graph-node");
    for (const fault of faults) {
      endpoint.fail(FAULTS[fault]);
      // Short only where the answer never comes: any other may take its time on a machine that is busy.
      const args = fault === "hang_before_headers" ? ["--timeout", "500ms"] : [];
      transcripts.push(`# ${fault}\n${await probed(endpoint.url, args)}`);
    }
    await fleet.origin("graph-node").close();
    transcripts.push(`# refused\n${await probed(endpoint.url)}`);

    expectGolden("test/fixtures/cli/probe-faults.expected.txt", transcripts.join("\n"));
  });

  it("says what unusual servers answer", async () => {
    const jsonRpc = (chainId: string) => (request: string) => {
      const head = '"result":{"number":"0x10","hash":"0xab","timestamp":"0x6543"}';
      const content = request.includes("eth_chainId") ? chainId : head;
      const unread = '"error":{"code":-32600,"message":"invalid request"}';
      return `{"jsonrpc":"2.0","id":1,${request.includes('"method"') ? content : unread}}`;
    };
    const answers: Readonly<Record<string, (request: string) => string>> = {
      "a node of an unknown chain": jsonRpc('"result":"0x1a2b3c"'),
      "a node that does not tell its chain": jsonRpc(
        '"error":{"code":-32601,"message":"the method eth_chainId is not available"}',
      ),
      "a node that tells no number": jsonRpc('"result":"one"'),
      "the status API of an indexer, which refuses all but a few fields": (request) =>
        request.includes("indexingStatuses")
          ? '{"data":{"indexingStatuses":[]}}'
          : '{"error":"Cannot query these fields"}',
      "a squid whose table is missing, which is not one that has not started": () =>
        readFileSync("test/fixtures/squid/status-table-missing.json", "utf8"),
      "an indexer that has not started": () => '{"data":{"_meta":{"block":{"number":0}}}}',
      "an indexer whose height cannot be read": () => '{"data":{"_meta":{"block":{"number":"soon"}}}}',
      "a deployment with indexing errors": () =>
        '{"data":{"_meta":{"block":{"number":7},"hasIndexingErrors":true,"deployment":"Qm1"}}}',
      "a server whose words have control characters": () =>
        '{"errors":[{"message":"no \\u001b[31m9\\u0007 field"}]}',
    };

    const transcripts = [];
    for (const [name, answer] of Object.entries(answers)) {
      await using server = await startRawServer({
        onRequest: (socket, request) => {
          const body = answer(request);
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
        },
      });
      transcripts.push(`# ${name}\n${await probed(server.url)}`);
    }
    await using redirect = await startRawServer({
      onRequest: (socket) =>
        socket.write("HTTP/1.1 302 Found\r\nlocation: /\x9b31m\r\ncontent-length: 0\r\n\r\n", "latin1"),
    });
    transcripts.push(`# a redirect with control characters\n${await probed(redirect.url)}`);

    expectGolden("test/fixtures/cli/probe-unusual.expected.txt", transcripts.join("\n"));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(transcripts.join("")).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  });

  it("prints a configuration that is accepted", async () => {
    for (const kind of ["envio", "graph-node"] as const) {
      await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind }] });
      const { url } = fleet.endpoint(kind);

      const { out } = await runCommand(["probe", url, "--header", "X-Key: a"]);

      const yaml = out.slice(out.indexOf("version: 1"));
      const config = parseConfig(yaml, { file: "chains.yaml", env: { X_KEY: "a" }, readFile: () => "" });
      expect(config.fleet.indexers[0]?.endpoints[0]).toMatchObject({ url, headers: { "X-Key": "a" } });
    }
  });

  it("finds the best endpoint at the usual addresses, within the requests that it announces", async () => {
    const block = { number: 7, timestamp: 1_795_176_000 };
    let sent = 0;
    const replies = new Map<string, unknown>([
      ["POST /app/graphql", { data: { _meta: { block } } }],
      ["GET /app/status", { base: { id: 8453, block }, mainnet: { id: 1, block } }],
    ]);
    await using server = await serve(({ method, url }, response) => {
      sent += 1;
      const reply = replies.get(`${method} ${url}`);
      response.statusCode = reply === undefined ? 404 : 200;
      response.end(JSON.stringify(reply ?? ""));
    });

    const table = await runCommand(["probe", `${server.url}/app`, "--discover"]);
    const sentForTable = sent;
    const json = await runCommand(["probe", `${server.url}/app/graphql`, "--discover", "--format", "json"]);

    expect(table.exitCode).toBe(0);
    expect(sentForTable).toBeLessThanOrEqual(Number(/at most (\d+) requests$/.exec(table.err)?.[1]));
    expect(table.out).toContain(`Dialect ponder-status fits ${server.url}/app/status`);
    expect(table.out).toContain(`  ${server.url}/app/graphql: dialect graph, 1 chain\n`);
    expect(table.out).toContain(`  ${server.url}/app/status: dialect ponder-status, 2 chains\n`);
    expect(table.out).toContain(`${sentForTable} requests sent`);
    const report = JSON.parse(json.out) as {
      readonly chains_yaml: string;
      readonly dialect: string;
      readonly found: readonly unknown[];
    };
    expect(report.dialect).toBe("ponder-status");
    expect(report.found).toHaveLength(2);
    const { fleet } = parseConfig(report.chains_yaml, { file: "chains.yaml", env: {}, readFile: () => "" });
    expect(fleet.chains.map(({ slug, name }) => [slug, name])).toEqual([
      ["base", "Base"],
      ["ethereum", "Ethereum"],
    ]);
    expect(fleet.indexers[0]?.endpoints[0]?.url).toBe(`${server.url}/app/status`);
  });

  it("fills variables in, sends headers, and prints no secret", async () => {
    const inPath = { key: "in-path", path: `/api/${SIMULATED_API_KEY}/subgraphs/id/5xyz` };
    await using fleet = await startFleet({
      nowMs: () => NOW_MS,
      endpoints: [{ kind: "gateway" }, { kind: "gateway", ...inPath }],
    });
    const { url } = fleet.endpoint("gateway");
    const header = `Authorization: Bearer \${GRAPH_KEY}`;

    const ofHeader = await runCommand(["probe", url, "--header", header, "--chain-id", "8453"], {
      env: { GRAPH_KEY: SIMULATED_API_KEY },
    });
    const ofPath = await runCommand(["probe", fleet.endpoint("in-path").url]);

    expect([ofHeader.exitCode, ofPath.exitCode]).toEqual([0, 0]);
    expect(ofHeader.out).toContain("chain 8453 (Base): block ");
    expect(ofHeader.out).toContain(`Authorization: Bearer \${GRAPH_KEY}\n`);
    expect(JSON.stringify([ofHeader, ofPath])).not.toContain(SIMULATED_API_KEY);
  });

  it("explains a certificate error, and how to trust a private authority", async () => {
    const { keyPem, certPem } = issueCertificate({ host: "localhost" });
    const tls = { key: keyPem, cert: certPem };
    await using selfSigned = await startRawServer({ onRequest: () => undefined, tls });

    const { exitCode, out } = await runCommand(["probe", `https://localhost:${selfSigned.port}/`]);

    expect(exitCode).toBe(1);
    expect(out).toContain("the TLS certificate is self-signed (tls)");
    expect(out).toContain("NODE_EXTRA_CA_CERTS");
    expect(selfSigned.requests).toEqual([]);
  });
});

/** The transcript, without what is different each time: the server's port, and how long it took. */
async function probed(url: string, args: readonly string[] = []): Promise<string> {
  const all = ["probe", url, ...args];
  const result = await runCommand(all, { world: { nowMs: () => NOW_MS } });
  return transcriptOf(all, result)
    .replaceAll(/127\.0\.0\.1:\d{4,5}/g, "server.example")
    .replaceAll(/(answered in |"took_ms": )[\d.]+/g, "$10");
}
