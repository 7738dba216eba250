import { describe, expect, it } from "vitest";
import { runCli } from "../../src/cli.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { SIMULATED_API_KEY } from "../../src/sim/fleet/endpoint-spec.ts";
import { startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { commandWorld } from "../support/command-world.ts";

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

describe("synclag probe", () => {
  it.each([
    { kind: "graph-node", dialect: "graph", chains: ["base"], ids: [null] },
    { kind: "envio", dialect: "envio", chains: CHAINS, ids: [1, 8453] },
    { kind: "envio-2.27", dialect: "envio", chains: CHAINS, ids: [1, 8453] },
    { kind: "ponder", dialect: "ponder", chains: CHAINS, ids: [1, 8453] },
    { kind: "squid", dialect: "squid", chains: ["base"], ids: [null] },
    { kind: "subquery", dialect: "subquery", chains: CHAINS, ids: [1, 8453] },
    { kind: "rpc", dialect: "rpc", chains: ["base"], ids: [null] },
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
    { fault: "unknown_key", says: "unauthorized: auth error: API key not found" },
    { fault: "http_301", says: "HTTP 301 redirects to http://127.0.0.1:1/elsewhere, which is not followed" },
    { fault: "hang_before_headers", says: "timeout: " },
    { fault: "html_with_200", says: "malformed: Cannot read the answer as GraphQL: Welcome to nginx!" },
    { fault: "http_429", says: "rate_limited: Too many requests" },
  ] as const)("tells $fault plainly, with exit code 1", async ({ fault, says }) => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "graph-node" }] });
    fleet.endpoint("graph-node").fail(fault);

    const { code, out } = await probe([fleet.endpoint("graph-node").url, "--timeout", "500ms"]);

    expect(code).toBe(1);
    expect(out).toContain("No dialect fits");
    expect(out).toContain(says);
  });

  it("tells a refused connection plainly", async () => {
    await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind: "graph-node" }] });
    await fleet.origin("graph-node").close();

    const { code, out } = await probe([fleet.endpoint("graph-node").url]);

    expect(code).toBe(1);
    expect(out).toContain("connect: ");
    expect(out).toContain("1 request sent");
  });

  it.each([
    { args: ["ftp://indexer.example"], says: "found ftp:" },
    { args: ["http://127.0.0.1:9/", "--header", "nonsense"], says: "Cannot use --header" },
    { args: ["http://127.0.0.1:9/", "--chain-id", "base"], says: 'Cannot use --chain-id "base"' },
    { args: ["http://127.0.0.1:9/", "--timeout", "soon"], says: "poll.timeout" },
    { args: [`http://127.0.0.1:9/\${UNSET_KEY}`], says: "UNSET_KEY" },
  ])("ends with exit code 2 for $args", async ({ args, says }) => {
    const { code, err } = await probe(args);

    expect(code).toBe(2);
    expect(err).toContain(says);
  });
});
