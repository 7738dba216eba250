import { describe, expect, it } from "vitest";
import type { Status, TargetReport } from "../../../src/core/model/report.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { checkExitCode } from "../../../src/views/terminal/check-exit-code.ts";
import {
  MINUTE_MS,
  sampleChain,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

type Case = { readonly base: readonly Status[]; readonly gnosis?: readonly Status[]; readonly code: number };

describe("checkExitCode()", () => {
  it.each<Case>([
    { base: ["ok", "ok"], code: 0 },
    { base: ["ok", "failed"], code: 1 },
    { base: ["lagging", "failed"], code: 1 },
    { base: ["failed", "stalled"], code: 2 },
    { base: ["ok", "ok"], gnosis: ["failed"], code: 2 },
    { base: ["ok", "failed"], gnosis: ["ok"], code: 1 },
    { base: ["ok"], gnosis: ["unknown"], code: 2 },
    { base: ["unknown", "unknown"], gnosis: ["unknown"], code: 3 },
    { base: [], code: 3 },
  ])("is $code for $base on one chain and $gnosis on another", ({ base, gnosis = [], code }) => {
    expect(checkExitCode(jsonOf({ base, gnosis }), [])).toBe(code);
  });

  it.each([
    { lagMs: 30 * MINUTE_MS - 1, code: 1 },
    { lagMs: 30 * MINUTE_MS, code: 2 },
  ])("is $code when all that is left lags by $lagMs ms, where 30 min are critical", ({ lagMs, code }) => {
    expect(checkExitCode(jsonOf({ base: ["lagging"] }, { lagMs }), [])).toBe(code);
  });

  it("looks at a named variant alone", () => {
    const json = jsonOf({ base: ["ok", "failed"] });

    expect(checkExitCode(json, [{ protocol: "lockup", chain: "base", variant: "variant-1" }])).toBe(2);
    expect(checkExitCode(json, [{ protocol: "lockup", chain: "base", variant: "variant-0" }])).toBe(0);
    expect(checkExitCode(json, [{ protocol: "lockup", chain: "base" }])).toBe(1);
  });

  it.each([
    { tiers: { production: "failed", testing: "ok" }, code: 2 },
    { tiers: { production: "unknown", testing: "ok" }, code: 2 },
    { tiers: { production: "ok", testing: "failed" }, code: 1 },
    { tiers: { staging: "failed", testing: "ok" }, code: 1 },
  ] as const)(
    "is $code for $tiers: only the production tier serves users, if there is one",
    ({ tiers, code }) => {
      const targets = Object.entries(tiers).map(([tier, status]) =>
        sampleTargetReport({ target: sampleTarget({ tier }), status, lagMs: null }),
      );
      const json = statusJson(sampleReport({ chains: [sampleChainReport({ targets })] }));

      expect(checkExitCode(json, [])).toBe(code);
      expect(checkExitCode(json, [{ protocol: "lockup", chain: "base", variant: "multichain" }])).toBe(code);
    },
  );

  it("takes the worst of several selections", () => {
    const json = jsonOf({ base: ["ok"], gnosis: ["failed"] });

    expect(
      checkExitCode(json, [
        { protocol: "lockup", chain: "gnosis" },
        { protocol: "lockup", chain: "base" },
      ]),
    ).toBe(2);
  });
});

function jsonOf(
  statuses: Readonly<Record<string, readonly Status[]>>,
  overrides: Partial<TargetReport> = {},
) {
  const chains = Object.entries(statuses).map(([slug, each]) =>
    sampleChainReport({
      chain: sampleChain({ slug }),
      targets: each.map((status, index) =>
        sampleTargetReport({
          target: sampleTarget({ chain: slug, variant: `variant-${index}` }),
          status,
          ...overrides,
        }),
      ),
    }),
  );
  return statusJson(sampleReport({ chains }));
}
