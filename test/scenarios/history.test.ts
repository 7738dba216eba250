import { describe, expect, it } from "vitest";
import { type Scenario, startScenario } from "../support/scenario.ts";

const FLEET = `
version: 1
chains: { base: { id: 8453, block_time: 2s, rpc: ["https://node.example/"] } }
protocols:
  airdrops:
    - { variant: multichain, dialect: graph, url: "https://first.example/x", schedule: "0 * * * * *", chains: [base] }
    - { variant: subgraph, dialect: graph, url: "https://second.example/x", schedule: "0 * * * * *", chains: [base] }
`;
const SUBGRAPH = "airdrops/subgraph/production/base";

describe("what the history keeps", () => {
  it("is each minute of the past, with its peaks and over a restart, and nothing of the time without a daemon", async () => {
    await using play = await startScenario(FLEET);
    await play.run("3m");
    play.fleet.target(SUBGRAPH).freeze();
    await play.run("3m");
    play.fleet.target(SUBGRAPH).heal();
    await play.run("2m");
    await play.restart({ state: "kept", after: "3m" });
    await play.run("2m");

    const all = lagsOf(play, {});
    const thinned = lagsOf(play, { points: 4 });
    const recent = lagsOf(play, { hours: 0.1 });
    await play.restart({ state: "lost" });
    await play.run("1m");

    expect(all).toEqual([
      "03:00 0",
      "03:01 0",
      "03:02 0",
      "03:03 0",
      "03:04 60",
      "03:05 120",
      "03:06 0",
      "03:07 0",
      "03:08 –",
      "03:09 –",
      "03:10 –",
      "03:11 0",
      "03:12 0",
      "03:13 –",
    ]);
    expect(thinned).toHaveLength(4);
    expect(thinned).toContain("03:05 120");
    expect(recent).toEqual(all.slice(-7));
    expect(lagsOf(play, {}).at(0)).toBe("03:13 0");
  });
});

/** `03:04 180`: each minute with the lag of the subgraph in seconds, to ten. */
function lagsOf(
  play: Scenario,
  span: { readonly hours?: number; readonly points?: number },
): readonly string[] {
  const { timestamps, targets } = play.history("airdrops", "base", span);
  const lags = targets.find(({ variant }) => variant === "subgraph")?.lag_seconds ?? [];
  return timestamps.map((time, index) => {
    const lag = lags[index] ?? null;
    return `${new Date(time * 1_000).toISOString().slice(11, 16)} ${lag === null ? "–" : Math.round(lag / 10) * 10}`;
  });
}
