import { describe, expect, it } from "vitest";
import { planFleet } from "../../src/budgets/plan.ts";
import type { Budget, Endpoint } from "../../src/core/model/fleet.ts";
import { endpointOf, fleetOf } from "./fleet-builder.ts";

const POLL = { timeoutMs: 10_000, retries: 1 };
const gateway: Budget = { name: "gateway", limit: 100_000, per: "month", scope: "shared" };
const studio: Budget = { name: "studio", limit: 3_000, per: "day", scope: "endpoint" };

/** The public fleet: 23 chains at the gateway and in testing, three with URLs of their own, one multi-chain indexer. */
const publicFleet = fleetOf(
  ["airdrops", "lockup"].flatMap((protocol) => [
    endpointOf({ protocol, variant: "multichain", chain: null, ...every(15, "*/15 * * * * *") }),
    ...chains(23).map((chain) =>
      endpointOf({ protocol, chain, budget: "gateway", ...every(1_800, "0 */30 * * * *") }),
    ),
    ...["form", "lightlink", "xdc"].map((chain) =>
      endpointOf({ protocol, chain, ...every(30, "*/30 * * * * *") }),
    ),
    ...chains(23).map((chain) =>
      endpointOf({ protocol, tier: "testing", chain, budget: "studio", ...every(60, "0 * * * * *") }),
    ),
  ]),
  [gateway, studio],
);

describe("planFleet()", () => {
  it("has a row for each indexer, schedule and budget of the public fleet", () => {
    const { rows } = planFleet(publicFleet, POLL);

    expect(rows.slice(0, 4)).toEqual([
      {
        ...{ protocol: "airdrops", variant: "multichain", tier: "production", endpoints: 1 },
        ...{ schedule: "*/15 * * * * *", intervalMs: 15_000, requestsPerDay: 5_760 },
        // 15 s, then twice 30 s because a poll takes 20.2 s, then its own 20.2 s.
        ...{ budget: null, share: null, faultShowsMs: 95_200 },
      },
      {
        ...{ protocol: "airdrops", variant: "subgraph", tier: "production", endpoints: 23 },
        ...{ schedule: "0 */30 * * * *", intervalMs: 1_800_000, requestsPerDay: 1_104 },
        ...{ budget: gateway, share: 33_561.6 / 100_000, faultShowsMs: 3 * 1_800_000 + 20_200 },
      },
      {
        ...{ protocol: "airdrops", variant: "subgraph", tier: "production", endpoints: 3 },
        ...{ schedule: "*/30 * * * * *", intervalMs: 30_000, requestsPerDay: 8_640 },
        ...{ budget: null, share: null, faultShowsMs: 3 * 30_000 + 20_200 },
      },
      {
        ...{ protocol: "airdrops", variant: "subgraph", tier: "testing", endpoints: 23 },
        ...{ schedule: "0 * * * * *", intervalMs: 60_000, requestsPerDay: 33_120 },
        ...{ budget: studio, share: 0.48, faultShowsMs: 3 * 60_000 + 20_200 },
      },
    ]);
    expect(rows).toHaveLength(8);
  });

  it("adds up what each budget has to bear, and everything", () => {
    const plan = planFleet(publicFleet, POLL);

    expect(plan.budgets).toEqual([
      { budget: gateway, endpoints: 46, requests: 67_123.2, share: 67_123.2 / 100_000 },
      { budget: studio, endpoints: 46, requests: 1_440, share: 0.48 },
    ]);
    expect([plan.endpoints, plan.requestsPerDay]).toEqual([100, 97_248]);
  });

  it("takes the endpoint that asks the most of a budget that each has for itself", () => {
    const fleet = fleetOf(
      [
        endpointOf({ chain: "base", budget: "studio", ...every(60, "0 * * * * *") }),
        endpointOf({ chain: "mode", budget: "studio", ...every(30, "*/30 * * * * *") }),
      ],
      [studio],
    );

    expect(planFleet(fleet, POLL).budgets).toEqual([
      { budget: studio, endpoints: 2, requests: 2_880, share: 0.96 },
    ]);
  });

  it("adds up what all endpoints of one URL ask of a budget that each URL has for itself", () => {
    const url = "http://127.0.0.1:9/v1/graphql";
    const fleet = fleetOf(
      [
        endpointOf({ chain: null, protocol: "airdrops", budget: "studio", url, ...every(60, "0 * * * * *") }),
        endpointOf({
          chain: null,
          protocol: "lockup",
          budget: "studio",
          url,
          ...every(120, "0 */2 * * * *"),
        }),
        endpointOf({ chain: "mode", budget: "studio", ...every(60, "0 * * * * *") }),
      ],
      [studio],
    );

    const { rows, budgets } = planFleet(fleet, POLL);

    expect(rows.map(({ share }) => share)).toEqual([0.48, 0.24]);
    expect(budgets).toEqual([{ budget: studio, endpoints: 3, requests: 2_160, share: 0.72 }]);
  });

  it("counts the RPC nodes, and leaves out budgets that nobody draws on", () => {
    const node = endpointOf({ protocol: "", variant: "rpc", tier: "", ...every(30, "*/30 * * * * *") });

    const plan = planFleet({ ...fleetOf([], [gateway]), rpcEndpoints: [node] }, POLL);

    expect(plan).toMatchObject({ endpoints: 1, requestsPerDay: 2_880, budgets: [] });
    expect(plan.rows).toMatchObject([{ protocol: "", variant: "rpc", tier: "", endpoints: 1 }]);
  });
});

function every(seconds: number, schedule: string): Pick<Endpoint, "schedule" | "pollIntervalMs"> {
  return { schedule, pollIntervalMs: seconds * 1_000 };
}

function chains(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `chain-${i}`);
}
