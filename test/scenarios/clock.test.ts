import { describe, expect, it } from "vitest";
import { type Scenario, startScenario } from "../support/scenario.ts";
import { ScriptedFleet } from "../support/scripted-fleet.ts";
import { TRIO } from "./statuses/fleets.ts";

// On Base the sources report block times; a Ponder and an envio of that version do not.
const FLEET = `
version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s, rpc: ["https://base.example/rpc"] }
  gnosis: { id: 100, name: Gnosis, block_time: 5s }
  arbitrum: { id: 42161, name: Arbitrum, block_time: 0.25s }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/v1/graphql", schedule: "*/15 * * * * *", chains: [base, gnosis, arbitrum] }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/subgraphs/name/{chain}", schedule: "*/30 * * * * *", chains: [base] }
    - { variant: mirror, dialect: envio, url: "https://mirror.example/v1/graphql", schedule: "*/15 * * * * *", chains: [gnosis, arbitrum] }
`;

describe("a daemon with a suspended machine or a clock jump", () => {
  it.each([
    {
      what: "is suspended for ten minutes",
      wrongBy: "0s",
      interrupt: (play: Scenario) => play.suspend("10m"),
    },
    {
      what: "has a fast clock corrected",
      wrongBy: "10m",
      interrupt: (play: Scenario) => play.setClock("-10m"),
    },
    {
      what: "has a slow clock corrected",
      wrongBy: "-10m",
      interrupt: (play: Scenario) => play.setClock("10m"),
    },
  ])("accuses no healthy target when it $what", async ({ wrongBy, interrupt }) => {
    await using play = await startScenario(FLEET);
    play.setClock(wrongBy);
    await play.run("5m");
    const before = statusesOf(play);

    interrupt(play);
    const seen = new Set<string>();
    for (let second = 0; second < 150; second += 1) {
      await play.run("1s");
      for (const status of statusesOf(play)) {
        seen.add(status);
      }
    }

    expect(new Set(before)).toEqual(new Set(["ok"]));
    expect([...seen].filter((status) => status !== "ok" && status !== "unknown")).toEqual([]);
    expect(new Set(statusesOf(play))).toEqual(new Set(["ok"]));
  });
});

function statusesOf(play: Scenario): readonly string[] {
  return play.status().targets.map(({ status }) => status);
}

describe("a process that starts from state written with a clock one hour ahead", () => {
  const restarted = () => new ScriptedFleet(TRIO).setClock("1h").run("20m").setClock("-1h").restart();

  it("takes a height for old as soon as one of today would be", () => {
    const play = restarted().script("multichain", () => null);

    expect(play.changes("multichain", "10m")).toEqual(["5m 15s unknown"]);
  });

  it("knows when a target stalled", () => {
    const play = restarted();
    const stuck = play.head();
    play.script("multichain", () => stuck);

    expect(play.changes("multichain", "20m")).toEqual(["10m 30s stalled"]);
  });
});
