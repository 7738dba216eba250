import { describe, expect, it } from "vitest";
import type { ServerKind } from "../../src/sim/servers/families.ts";
import { startFleet } from "../support/fleet.ts";
import { expectGolden } from "../support/golden.ts";
import { serve } from "../support/listener.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./run-command.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const KEY = "cafe5f0c1d9a7b3e4f6a8c2d00112233";
const DIALECTS = ["auto", "graph", "envio", "ponder", "squid", "subquery", "graph-status"];
const SERVERS: readonly ServerKind[] = [
  "graph-node",
  "envio",
  "ponder",
  "squid",
  "subquery",
  "graph-status",
  "rpc",
];

interface Told {
  readonly protocol: string;
  readonly status: string;
  readonly reason: string | null;
  readonly detail: string;
}

describe("a server that answers in another dialect", () => {
  it("differs from a server that does not reply: the detail says what was expected and found", async () => {
    const lines = [];
    for (const kind of SERVERS) {
      await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind, chains: ["base"] }] });
      const { url } = fleet.endpoint(kind);

      const told = await check(DIALECTS.map((dialect) => indexer(dialect, dialect, url)).join(""));

      lines.push(`# ${kind}`);
      for (const { protocol, status, reason, detail } of told) {
        lines.push(`${protocol}: ${status}${reason === null ? "" : ` (${reason}): ${detail}`}`);
      }
    }

    const text = lines.join("\n").replaceAll(/127\.0\.0\.1:\d+/g, "server.example");
    expectGolden("test/fixtures/cli/other-dialect.expected.txt", `${text}\n`);
  });

  it("is named by its host alone: its URL may have a key", async () => {
    await using server = await serve((_request, response) => response.end('{"data":{"_meta":[]}}'));

    const [told] = await check(indexer("p", "graph", `${server.url}/\${KEY}/graphql`));

    expect(told?.detail).toContain(
      `127.0.0.1:${server.port} answers, but not in dialect graph: Cannot follow path "_meta.block.number"`,
    );
    expect(told?.detail).toContain("; synclag probe URL shows what it serves");
    expect(told?.detail).not.toContain(KEY.slice(0, 4));
  });
});

describe("a server that echoes a key", () => {
  it("is quoted without it, wherever the quote is cut", async () => {
    await using server = await serve((request, response) => {
      const [, before = "", echo = ""] = (request.url ?? "").split("/");
      const message = `${"x ".repeat(300).slice(0, Number(before))}${echo}`;
      response.end(JSON.stringify({ errors: [{ message }] }));
    });
    const protocols = Array.from({ length: 80 }, (_, index) =>
      indexer(`p${index}`, "graph", `${server.url}/${index + 140}/\${KEY}`),
    );

    const told = await check(protocols.join(""));

    expect(told.map(({ reason }) => reason)).toEqual(Array.from({ length: 80 }, () => "graphql"));
    expect(told.filter(({ detail }) => detail.includes(KEY.slice(0, 4)))).toEqual([]);
  });
});

/** One round on these protocols of one chain: what is said of each target. */
async function check(protocols: string): Promise<readonly Told[]> {
  await using folder = await temporaryFolder();
  const text = `version: 1\nlisten: 127.0.0.1:1\npoll: { retries: 0 }\nchains: { base: { id: 8453 } }\nprotocols:\n${protocols}`;
  const args = ["check", "--state", `${folder.path}/state.json`, "--format", "json"];
  const { out } = await runCommand(args, {
    env: { KEY },
    files: { "chains.yaml": text },
    world: { nowMs: () => NOW_MS },
  });
  const { targets } = JSON.parse(out) as { targets: readonly Told[] };
  return targets;
}

function indexer(protocol: string, dialect: string, url: string): string {
  const chains = dialect === "graph-status" ? "{ base: { deployment: QmX } }" : "[base]";
  return `  ${protocol}: [{ variant: v, dialect: ${dialect}, url: "${url}", chains: ${chains} }]\n`;
}
