import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { configOf, startTestApp } from "../support/running-app.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

vi.setConfig({ testTimeout: 20_000 });

describe("a daemon with a state file", () => {
  it("keeps the history over a restart, and shows the last replies and how to repeat the poll", async () => {
    await using folder = await temporaryFolder();
    await using fleet = await startFleet({
      nowMs: Date.now,
      endpoints: [{ kind: "envio", key: "airdrops/multichain/production/all", chains: ["base"] }],
    });
    const config = configOf(chainsYaml(fleet.endpoint("airdrops/multichain/production/all").url));
    const stateFile = join(folder.path, "synclag.state.json");

    const before = await startTestApp(config, { stateFile });
    await vi.waitFor(async () => expect((await history(before.url)).length).toBeGreaterThan(0), 10_000);
    const page = await (await fetch(`${before.url}/chains/base`)).text();
    const [first] = await history(before.url);
    await before[Symbol.asyncDispose]();
    await using after = await startTestApp(config, { stateFile });

    expect((await history(after.url))[0]).toBe(first);
    expect(page).toContain("curl -sS");
    expect(page).toContain("HTTP 200");
  });

  it("serves the plan, and what the statuses mean", async () => {
    await using app = await startTestApp(configOf(chainsYaml("http://127.0.0.1:1/{protocol}")));

    const plan = await (await fetch(`${app.url}/plan`)).text();
    const statuses = await (await fetch(`${app.url}/docs/statuses`)).text();

    expect(plan).toContain("1 endpoint, 86,400 requests a day");
    expect(statuses).toContain('<h2 id="chain_halted">');
  });
});

async function history(url: string): Promise<readonly number[]> {
  const answer = await fetch(`${url}/api/v1/history/airdrops/base`);
  // What the route answers, by its schema.
  const { timestamps } = (await answer.json()) as { readonly timestamps: readonly number[] };
  return timestamps;
}

function chainsYaml(url: string): string {
  return `
version: 1
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "${url}", schedule: "* * * * * *", chains: [base] }
`;
}
