import { describe, expect, it } from "vitest";
import type { Plan } from "../../../src/core/model/plan.ts";
import { renderPlanPage } from "../../../src/views/page/plan.ts";
import { sampleEndpoint, sampleReport } from "../sample-report.ts";

const STUDIO = { name: "studio", limit: 3_000, per: "day", scope: "endpoint" } as const;
const GATEWAY = { name: "gateway", limit: 100_000, per: "month", scope: "shared" } as const;

const PLAN: Plan = {
  rows: [
    {
      protocol: "lockup",
      variant: "subgraph",
      tier: "testing",
      endpoints: 2,
      schedule: "0 * * * * *",
      intervalMs: 60_000,
      requestsPerDay: 2_880,
      budget: STUDIO,
      share: 0.48,
      faultShowsMs: 150_000,
    },
  ],
  budgets: [
    { budget: STUDIO, endpoints: 2, requests: 1_440, share: 0.48 },
    { budget: GATEWAY, endpoints: 52, requests: 75_920, share: 0.7592 },
  ],
  endpoints: 54,
  requestsPerDay: 5_376,
  basis: { polls: 2, pollMs: 21_000 },
  skipped: [{ protocol: "flow", variant: "subgraph", tier: "production", why: "KEY is not set" }],
  parity: [
    {
      name: "rows",
      protocol: "flow",
      everyMs: 600_000,
      chains: ["base"],
      variants: ["multichain", "subgraph"],
    },
  ],
};

const REPORT = sampleReport({
  budgets: [
    {
      budget: STUDIO,
      endpoint: sampleEndpoint({ key: "a/b/c/base" }),
      limit: 3_000,
      used: 10,
      remaining: 2_990,
    },
    {
      budget: STUDIO,
      endpoint: sampleEndpoint({ key: "a/b/c/form" }),
      limit: 3_000,
      used: 2_900,
      remaining: 100,
    },
    { budget: GATEWAY, endpoint: null, limit: 100_000, used: 41_000, remaining: 59_000 },
  ],
});

const PAGE = renderPlanPage(REPORT, PLAN, { nonce: "n0nce", version: "1.2.3" });

describe("renderPlanPage()", () => {
  it("summarizes what the schedules use", () => {
    expect(PAGE).toContain(
      "<h1>54 endpoints, 5,376 requests a day, at most 75.9% of a budget (gateway)</h1>",
    );
  });

  it("lists every endpoint of a budget, the most used first", () => {
    expect(
      [...PAGE.replaceAll("<wbr>", "").matchAll(/<th scope="row">(a\/b\/c\/\w+)</g)].map(([, key]) => key),
    ).toEqual(["a/b/c/form", "a/b/c/base"]);
  });

  it("lists a shared budget once", () => {
    expect(PAGE).toContain("100,000 requests a month, shared by 52 endpoints");
    expect(PAGE).toContain("<td>59,000</td>");
  });

  it("lists the cadence and detection time of each indexer", () => {
    expect(PAGE).toContain("<td>60 s</td><td>2,880</td><td>48% of studio each</td><td>3 min</td>");
  });

  it("lists what is not polled, and why", () => {
    expect(PAGE).toContain("<b>flow subgraph (production)</b>: KEY is not set");
  });

  it("says what is compared, and that it costs no request", () => {
    expect(PAGE).toContain(
      "Compared: rows of flow: multichain and subgraph on 1 chain, every 10 min. Values compared ride in the requests above and add none.",
    );
  });
});
