import { describe, expect, it } from "vitest";
import { planFleet } from "../../src/budgets/plan.ts";
import type { Budget, Endpoint } from "../../src/core/model/fleet.ts";
import { endpointOf, fleetOf } from "./fleet-builder.ts";

const POLL = { timeoutMs: 10_000, retries: 1 };
const studio: Budget = { name: "studio", limit: 3_000, per: "day", scope: "endpoint" };

// test/goldens/every-status.plan.txt has the table of a fleet.

describe("planFleet()", () => {
  it("takes the account that is asked the most of a budget that each URL has for itself", () => {
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

    const { indexers, budgets } = planFleet(fleet, POLL);

    expect(indexers.map(({ share }) => share)).toEqual([0.48, 0.24]);
    expect(budgets).toMatchObject([{ budget: "studio", endpoints: 3, requests: 2_160, share: 0.72 }]);
  });

  it("says how soon a fault shows: three polls that fail, each at the next schedule that it does not overlap", () => {
    const endpoints = [
      every(15, "*/15 * * * * *"),
      every(30, "*/30 * * * * *"),
      every(1_800, "0 */30 * * * *"),
    ];

    const { indexers } = planFleet(
      fleetOf(endpoints.map((one, index) => endpointOf({ variant: `v${index}`, ...one }))),
      POLL,
    );

    // A poll takes up to 20.2 s with its retry, so one of every 15 s skips each other round.
    expect(indexers.map((row) => row.fault_shows_seconds)).toEqual([95.2, 110.2, 3 * 1_800 + 20.2]);
  });

  it("counts the RPC nodes, and leaves out unused budgets", () => {
    const node = endpointOf({ protocol: "", variant: "rpc", tier: "", ...every(30, "*/30 * * * * *") });

    const plan = planFleet({ ...fleetOf([], [studio]), rpcEndpoints: [node] }, POLL);

    expect(plan).toMatchObject({ totals: { endpoints: 1, requests_per_day: 2_880 }, budgets: [] });
    expect(plan.indexers).toMatchObject([{ protocol: "", variant: "rpc", tier: "", endpoints: 1 }]);
  });
});

function every(seconds: number, schedule: string): Pick<Endpoint, "schedule" | "pollIntervalMs"> {
  return { schedule, pollIntervalMs: seconds * 1_000 };
}
