import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../../src/cli.ts";
import { startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { commandWorld } from "../support/command-world.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface Told {
  readonly protocol: string;
  readonly status: string;
  readonly reason: string | null;
  readonly detail: string;
}

/** One round on these protocols of one chain: what is said of each target. */
async function check(
  protocols: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Told[]> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "chains.yaml");
  await writeFile(
    file,
    `version: 1\npoll: { retries: 0 }\nchains: { base: { id: 8453 } }\nprotocols:\n${protocols}`,
  );
  const { world, printed } = commandWorld(env);
  await runCli(["node", "synclag", "check", "--config", file, "--format", "json"], world);
  const { targets } = JSON.parse(printed.out.join("\n")) as { targets: readonly Told[] };
  return targets;
}

function indexer(protocol: string, dialect: string, url: string): string {
  const chains = dialect === "graph-status" ? "{ base: { deployment: QmX } }" : "[base]";
  return `  ${protocol}: [{ variant: v, dialect: ${dialect}, url: "${url}", chains: ${chains} }]\n`;
}

const DIALECTS = ["graph", "envio", "ponder", "squid", "subquery", "graph-status"];

describe("a server that answers in another dialect", () => {
  it.each([
    { kind: "graph-node", own: "graph", says: "has no field" },
    { kind: "envio", own: "envio", says: "not found in type" },
    { kind: "ponder", own: "ponder", says: "Cannot query field" },
    { kind: "squid", own: "squid", says: "Cannot query field" },
    { kind: "subquery", own: "subquery", says: "Cannot query field" },
    { kind: "graph-status", own: "graph-status", says: "has no field" },
    { kind: "rpc", own: "rpc", says: "invalid request (-32600)" },
  ] as const)(
    "is told from one that does not answer, with what was expected and found, for $kind",
    async ({ kind, own, says }) => {
      await using fleet = await startFleet({ nowMs: Date.now, endpoints: [{ kind, chains: ["base"] }] });
      const { url } = fleet.endpoint(kind);
      const others = DIALECTS.filter((dialect) => dialect !== own);

      const told = await check(others.map((dialect) => indexer(dialect, dialect, url)).join(""));

      expect(told.map(({ protocol }) => protocol)).toEqual(others);
      for (const { protocol, status, reason, detail } of told) {
        expect([status, reason]).toEqual(["unreachable", "schema"]);
        expect(detail).toContain(`${new URL(url).host} answers, but not in dialect ${protocol}: expected `);
        expect(detail).toContain(`, found: `);
        expect(detail).toContain(says);
        expect(detail).toContain("; synclag probe URL shows what it serves");
        expect(detail).not.toContain("schema");
      }
    },
  );

  it("is named by its host alone: its URL may have a key", async () => {
    const key = "cafe5f0c1d9a7b3e4f6a8c2d00112233";
    await using server = await serve(() => '{"data":{"_meta":[]}}');

    const [told] = await check(indexer("p", "graph", `${server.url}/\${KEY}/graphql`), { KEY: key });

    expect(told?.detail).toContain(
      `127.0.0.1:${server.port.toString()} answers, but not in dialect graph: Cannot read data._meta`,
    );
    expect(told?.detail).toContain("; synclag probe URL shows what it serves");
    expect(told?.detail).not.toContain(key.slice(0, 4));
  });
});

describe("a server that echoes a key", () => {
  it("is quoted without it, wherever the quote is cut", async () => {
    const key = "cafe5f0c1d9a7b3e4f6a8c2d00112233";
    await using server = await serve((path) => {
      const [, before = "", echo = ""] = path.split("/");
      return JSON.stringify({ errors: [{ message: `${"x ".repeat(300).slice(0, Number(before))}${echo}` }] });
    });
    const protocols = Array.from({ length: 80 }, (_, index) =>
      indexer(`p${index.toString()}`, "graph", `${server.url}/${(index + 140).toString()}/\${KEY}`),
    );

    const told = await check(protocols.join(""), { KEY: key });

    expect(told).toHaveLength(80);
    for (const { reason, detail } of told) {
      expect(reason).toBe("graphql");
      expect(detail).not.toContain(key.slice(0, 4));
    }
  });
});

/** Answers each request by its path. */
async function serve(bodyOf: (path: string) => string) {
  const server = createServer((request, response) => {
    request.resume();
    response.end(bodyOf(request.url ?? ""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server that listens on a TCP port has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port.toString()}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
