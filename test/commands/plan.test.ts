import { describe, expect, it } from "vitest";
import type { CommandWorld } from "../../src/commands/command-world.ts";
import { plan } from "../../src/commands/plan.ts";

const GOOD = `
version: 1
budgets:
  studio: { limit: 3000, per: day, scope: endpoint }
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  mode: { id: 34443, name: Mode, block_time: 2s }
protocols:
  airdrops:
    - variant: subgraph
      url: https://indexer.example/{chain}
      budget: studio
      schedule: auto
      chains: [base, mode]
`;

describe("plan()", () => {
  it("prints the plan of a configuration as a table", () => {
    const { exitCode, out } = planOf(GOOD, "table");

    expect(exitCode).toBe(0);
    expect(out).toContain(
      "airdrops subgraph production          2          60 s           2,880  48% of studio each",
    );
  });

  it("prints it as JSON", () => {
    const { exitCode, out } = planOf(GOOD, "json");

    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ totals: { endpoints: 2, requests_per_day: 2_880 } });
  });

  it("says what is wrong with a configuration that cannot be used, and exits with 2", () => {
    const { exitCode, out, err } = planOf(
      GOOD.replace("schedule: auto", 'schedule: "*/15 * * * * *"'),
      "table",
    );

    expect([exitCode, out]).toEqual([2, ""]);
    expect(err).toContain("5,760 > 3,000 a day; the fastest that fits is every 30 s");
  });
});

function planOf(yaml: string, format: "table" | "json"): { exitCode: number; out: string; err: string } {
  const out: string[] = [];
  const err: string[] = [];
  const world: CommandWorld = {
    env: {},
    packageRoot: "/",
    nodeVersion: process.version,
    readFile: () => yaml,
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
  const exitCode = plan({ config: "chains.yaml", format }, world);
  return { exitCode, out: out.join("\n"), err: err.join("\n") };
}
