import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { Chain, Target } from "../../src/core/model/fleet.ts";
import type { Report, TargetReport } from "../../src/core/model/report.ts";
import {
  sampleBudget,
  sampleChain,
  sampleChainReport,
  sampleGap,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "./sample-report.ts";

// A fixture of our own: the schemas of the API check the report that is made of it (openapi.test.ts).
const FLEET = parse(readFileSync("test/fixtures/fleet-report.yaml", "utf8")) as {
  readonly chains: readonly Pick<Chain, "slug" | "name" | "id">[];
  readonly kinds: readonly Pick<Target, "variant" | "tier">[];
  readonly troubles: Readonly<Record<string, Partial<TargetReport>>>;
  readonly report: Pick<Report, "incidents" | "skipped">;
};

export function fleetReport(): Report {
  const chains = FLEET.chains.map((chain) => {
    const targets = ["airdrops", "lockup"].flatMap((protocol) =>
      FLEET.kinds.map((kind) => sampleTarget({ protocol, ...kind, chain: chain.slug, chainId: chain.id })),
    );
    const behind = targets.filter(({ variant }) => variant === "subgraph");
    return sampleChainReport({
      chain: sampleChain(chain),
      targets: targets.map((target) => sampleTargetReport({ target, ...FLEET.troubles[target.key] })),
      gaps: behind.map((target) => sampleGap({ target, seconds: null })),
    });
  });
  return sampleReport({ chains, ...FLEET.report, budgets: [sampleBudget()] });
}
