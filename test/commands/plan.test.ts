import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { runCli } from "../../src/cli.ts";
import { commandWorld } from "../support/command-world.ts";

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

describe("synclag plan", () => {
  it("prints the plan of a configuration as a table", async () => {
    const { exitCode, out } = await planOf(GOOD, "table");

    expect(exitCode).toBe(0);
    expect(out).toContain(
      "airdrops subgraph production          2          60 s           2,880  48% of studio each",
    );
  });

  it("prints it as JSON", async () => {
    const { exitCode, out } = await planOf(GOOD, "json");

    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ totals: { endpoints: 2, requests_per_day: 2_880 } });
  });

  it("says what is wrong with a configuration that cannot be used, and exits with 2", async () => {
    const { exitCode, out, err } = await planOf(
      GOOD.replace("schedule: auto", 'schedule: "*/15 * * * * *"'),
      "table",
    );

    expect([exitCode, out]).toEqual([2, ""]);
    expect(err).toContain("5,760 > 3,000 a day; the fastest that fits is every 30 s");
  });
});

describe("synclag plan beside a state file", () => {
  it("says until when a provider makes us wait, and why", async () => {
    const nowMs = Date.UTC(2026, 10, 20, 11, 30);
    const backOff = { refusedAtMs: nowMs - 60_000, untilMs: nowMs + 3_540_000, delayMs: 0 };
    const id = `studio ${createHash("sha256").update("https://indexer.example/base").digest("hex").slice(0, 32)}`;
    const state = { budgets: { accounts: { [id]: { buckets: [], backOff } }, backOffs: {} } };

    const { exitCode, err } = await planOf(GOOD, "table", { nowMs, state: JSON.stringify(state) });

    expect(exitCode).toBe(0);
    expect(err.split("\n").at(-1)).toBe(
      "budget studio of airdrops/subgraph/production/base: rate-limited by provider at 11:29 UTC, next attempt 12:29 UTC",
    );
  });

  it.each(["not JSON", "{}"])("plans as without one where it holds %s", async (state) => {
    const { exitCode, err } = await planOf(GOOD, "table", { nowMs: Date.now(), state });

    expect({ exitCode, err }).toMatchObject({ exitCode: 0, err: (await planOf(GOOD, "table")).err });
  });
});

async function planOf(
  yaml: string,
  format: "table" | "json",
  beside?: { readonly nowMs: number; readonly state: string },
) {
  const { world, printed } = commandWorld({});
  const files = new Map([
    ["chains.yaml", yaml],
    ["synclag.state.json", beside?.state ?? ""],
  ]);
  const exitCode = await runCli(["node", "synclag", "plan", "--format", format], {
    ...world,
    nowMs: () => beside?.nowMs ?? Date.now(),
    readFile: (path) => files.get(path) ?? world.readFile(path),
  });
  return { exitCode, out: printed.out.join("\n"), err: printed.err.join("\n") };
}
