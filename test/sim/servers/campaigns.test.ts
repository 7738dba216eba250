import { describe, expect, it } from "vitest";
import { type SimulatedFleet, startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { AT_THE_TIP, BLOCKS_PER_EVENT, eventsIndexed } from "../../../src/sim/model/indexer-model.ts";
import type { ServerKind } from "../../../src/sim/servers/answer.ts";
import { ask } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

describe("eventsIndexed()", () => {
  it("grows with the chain", () => {
    const blocks = [0, BLOCKS_PER_EVENT - 1, BLOCKS_PER_EVENT, 10 * BLOCKS_PER_EVENT];

    expect(blocks.map((block) => eventsIndexed(AT_THE_TIP, block))).toEqual([0, 0, 1, 10]);
  });

  it.each([
    { nth: 1, counts: [9, 9, 9, 9] },
    { nth: 2, counts: [9, 10, 10, 11] },
    { nth: 3, counts: [9, 10, 11, 11] },
  ])("lacks every event number $nth from a block on", ({ nth, counts }) => {
    const skips = { fromBlock: 9 * BLOCKS_PER_EVENT + 1, nth };

    const blocks = [9, 10, 11, 12].map((event) => event * BLOCKS_PER_EVENT);

    expect(blocks.map((block) => eventsIndexed({ skips }, block))).toEqual(counts);
  });
});

describe("rows of events", () => {
  it.each([
    {
      kind: "graph-node",
      field: "campaigns",
      query: "campaigns(orderBy: subgraphId, orderDirection: desc, first: 2) { subgraphId }",
    },
    {
      kind: "graph-node",
      field: "streams",
      query: "streams(orderBy: subgraphId, orderDirection: desc, first: 2) { subgraphId }",
    },
    {
      kind: "envio",
      field: "Campaign",
      query:
        'Campaign(where: {chainId: {_eq: "8453"}}, order_by: {subgraphId: desc}, limit: 2) { subgraphId }',
    },
    {
      kind: "envio-2.27",
      field: "Stream",
      query: "Stream(where: {chainId: {_eq: 8453}}, order_by: {subgraphId: desc}, limit: 2) { subgraphId }",
    },
  ] as const)("are numbered, the newest first, in $field of $kind", async ({ kind, field, query }) => {
    await using fleet = await fleetOf(kind);

    const { body } = await ask(fleet.endpoint(kind).url, `{ ${query} }`);

    const newest = Math.floor((fleet.target(`${kind}/base`).heightAt() ?? 0) / BLOCKS_PER_EVENT);
    expect(body).toEqual({
      data: { [field]: [{ subgraphId: String(newest) }, { subgraphId: String(newest - 1) }] },
    });
  });

  it("are in a page of Ponder's", async () => {
    await using fleet = await fleetOf("ponder");
    const query =
      '{ campaigns(where: {chainId: 1}, orderDirection: "asc", limit: 1) { items { id chainId subgraphId } } }';

    const { body } = await ask(fleet.endpoint("ponder").url, query);

    expect(body).toEqual({
      data: { campaigns: { items: [{ id: "1-1", chainId: 1, subgraphId: "1" }] } },
    });
  });

  it("are fewer once a target skips events, at the same height, until it is healed", async () => {
    let nowMs = NOW_MS;
    await using fleet = await startFleet({ nowMs: () => nowMs, endpoints: [{ kind: "graph-node" }] });
    const target = fleet.target("graph-node/base");
    const rows = (): number => Number(target.rowAt(nowMs).campaigns);
    const before = rows();
    target.skipEvents(2);

    nowMs += 4 * BLOCKS_PER_EVENT * 2_000;

    expect(target.heightAt()).toBe(fleet.chain("base").headAt());
    expect(rows()).toBe(before + 2);
    target.heal();
    expect(rows()).toBe(before + 4);
  });
});

function fleetOf(kind: ServerKind): Promise<SimulatedFleet> {
  const chains = kind === "graph-node" ? ["base"] : ["base", "ethereum"];
  return startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind, chains }] });
}
