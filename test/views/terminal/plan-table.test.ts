import { describe, expect, it } from "vitest";
import type { Budget } from "../../../src/core/model/fleet.ts";
import type { Plan } from "../../../src/core/model/plan.ts";
import { renderPlanJson, renderPlanTable } from "../../../src/views/terminal/plan-table.ts";

const gateway: Budget = { name: "gateway", limit: 100_000, per: "month", scope: "shared" };
const studio: Budget = { name: "studio", limit: 3_000, per: "day", scope: "endpoint" };

const plan: Plan = {
  rows: [
    {
      ...{ protocol: "airdrops", variant: "multichain", tier: "production", endpoints: 1 },
      ...{ schedule: "*/15 * * * * *", intervalMs: 15_000, requestsPerDay: 5_760 },
      ...{ budget: null, share: null, faultShowsMs: 96_000 },
    },
    {
      ...{ protocol: "airdrops", variant: "subgraph", tier: "production", endpoints: 46 },
      ...{ schedule: "0 */30 * * * *", intervalMs: 1_800_000, requestsPerDay: 2_208 },
      ...{ budget: gateway, share: 0.671232, faultShowsMs: 5_421_000 },
    },
    {
      ...{ protocol: "airdrops", variant: "subgraph", tier: "testing", endpoints: 23 },
      ...{ schedule: "0 * * * * *", intervalMs: 60_000, requestsPerDay: 33_120 },
      ...{ budget: studio, share: 0.48, faultShowsMs: 201_000 },
    },
    {
      ...{ protocol: "", variant: "rpc", tier: "", endpoints: 2 },
      ...{ schedule: "*/30 * * * * *", intervalMs: 30_000, requestsPerDay: 5_760 },
      ...{ budget: null, share: null, faultShowsMs: 111_000 },
    },
  ],
  budgets: [
    { budget: gateway, endpoints: 46, requests: 67_123.2, share: 0.671232 },
    { budget: studio, endpoints: 23, requests: 1_440, share: 0.48 },
  ],
  endpoints: 72,
  requestsPerDay: 46_848,
  basis: { polls: 3, pollMs: 21_000 },
  skipped: [
    { protocol: "lockup", variant: "subgraph", tier: "production", why: "THEGRAPH_API_KEY is not set" },
  ],
  parity: [
    {
      ...{ name: "campaigns", protocol: "airdrops", everyMs: 600_000 },
      ...{ chains: ["base", "ethereum"], variants: ["multichain", "node", "subgraph"] },
    },
  ],
};

describe("renderPlanTable()", () => {
  it("is a table with totals, and shows the use of each budget", () => {
    expect(renderPlanTable(plan)).toBe(
      `
INDEXER                         ENDPOINTS  POLLED EVERY  REQUESTS A DAY  BUDGET              FAULT DETECTED WITHIN
airdrops multichain production          1          15 s           5,760  none                96 s
airdrops subgraph production           46        30 min           2,208  67.1% of gateway    90 min
airdrops subgraph testing              23          60 s          33,120  48% of studio each  3 min
rpc                                     2          30 s           5,760  none                111 s
total                                  72                        46,848

Budget gateway: shared by 46 endpoints, 67,123 of 100,000 a month (67.1%), 32,877 left
Budget studio: 23 endpoints, each at most 1,440 of 3,000 a day (48%), 1,560 left

Not polled: lockup subgraph (production): THEGRAPH_API_KEY is not set

Compared: campaigns of airdrops: multichain, node and subgraph on 2 chains, every 10 min
Values compared ride in the requests above and add none.

Fault detected within: the worst case, an endpoint that stops answering just after a poll; 3 polls in a row must fail, each after up to 21 s.
`.trim(),
    );
  });

  it("leaves out empty parts", () => {
    const table = renderPlanTable({
      ...plan,
      rows: [],
      budgets: [],
      skipped: [],
      parity: [],
      endpoints: 0,
      requestsPerDay: 0,
    });

    expect(table.split("\n\n")).toHaveLength(2);
  });
});

describe("renderPlanJson()", () => {
  it("has the same content as JSON", () => {
    const json = JSON.parse(renderPlanJson(plan));

    expect(json.indexers[1]).toEqual({
      ...{ protocol: "airdrops", variant: "subgraph", tier: "production", endpoints: 46 },
      ...{ schedule: "0 */30 * * * *", interval_seconds: 1_800, requests_per_day: 2_208 },
      ...{ budget: "gateway", share: 0.6712, fault_shows_seconds: 5_421 },
    });
    expect(json.budgets[1]).toEqual({
      ...{ budget: "studio", limit: 3_000, per: "day", scope: "endpoint" },
      ...{ endpoints: 23, requests: 1_440, share: 0.48 },
    });
    expect(json.totals).toEqual({ endpoints: 72, requests_per_day: 46_848 });
    expect(json.skipped).toEqual(plan.skipped);
    expect(json.parity).toEqual([
      {
        ...{ probe: "campaigns", protocol: "airdrops", variants: ["multichain", "node", "subgraph"] },
        ...{ chains: ["base", "ethereum"], every_seconds: 600, extra_requests: 0 },
      },
    ]);
  });
});
