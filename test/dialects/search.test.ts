import { describe, expect, it } from "vitest";
import { FAULTS, times } from "../support/faults.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const KEY = "airdrops/subgraph/production/all";
const FLEET = `
version: 1
poll: { retries: 0 }
chains: { base: { id: 8453, block_time: 2s } }
protocols:
  airdrops: [{ variant: subgraph, url: "https://graph.example/subgraphs/name/x", schedule: "30 * * * * *", chains: [base] }]
`;
const RICHEST = "{ _meta { block { number hash timestamp } hasIndexingErrors deployment } }";
const PLAINEST = "{ _meta { block { number } } }";

describe("the search for a query that an endpoint answers", () => {
  it("asks all queries once, then one each poll, and all again after an hour", async () => {
    await using play = await startScenario(FLEET);
    play.fleet.endpoint(KEY).fail(FAULTS.data_null);

    await play.run("2m");
    const first = play.fleet.endpoint(KEY).requestCount;
    const requests = await requestsPerMinute(play, 60);

    // The first poll, and a few more with one query each.
    expect(first).toBeGreaterThan(10);
    expect(requests).toEqual([...Array.from({ length: 58 }, () => 1), 10, 1]);
    expect(play.target("airdrops/subgraph/production/base").detail).toContain(
      "graph.example answers, but not in a dialect that Synclag knows: expected a reply to ",
    );
  });

  it("begins with the query that succeeded last, and continues with the next one when it is refused", async () => {
    await using play = await startScenario(FLEET);
    const endpoint = play.fleet.endpoint(KEY);

    endpoint.fail(times(1, FAULTS.data_null));
    const [found, kept] = [await requestsPerMinute(play, 1), await requestsPerMinute(play, 1)];
    const remembered = lastQuery(play);
    endpoint.fail(times(1, FAULTS.data_null));
    const afterRefusal = await requestsPerMinute(play, 1);

    expect([found, kept, remembered]).toEqual([[2], [1], PLAINEST]);
    // The eight queries of other dialects are refused by graph-node, so the search comes back to the first.
    expect([afterRefusal, lastQuery(play)]).toEqual([[10], RICHEST]);
  });

  it("finds the query within ten polls once a server that refused all of them answers", async () => {
    await using play = await startScenario(FLEET);
    play.fleet.endpoint(KEY).fail(FAULTS.data_null);
    await play.run("5m");

    play.fleet.endpoint(KEY).heal();
    await play.run("10m");

    expect(play.target("airdrops/subgraph/production/base").status).toBe("ok");
    expect(await requestsPerMinute(play, 3)).toEqual([1, 1, 1]);
  });
});

async function requestsPerMinute(play: Scenario, minutes: number): Promise<readonly number[]> {
  const counts = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    const before = play.fleet.endpoint(KEY).requestCount;
    await play.run("1m");
    counts.push(play.fleet.endpoint(KEY).requestCount - before);
  }
  return counts;
}

function lastQuery(play: Scenario): unknown {
  const { body } = play.fleet.endpoint(KEY).lastCall ?? { body: "null" };
  return (JSON.parse(body) as { readonly query: unknown }).query;
}
