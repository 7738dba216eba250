import { describe, it } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const FLEET = `
version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s }
  mode: { id: 34443, name: Mode, block_time: 2s }
  gnosis: { id: 100, name: Gnosis, block_time: 5s }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/graphql", schedule: "0 * * * * *", chains: [base, mode, gnosis] }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/airdrops/{chain}", schedule: "30 * * * * *", chains: [base, mode, gnosis] }
  lockup:
    - { variant: multichain, dialect: envio, url: "https://lockup.example/graphql", schedule: "0 * * * * *", chains: [base, mode, gnosis] }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/lockup/{chain}", schedule: "30 * * * * *", chains: [base, mode, gnosis] }
`;

/** 23:00: all is well. A provider fails, an indexer begins anew, the daemon is killed, a chain halts; at 01:30 somebody looks. */
async function playNight(): Promise<Scenario> {
  const play = await startScenario(FLEET, { at: "2026-11-19T23:00:00Z" });
  await play.run("10m");
  play.setHost("graph.example", "down");
  await play.run("20m");
  play.setHost("graph.example", "up");
  await play.run("20m");
  play.fleet
    .target("lockup/multichain/production/base")
    .reindex({ backBlocks: 400_000, withinMs: 3_600_000 });
  await play.run("15m");
  await play.restart({ state: "written", after: "10m" });
  await play.run("35m");
  play.fleet.chain("gnosis").halt();
  await play.run("25m");
  play.fleet.chain("gnosis").resume();
  await play.run("15m");
  return play;
}

describe("the morning after a night", () => {
  it("is shown by the page, the incidents, the API and the command line as in the goldens", async () => {
    await using play = await playNight();

    expectGolden("test/goldens/night.page.txt", play.page());
    expectGolden("test/goldens/night.chain.txt", play.page("base"));
    expectGolden("test/goldens/night.incidents.txt", play.incidentsPage());
    expectGolden("test/goldens/night.events.txt", play.eventsTable());
    expectGolden("test/goldens/night.incidents.json", `${JSON.stringify(play.incidents(), null, 2)}\n`);
    expectGolden(
      "test/goldens/night.history.json",
      `${JSON.stringify(play.statusHistory("lockup", "base"), null, 2)}\n`,
    );
  });
});
