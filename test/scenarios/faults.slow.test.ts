import { describe, expect, it } from "vitest";
import { FAULTS, type FaultName } from "../../src/sim/fleet/fault-list.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const FLEET = `
version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s, rpc: ["https://base.example/rpc"] }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/v1/graphql", schedule: "*/15 * * * * *", chains: [base] }
    - { variant: subgraph, dialect: graph, url: "https://graph.example/subgraphs/name/airdrops", schedule: "*/30 * * * * *", chains: [base] }
    - { variant: mirror, dialect: graph, url: "https://mirror.example/subgraphs/name/airdrops", schedule: "*/30 * * * * *", chains: [base] }
`;
const FAULTY = "airdrops/subgraph/production";
const MOST_MINUTES = 20;
/** Only these need a socket; test/faults.test.ts plays them over one. */
const ON_THE_WIRE: readonly string[] = [
  "truncated",
  "huge",
  "gzip_bomb",
  "deflate_garbage",
  "plain_text",
  "untyped",
  "http_1_0",
  "informational",
];
// Keys of FAULTS are its names: Object.keys forgets that.
const NAMES = (Object.keys(FAULTS) as readonly FaultName[]).filter((name) => {
  const { fault } = FAULTS[name];
  return fault.kind === "answer" || !ON_THE_WIRE.includes(fault.how);
});

describe("a fleet in which one endpoint meets every fault, one after the other", () => {
  it("says what is wrong with it, nothing wrong of the others, and that it has recovered", {
    timeout: 300_000,
  }, async () => {
    await using play = await startScenario(FLEET);
    await play.run("10m");
    const wrong: string[] = [];

    for (const name of NAMES) {
      wrong.push(...(await mistakesIn(play, name)).map((mistake) => `${name}: ${mistake}`));
    }

    expect(NAMES.length).toBeGreaterThan(60);
    expect(wrong).toEqual([]);
  });
});

/** Plays a fault for three minutes, then waits for the end of what follows from it, such as a back-off. */
async function mistakesIn(play: Scenario, name: FaultName): Promise<readonly string[]> {
  const endpoint = play.fleet.endpoint(`${FAULTY}/all`);
  const expected = FAULTS[name].reason;
  endpoint.fail(name);
  await play.run("3m");
  const { status, reason } = play.target(`${FAULTY}/base`);
  const isRight = reason === expected && (status === "ok") === (expected === null);
  const others = othersOf(play);
  endpoint.heal();
  for (let minute = 0; minute < MOST_MINUTES && play.target(`${FAULTY}/base`).status !== "ok"; minute += 1) {
    await play.run("1m");
  }
  const healed = play.target(`${FAULTY}/base`);
  return [
    ...(isRight ? [] : [`${status} (${reason}), expected reason ${expected}`]),
    ...[others, othersOf(play)]
      .filter((words) => words !== "ok ok")
      .map((words) => `the others were ${words}`),
    ...(healed.status === "ok"
      ? []
      : [`${MOST_MINUTES} minutes after its end ${healed.status}: ${healed.detail}`]),
  ];
}

function othersOf(play: Scenario): string {
  const others = play.status().targets.filter(({ variant }) => variant !== "subgraph");
  return others.map(({ status }) => status).join(" ");
}
