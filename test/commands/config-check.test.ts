import { describe, expect, it } from "vitest";
import type { CommandWorld } from "../../src/commands/command-world.ts";
import { configCheck } from "../../src/commands/config-check.ts";
import { configSchema } from "../../src/commands/config-schema.ts";

const GOOD = `
version: 1
chains:
  base: { id: 8453, rpc: [https://base.example] }
  mode: { id: 34443 }
protocols:
  lockup:
    - variant: multichain
      url: https://indexer.example
      chains: [base, mode]
    - variant: subgraph
      url: "https://\${HOST}/{chain}"
      optional: true
      chains: [base, mode]
`;

describe("configCheck()", () => {
  it("says in one line what a valid file watches", () => {
    const { exitCode, out, err } = checked(GOOD, { HOST: "h.example" });

    expect(exitCode).toBe(0);
    expect(out).toEqual([
      "chains.yaml is valid: 2 chains, 1 protocol, 2 indexers, 4 endpoints, 4 targets, 0 skipped, 0 warnings",
    ]);
    expect(err).toEqual([]);
  });

  it("warns of what is skipped", () => {
    const { exitCode, out, err } = checked(GOOD, {});

    expect(exitCode).toBe(0);
    expect(out).toEqual([
      "chains.yaml is valid: 2 chains, 1 protocol, 1 indexer, 2 endpoints, 2 targets, 1 skipped, 1 warning",
    ]);
    expect(err).toEqual(["chains.yaml: warning: lockup/subgraph/production is skipped: HOST is not set"]);
  });

  it("tells every problem and exits with 2", () => {
    const { exitCode, out, err } = checked(GOOD.replace("[base, mode]", "[bas, mod]"), {});

    expect([exitCode, out]).toEqual([2, []]);
    expect(err.join("\n").split("\n")).toEqual([
      'chains.yaml:10:16: protocols.lockup[0].chains[0]: Cannot find chain "bas" in the section chains: did you mean "base"?',
      'chains.yaml:10:21: protocols.lockup[0].chains[1]: Cannot find chain "mod" in the section chains: did you mean "mode"?',
    ]);
  });

  it("tells of a file that is not there and exits with 2", () => {
    const { exitCode, err } = checked(null, {});

    expect(exitCode).toBe(2);
    expect(err).toEqual([expect.stringMatching(/^chains\.yaml:1:1: \(file\): Cannot read chains\.yaml: /)]);
  });
});

describe("configSchema()", () => {
  it("prints a JSON Schema", () => {
    const out: string[] = [];

    const exitCode = configSchema({ out: (line) => out.push(line) });

    expect(exitCode).toBe(0);
    expect(JSON.parse(out.join("\n"))).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      required: ["version", "chains", "protocols"],
    });
  });
});

function checked(text: string | null, env: Readonly<Record<string, string>>) {
  const out: string[] = [];
  const err: string[] = [];
  const world: CommandWorld = {
    env,
    packageRoot: "/",
    nodeVersion: process.version,
    readFile: () => {
      if (text === null) {
        throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
      }
      return text;
    },
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    outIsTerminal: false,
    errIsTerminal: false,
    nowMs: () => 0,
    monotonicMs: () => 0,
    random: () => 0,
    onSignal: () => undefined,
    keepSecret: () => undefined,
    crash: (error) => {
      throw error;
    },
  };
  return { exitCode: configCheck({ ...world, file: "chains.yaml" }), out, err };
}
