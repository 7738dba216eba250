import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { type CommandOptions, runCommand, transcriptOf } from "./run-command.ts";

const FOLDER = "test/fixtures/cli";
const NOW_MS = Date.UTC(2026, 10, 20, 11, 30);

const FLEET = `
version: 1
budgets:
  studio: { limit: 3000, per: day, scope: endpoint }
chains:
  base: { id: 8453, name: Base, block_time: 2s, rpc: [https://base.example] }
  mode: { id: 34443, name: Mode, block_time: 2s }
protocols:
  airdrops:
    - { variant: subgraph, url: "https://indexer.example/{chain}", budget: studio, schedule: auto, chains: [base, mode] }
  lockup:
    - { variant: multichain, url: "https://indexer.example", chains: [base, mode] }
    - { variant: subgraph, url: "https://\${HOST}/{chain}", optional: true, chains: [base, mode] }
`;

describe("synclag", () => {
  it("explains each command with exit code 0", async () => {
    const commands = ["run", "check", "plan", "probe", "replay", "config", "demo"];

    const results = await Promise.all(commands.map((command) => runCommand([command, "--help"])));

    expect(results.map(({ exitCode, out }) => `${exitCode} ${out.split(" [")[0]}`)).toEqual(
      commands.map((command) => `0 Usage: synclag ${command}`),
    );
  });

  it("reports invalid arguments", async () => {
    await expectTranscripts("usage", [
      ["frob"],
      ["check", "--nonsense"],
      ["check", "--format", "xml"],
      ["check", "--url", "http://127.0.0.1:1", "--config", "x.yaml"],
      ["check", "--max-lag", "soon"],
      ["check", "lockup/bsae"],
      ["check", "a/b/c/d"],
      ["check", "--url", "here"],
      ["check", "--url", "ftp://alice:hunter2@h"],
      ["check", "--url", `https://alice:\${NOBODY}@h`],
      ["check", "--url", `https://alice:\${file:/no/such}@h`],
      ["check", "--url", "https://{host}"],
      ["check", "--url", `https://\${HOST`],
      ["check", "--store", "http://h"],
      ["check", "--cluster", "blue"],
      ["run", "--log-level", "loud"],
      ["run", "--listen", "nowhere"],
      ["run", "--listen", "[1:2:3]:0"],
      ["run", "--store", "http://h"],
      ["run", "--store", "redis://h", "--state", "x"],
      ["run", "--cluster", "blue"],
      ["run", "--config", "absent.yaml"],
      ["check", "--config", "absent.yaml"],
      ["plan", "--nonsense"],
      ["plan", "--config", "absent.yaml"],
      ["config", "check", "absent.yaml"],
      ["config", "check", "src"],
      ["probe"],
      ["probe", "ftp://indexer.example"],
      ["probe", "http://127.0.0.1:9/", "--header", "nonsense"],
      ["probe", "http://127.0.0.1:9/", "--header", "Bad\u00a0Name: x"],
      ["probe", "http://127.0.0.1:9/", "--chain-id", "base"],
      ["probe", "http://127.0.0.1:9/", "--timeout", "soon"],
      ["probe", `http://127.0.0.1:9/\${UNSET_KEY}`],
      ["replay", "x.jsonl", "--every", "soon"],
      ["replay", "x.jsonl", "--every", "500ms"],
      ["replay", "x.jsonl", "--chain", "bass"],
      ["replay", "absent.jsonl"],
      ["demo", "--scenario", "turo"],
      ["demo", "--speed", "fast"],
      ["demo", "--speed", "61"],
      ["demo", "--listen", "here"],
    ]);
  });

  it("checks a configuration and counts its entries", async () => {
    const variants = {
      "chains.yaml": FLEET,
      "mistakes.yaml": FLEET.replaceAll("[base, mode]", "[bas, mod]"),
      "other-version.yaml": "version: 2\n",
      "released-0.1.0.yaml": readFileSync("test/fixtures/released/chains-0.1.0.yaml", "utf8"),
    };
    const environments = [
      { HOST: "h.example" },
      {},
      { HOST: "h.example", HTTPS_PROXY: "proxy:3128" },
      { HOST: "h.example", HTTPS_PROXY: "proxy:3128", http_proxy: "socks5://me:swordfish@proxy" },
    ];

    const transcripts = [];
    for (const env of environments) {
      for (const file of Object.keys(variants)) {
        const args = ["config", "check", file];
        transcripts.push(
          `# ${JSON.stringify(env)}\n${transcriptOf(args, await runCommand(args, { env, files: variants }))}`,
        );
      }
    }

    expectGolden(`${FOLDER}/config-check.expected.txt`, transcripts.join("\n"));
  });

  it("prints how often each endpoint is polled, and the schedules that exceed a budget", async () => {
    const tooOften = FLEET.replace("schedule: auto", 'schedule: "*/15 * * * * *"');
    const files = { "chains.yaml": FLEET, "too-often.yaml": tooOften, "synclag.state.json": null };

    await expectTranscripts(
      "plan",
      [["plan"], ["plan", "--format", "json"], ["plan", "--config", "too-often.yaml"]],
      { env: { HOST: "h.example" }, files },
    );
  });

  it("prints the first 100 mistakes of a configuration and the number of the others", async () => {
    const names = Array.from({ length: 1_001 }, (_, index) => `name-${index}`);
    const files = { "chains.yaml": FLEET.replace("[base, mode]", `[${names.join(", ")}]`) };
    const commands = [
      ["config", "check", "chains.yaml"],
      ["plan", "--config", "chains.yaml"],
      ["run", "--config", "chains.yaml"],
      ["check", "--config", "chains.yaml"],
    ];

    const results = await Promise.all(commands.map((args) => runCommand(args, { files })));

    for (const { out, err } of results) {
      const lines = err.split("\n");
      expect([out, lines.length, lines[100]]).toEqual(["", 101, "… and 901 more"]);
      expect(lines[99]).toMatch(/chains\[99\]: unknown chain "name-99"$/);
    }
    expect(results.map(({ exitCode }) => exitCode)).toEqual([2, 2, 2, 3]);
  });

  it("prints the JSON Schema of the configuration", async () => {
    const { out } = await runCommand(["config", "schema"]);

    expect(`${out}\n`).toBe(readFileSync("chains.schema.json", "utf8"));
  });
});

const FIXED_CLOCK = { nowMs: () => NOW_MS };

/** Runs each command and compares what all of them print with one file. */
async function expectTranscripts(
  name: string,
  commands: readonly (readonly string[])[],
  options: CommandOptions = { env: {}, files: { "chains.yaml": FLEET } },
): Promise<void> {
  const transcripts = [];
  for (const args of commands) {
    transcripts.push(transcriptOf(args, await runCommand(args, { ...options, world: FIXED_CLOCK })));
  }
  expectGolden(`${FOLDER}/${name}.expected.txt`, transcripts.join("\n"));
}
