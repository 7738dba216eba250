import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runCli } from "../../src/cli.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { SIMULATED_API_KEY } from "../../src/sim/fleet/endpoint-spec.ts";
import { startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { type CertificateSpec, issueCertificate } from "../support/certificates.ts";
import { commandWorld } from "../support/command-world.ts";
import { type RawServer, startRawServer } from "../support/raw-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Probed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function probe(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Probed> {
  const { world, printed } = commandWorld(env);
  const code = await runCli(["node", "synclag", "probe", ...args], world);
  return { code, out: printed.out.join("\n"), err: printed.err.join("\n") };
}

const CHAINS = ["ethereum", "base"];

const DAY_MS = 86_400_000;
const YESTERDAY = new Date(Date.now() - DAY_MS);
const VALID = { validFrom: new Date(Date.now() - 30 * DAY_MS), validTo: new Date(Date.now() + DAY_MS) };
const AUTHORITY = issueCertificate({ host: "Trusted by the test", ...VALID });

function startTls(certificate: Partial<CertificateSpec>): Promise<RawServer> {
  const { keyPem, certPem } = issueCertificate({ host: "localhost", ...VALID, ...certificate });
  return startRawServer({ onRequest: () => undefined, tls: { key: keyPem, cert: certPem } });
}

/** Runs the program itself: Node reads the authorities that it trusts besides its own only at its start. */
async function probeInProcess(url: string): Promise<Pick<Probed, "code" | "out">> {
  await using folder = await temporaryFolder();
  const trusted = join(folder.path, "authority.pem");
  await writeFile(trusted, AUTHORITY.certPem);
  const child = spawn(process.execPath, ["--import", "tsx", "src/main.ts", "probe", url], {
    cwd: ROOT,
    env: { NODE_EXTRA_CA_CERTS: trusted },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  const [code] = (await once(child, "close")) as [number];
  return { code, out };
}

function responseOf(body: string, status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body).toString()}\r\n\r\n${body}`;
}

describe("synclag probe", () => {
  it.each([
    { kind: "graph-node", dialect: "graph", chains: ["base"], ids: [null] },
    { kind: "envio", dialect: "envio", chains: CHAINS, ids: [1, 8453] },
    { kind: "envio-2.27", dialect: "envio", chains: CHAINS, ids: [1, 8453] },
    { kind: "ponder", dialect: "ponder", chains: CHAINS, ids: [1, 8453] },
    { kind: "squid", dialect: "squid", chains: ["base"], ids: [null] },
    { kind: "subquery", dialect: "subquery", chains: CHAINS, ids: [1, 8453] },
    { kind: "rpc", dialect: "rpc", chains: ["base"], ids: [8453] },
  ] as const)(
    "finds $dialect at a simulated $kind, and what it serves",
    async ({ kind, dialect, chains, ids }) => {
      await using fleet = await startFleet({
        nowMs: () => Date.UTC(2026, 10, 20),
        endpoints: [{ kind, chains }],
      });
      const { url, requestCount } = fleet.endpoint(kind);

      const { code, out } = await probe([url, "--format", "json"]);

      expect(code).toBe(0);
      const json = JSON.parse(out);
      expect(json).toMatchObject({
        url,
        dialect,
        requests: fleet.endpoint(kind).requestCount - requestCount,
      });
      const heights = fleet.endpoint(kind).targets.map((target) => target.heightAt());
      expect(json.chains.map((chain: { chain_id: unknown }) => chain.chain_id)).toEqual(ids);
      expect(json.chains.map((chain: { block_number: unknown }) => chain.block_number)).toEqual(heights);
    },
  );

  it("prints what was refused, and a configuration that is accepted", async () => {
    await using fleet = await startFleet({
      nowMs: Date.now,
      endpoints: [{ kind: "envio-3.2", chains: CHAINS }],
    });
    const { url } = fleet.endpoint("envio-3.2");

    const { out } = await probe([url]);

    expect(out).toMatch(
      /^Dialect envio fits http:.*: answered in [\d,.]+ ms\n {2}chain 1: block [\d,]+; no block time$/m,
    );
    expect(out).toContain("field 'progressBlockTime' not found in type: '_meta'");
    const yaml = out.slice(out.indexOf("version: 1"));
    const { fleet: parsed } = parseConfig(yaml, { file: "chains.yaml", env: {}, readFile: () => "" });
    expect(parsed.indexers[0]?.endpoints[0]).toMatchObject({ url, dialect: "envio" });
    expect(parsed.chains.map(({ id }) => id)).toEqual([1, 8453]);
  });

  it("fills variables in, and prints no secret", async () => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "gateway" }] });
    const header = `Authorization: Bearer \${GRAPH_KEY}`;

    const { code, out, err } = await probe(
      [fleet.endpoint("gateway").url, "--header", header, "--chain-id", "8453"],
      { GRAPH_KEY: SIMULATED_API_KEY },
    );

    expect(code).toBe(0);
    expect(out).toContain("chain 8453: block ");
    expect(out).toContain(`headers: {"Authorization":"Bearer \${GRAPH_KEY}"}`);
    expect(out + err).not.toContain(SIMULATED_API_KEY);
  });

  it("masks a key that is written into the URL", async () => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "gateway" }] });
    const url = fleet.endpoint("gateway").url.replace("/api/", `/api/${SIMULATED_API_KEY}/`);

    const { code, out } = await probe([url]);

    expect(code).toBe(0);
    expect(out).not.toContain(SIMULATED_API_KEY);
  });

  it.each([
    {
      fault: "unknown_key",
      says: [
        "No dialect fits",
        "unauthorized: auth error: API key not found",
        "--header 'Authorization: Bearer",
      ],
    },
    {
      fault: "http_301",
      says: [
        "HTTP 301 redirects to http://127.0.0.1:1/elsewhere, which is not followed",
        "probe that instead",
      ],
    },
    {
      fault: "hang_before_headers",
      says: ["No answer from", "no complete answer within 0.5 s (timeout)", "--timeout"],
    },
    {
      fault: "html_with_200",
      says: [
        "malformed: Cannot read the answer as GraphQL: Welcome to nginx!",
        "not answer as a GraphQL API",
      ],
    },
    { fault: "http_429", says: ["rate_limited: Too many requests"] },
  ] as const)("tells $fault plainly, with what to try next and exit code 1", async ({ fault, says }) => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "graph-node" }] });
    fleet.endpoint("graph-node").fail(fault);

    const { code, out } = await probe([fleet.endpoint("graph-node").url, "--timeout", "500ms"]);

    expect(code).toBe(1);
    for (const words of says) {
      expect(out).toContain(words);
    }
  });

  it("tells a refused connection plainly", async () => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "graph-node" }] });
    await fleet.origin("graph-node").close();

    const { code, out } = await probe([fleet.endpoint("graph-node").url]);

    expect(code).toBe(1);
    expect(out).toMatch(
      /^No answer from http:.*: the host refuses the connection \(connect\)\n\n1 request sent;/,
    );
  });

  it("tells once what was refused in the same words, and offers dialect custom for other GraphQL", async () => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "custom" }] });

    const { code, out } = await probe([fleet.endpoint("custom").url]);

    expect(code).toBe(1);
    expect(out).toContain(
      '  graph, envio, ponder: 5 queries\n    Cannot query field "_meta" on type "Query". (GRAPHQL_VALIDATION_FAILED)\n',
    );
    expect(out).toContain("describe its own with dialect custom");
  });

  it("asks an RPC node for its head and its chain as soon as it answers as one", async () => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "rpc", chains: ["base"] }] });

    const { code, out } = await probe([fleet.endpoint("rpc").url]);

    expect(code).toBe(0);
    expect(out).toContain("  chain 8453: block ");
    expect(out).toContain("3 requests sent");
    expect(out).toContain(`  base: { id: 8453, rpc: ["${fleet.endpoint("rpc").url}"] }`);
  });

  it.each([
    {
      node: "has an unknown chain",
      chainId: '"result":"0x1a2b3c"',
      line: "  chain-1715004: { id: 1715004, rpc: [",
    },
    {
      node: "does not say which chain it has",
      chainId: '"error":{"code":-32601,"message":"the method eth_chainId is not available"}',
      line: "  my-chain: { id: 1, rpc: [",
    },
  ])("suggests a chain for an RPC node that $node", async ({ chainId, line }) => {
    await using server = await startRawServer({
      onRequest: (socket, request) => {
        const head = '"result":{"number":"0x10","hash":"0xab","timestamp":"0x6543"}';
        const content = request.includes("eth_chainId") ? chainId : head;
        const isRpc = request.includes('"method"');
        const unread = '"error":{"code":-32600,"message":"invalid request"}';
        socket.write(responseOf(`{"jsonrpc":"2.0","id":1,${isRpc ? content : unread}}`));
      },
    });

    const { code, out } = await probe([server.url]);

    expect(code).toBe(0);
    expect(out).toContain("3 requests sent");
    expect(out).toContain(line);
    expect(out.includes("eth_chainId\n    the method eth_chainId is not available (-32601)")).toBe(
      chainId.includes("error"),
    );
  });

  it("recognises an indexer's status API, which refuses all but a few fields", async () => {
    await using server = await startRawServer({
      onRequest: (socket, request) =>
        socket.write(
          request.includes("indexingStatuses")
            ? responseOf('{"data":{"indexingStatuses":[]}}')
            : responseOf('{"error":"Cannot query these fields"}', "400 Bad Request"),
        ),
    });

    const { code, out } = await probe([server.url]);

    expect(code).toBe(1);
    expect(out).toContain(`${server.url} is the index-node API of a graph-node: `);
    expect(out).toContain("      dialect: graph-status");
  });

  it("prints no control characters of a server's", async () => {
    const version = '{"data":{"version":{"version":"\\u001b[31m9\\u0007","commit":""}}}';
    await using indexNode = await startRawServer({
      onRequest: (socket, request) =>
        socket.write(
          responseOf(request.includes("version") ? version : '{"errors":[{"message":"has no field"}]}'),
        ),
    });
    await using redirect = await startRawServer({
      onRequest: (socket) =>
        socket.write("HTTP/1.1 302 Found\r\nlocation: /\x9b31m\r\ncontent-length: 0\r\n\r\n", "latin1"),
    });

    const printed = [await probe([indexNode.url]), await probe([redirect.url])].map(({ out }) => out);

    expect(printed[0]).toContain("graph-node [31m9");
    expect(printed[1]).toContain("redirects to / 31m");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(printed.join("")).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  });

  it("recognises graph-node's index-node API, with a configuration that is accepted", async () => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "graph-status" }] });
    const { url } = fleet.endpoint("graph-status");

    const { code, out } = await probe([url]);

    expect(code).toBe(1);
    expect(out).toContain(`${url} is the index-node API of graph-node 0.44.0`);
    const yaml = out.slice(out.indexOf("version: 1"));
    const { fleet: parsed } = parseConfig(yaml, { file: "chains.yaml", env: {}, readFile: () => "" });
    expect(parsed.indexers[0]?.endpoints[0]).toMatchObject({ url, dialect: "graph-status" });
  });

  it("does not take a field of null beside an error for an indexer that has not started", async () => {
    const body = readFileSync(
      new URL("../fixtures/squid/status-table-missing.json", import.meta.url),
      "utf8",
    );
    await using server = await startRawServer({
      onRequest: (socket) => socket.write(responseOf(body)),
    });

    const { code, out } = await probe([server.url]);

    expect(code).toBe(1);
    expect(out).toContain('graphql: relation "squid_processor.status" does not exist');
    expect(out).not.toContain("not started");
  });

  it("tells a certificate that is self-signed, and how to trust a private authority", async () => {
    await using server = await startTls({});

    const { code, out } = await probe([`https://localhost:${server.port.toString()}/`]);

    expect(code).toBe(1);
    expect(out).toContain("the TLS certificate is self-signed (tls)");
    expect(out).toContain("NODE_EXTRA_CA_CERTS");
    expect(server.requests).toEqual([]);
  });

  it("tells a trusted certificate that has expired, and one of another host", async () => {
    await using expired = await startTls({ validTo: YESTERDAY, issuer: AUTHORITY });
    await using elsewhere = await startTls({ host: "elsewhere.example", issuer: AUTHORITY });

    const told = await Promise.all(
      [expired, elsewhere].map(({ port }) => probeInProcess(`https://localhost:${port.toString()}/`)),
    );

    expect(told).toEqual([
      { code: 1, out: expect.stringContaining("the TLS certificate has expired (tls)") },
      { code: 1, out: expect.stringContaining("the TLS certificate is for another host (tls)") },
    ]);
  });

  it.each([
    {
      args: ["ftp://indexer.example"],
      says: "URL: Cannot use this URL: expected http:// or https://, found ftp:",
    },
    { args: ["http://127.0.0.1:9/", "--header", "nonsense"], says: "Cannot use --header" },
    { args: ["http://127.0.0.1:9/", "--chain-id", "base"], says: 'Cannot use --chain-id "base"' },
    { args: ["http://127.0.0.1:9/", "--timeout", "soon"], says: '--timeout: Cannot use "soon"' },
    {
      args: [`http://127.0.0.1:9/\${UNSET_KEY}`],
      says: "URL: Cannot resolve this value: UNSET_KEY is not set",
    },
  ])("ends with exit code 2 for $args", async ({ args, says }) => {
    const { code, err } = await probe(args);

    expect(code).toBe(2);
    expect(err).toContain(says);
  });
});
