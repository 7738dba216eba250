import type { Report } from "../../src/core/model/report.ts";
import { startScenario } from "../support/scenario.ts";

const FLEET = `
version: 1
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:
  airdrops:
    - { variant: multichain, url: "https://envio.example/airdrops", dialect: envio, chains: [base] }
    - { variant: subgraph, url: "https://graph.example/airdrops", dialect: graph, chains: [base] }
  lockup:
    - { variant: multichain, url: "https://envio.example/lockup", dialect: envio, chains: [base] }
    - { variant: subgraph, url: "https://graph.example/lockup", dialect: graph, chains: [base] }
`;

/** What a daemon answers whose lockup subgraph on base is 41 minutes behind, and everything else is ok. */
export async function statusOfLaggingFleet(): Promise<Report> {
  await using play = await startScenario(FLEET);
  play.fleet.target("lockup/subgraph/production/base").set({ lagBlocks: 1_230 });
  await play.run("2m");
  return play.report();
}
