import { describe, expect, it } from "vitest";
import { FAULTS } from "../support/faults.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const FLEET = `
version: 1
poll: { rpc_schedule: "*/15 * * * * *" }
chains:
  base: { id: 8453, block_time: 2s, rpc: ["https://node.example/base"] }
  gnosis: { id: 100, block_time: 2s }
protocols:
  airdrops:
    - { variant: first, dialect: graph, url: "https://first.example/{chain}", schedule: "*/15 * * * * *", chains: [base, gnosis] }
    - { variant: second, dialect: graph, url: "https://second.example/{chain}", schedule: "*/15 * * * * *", chains: [base, gnosis] }
    - { variant: first, tier: testing, dialect: graph, url: "https://test.example/{chain}", schedule: "*/15 * * * * *", chains: [base] }
  lockup:
    - { variant: beta, tier: testing, dialect: graph, url: "https://beta.example/{chain}", schedule: "*/15 * * * * *", chains: [base] }
`;
const FIRST = "airdrops/first/production/base";
const SECOND = "airdrops/second/production/base";
const TESTING = "airdrops/first/testing/base";
const BETA = "lockup/beta/testing/base";

describe("the preferred variant", () => {
  it.each<{
    readonly what: string;
    readonly happens: (play: Scenario) => void;
    readonly preferred: readonly string[];
  }>([
    { what: "the first of two that are level", happens: () => undefined, preferred: [FIRST, BETA] },
    {
      what: "the first where it is four seconds behind the second",
      happens: (play) => play.fleet.target(FIRST).set({ lagBlocks: 2 }),
      preferred: [FIRST, BETA],
    },
    {
      what: "the second where the first is ten seconds behind it",
      happens: (play) => play.fleet.target(FIRST).set({ lagBlocks: 5 }),
      preferred: [SECOND, BETA],
    },
    {
      what: "the second where the first is not ok",
      happens: (play) => play.fleet.endpoint(FIRST).fail(FAULTS.http_500),
      preferred: [SECOND, BETA],
    },
    {
      what: "none of production where none is ok, however well a testing one is",
      happens: (play) => {
        play.fleet.endpoint(FIRST).fail(FAULTS.http_500);
        play.fleet.target(SECOND).set({ indexingErrors: true });
      },
      preferred: [BETA],
    },
    {
      what: "none of a protocol whose only variant is in testing and fails",
      happens: (play) => play.fleet.endpoint(BETA).fail(FAULTS.http_500),
      preferred: [FIRST],
    },
  ])("is $what", async ({ happens, preferred }) => {
    await using play = await startScenario(FLEET);
    await play.run("1m");
    happens(play);

    await play.run("2m");

    expect(preferredOn(play, "base")).toEqual(preferred);
  });
});

describe("the page of a chain", () => {
  it("lists with whom each source agrees, who contradicts the rest and why, and not who is silent", async () => {
    await using play = await startScenario(FLEET);
    await play.run("1m");
    play.fleet.target(FIRST).set({ wrongChain: play.fleet.chain("gnosis").model });
    play.fleet.target(TESTING).set({ lagBlocks: 900 });
    play.fleet.endpoint(BETA).fail(FAULTS.http_500);

    await play.run("7m");

    expect(agreementOn(play, "base")).toEqual([
      expect.stringMatching(/^2 providers agree on this head\./),
      "Source Head Block Why",
      expect.stringMatching(/^airdrops second second\.example ✓ agrees [\d,]+$/),
      expect.stringMatching(/^RPC node node\.example ✓ agrees [\d,]+$/),
      expect.stringMatching(
        /^airdrops first first\.example ✕ excluded ([\d,]+) its time of block \1 contradicts first, second and an RPC node by \d+ d \d+ h; the RPC node does not have block [\d,]+$/,
      ),
      expect.stringMatching(
        /^airdrops first \(testing\) test\.example ▲ apart from it [\d,]+ 90\d blocks below it$/,
      ),
    ]);
  });

  it("lists the sides of a dispute", async () => {
    await using play = await startScenario(FLEET);
    await play.run("1m");
    play.fleet.target("airdrops/second/production/gnosis").set({ fork: "other" });

    await play.run("7m");

    expect(agreementOn(play, "gnosis")).toEqual([
      expect.stringMatching(/^No reference: first .* and second .* contradict each other, at one height/),
      "Source Head Block Why",
      expect.stringMatching(/^airdrops first first\.example ✕ contradicts others [\d,]+ side 1$/),
      expect.stringMatching(/^airdrops second second\.example ✕ contradicts others [\d,]+ side 2$/),
    ]);
  });
});

function preferredOn(play: Scenario, slug: string): readonly string[] {
  return play
    .report()
    .targets.filter(({ preferred, chain }) => preferred && chain === slug)
    .map(({ key }) => key);
}

/** The part of the page below "Who agrees on the head". */
function agreementOn(play: Scenario, slug: string): readonly string[] {
  const lines = play.page(slug).split("\n");
  const start = lines.indexOf("Who agrees on the head") + 1;
  return lines.slice(start, lines.indexOf("Chain"));
}
