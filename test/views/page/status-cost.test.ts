import { describe, expect, it, vi } from "vitest";
import type { Report } from "../../../src/core/model/report.ts";
import { renderStatusPage } from "../../../src/views/page/status.ts";
import {
  sampleChain,
  sampleChainReport,
  sampleEndpoint,
  sampleParity,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

vi.setConfig({ testTimeout: 120_000 });

const LARGE = largeFleet();

// A filter that compares each target with each budget takes 20 to 30 times as long.
describe("renderStatusPage() of 3,000 targets", () => {
  it.each(["production", "v1"])("takes about as long filtered by '%s' as whole", (query) => {
    expect(costOf(LARGE, query)).toBeLessThan(4 * costOf(LARGE));
  });
});

/** Milliseconds of the fastest of five. */
function costOf(report: Report, query = ""): number {
  const costs = Array.from({ length: 5 }, () => {
    const startMs = performance.now();
    renderStatusPage(report, { nonce: "n0nce", version: "1.2.3", query });
    return performance.now() - startMs;
  });
  return Math.min(...costs);
}

/** Ten protocols with two variants each on 150 chains; each target has a budget of its own, each pair a comparison. */
function largeFleet(): Report {
  const chains = Array.from({ length: 150 }, (_, index) => {
    const chain = `chain-${index}`;
    const targets = Array.from({ length: 20 }, (_, number) =>
      sampleTarget({ chain, protocol: `p${number >> 1}`, variant: `v${number % 2}` }),
    );
    const pairs = targets.filter(({ variant }) => variant === "v1");
    return sampleChainReport({
      chain: sampleChain({ slug: chain, id: index + 1 }),
      targets: targets.map((target) => sampleTargetReport({ target })),
      parity: pairs.map((target) =>
        sampleParity({ target, against: sampleTarget({ ...target, variant: "v0" }), result: "equal" }),
      ),
    });
  });
  const budget = { name: "studio", limit: 3_000, per: "day", scope: "endpoint" } as const;
  return sampleReport({
    chains,
    budgets: chains.flatMap(({ targets }) =>
      targets.map(({ target: { key } }) => {
        const endpoint = sampleEndpoint({ key });
        return { budget, endpoint, limit: 3_000, used: 1, remaining: 2_999 };
      }),
    ),
  });
}
