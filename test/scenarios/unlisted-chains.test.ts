import { describe, expect, it } from "vitest";
import { startScenario } from "../support/scenario.ts";

const ALL = chainsYaml("[base, mode, form]");

function chainsYaml(listed: string): string {
  return `
version: 1
chains:
  base: { id: 8453, block_time: 2s }
  mode: { id: 34443, block_time: 2s }
  form: { id: 478, block_time: 2s }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/", schedule: "*/15 * * * * *", chains: ${listed} }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/{chain}", schedule: "0 * * * * *", chains: [base, mode, form] }
`;
}

const ENDPOINT = "airdrops/multichain/production/all";

describe("chains that an endpoint serves and chains.yaml does not list", () => {
  it("are in the log once, on the plan page, in the JSON and in the metrics, until they are listed", async () => {
    await using play = await startScenario(chainsYaml("[base]"), { simulated: ALL });
    const told = () => play.log.filter(({ msg }) => msg === "Unlisted chains");
    const count = () =>
      play.metric(
        'synclag_unlisted_chains{protocol="airdrops",variant="multichain",tier="production",endpoint="all"}',
      );
    await play.run("5m");

    expect(told()).toMatchObject([
      {
        level: 30,
        endpoint: ENDPOINT,
        detail: "serves 2 chains that chains.yaml does not list for it: 478, 34443",
      },
    ]);
    expect(count()).toBe(2);
    // A subgraph names no chains, so whether it serves others is not known.
    expect(play.status().unlisted).toEqual([{ endpoint: ENDPOINT, chain_ids: [478, 34_443] }]);
    expect(play.metrics().match(/^synclag_unlisted_chains\{/gm)).toHaveLength(1);
    expect(play.planPage()).toContain(
      "Served, but not in chains.yaml\nairdrops/multichain/production/all : 2 chains: 478 (form), 34443 (mode)",
    );

    await play.reload(chainsYaml("[base, mode]"));
    await play.run("5m");
    expect(told().slice(1)).toMatchObject([
      { detail: "serves 1 chain that chains.yaml does not list for it: 478" },
    ]);
    expect(count()).toBe(1);

    await play.reload(chainsYaml('{ base: {}, mode: {}, form: { url: "https://envio.example/form" } }'));
    await play.run("5m");
    expect(told()).toHaveLength(2);
    expect(count()).toBe(0);
    expect(play.planPage()).not.toContain("not in chains.yaml");
  });
});
