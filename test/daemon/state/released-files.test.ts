import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Budgets } from "../../../src/budgets/budgets.ts";
import { Monitor } from "../../../src/daemon/monitor.ts";
import { loadState } from "../../../src/daemon/state/load.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { configOf } from "../../support/running-app.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/state/", import.meta.url));

// Each folder holds what a release wrote: the state file and the budget journal, with the chains.yaml it ran on. The
// fleet was simulated; the statuses and budgets below are those of its own API just before the end.
describe("a state file of a released version", () => {
  it("of 0.1.0 gives back every status", async () => {
    const { report } = await restore("0.1.0");

    const statuses = report.chains
      .flatMap(({ targets }) => targets)
      .map(({ target, status }) => `${target.key} ${status}`);
    expect(statuses.toSorted()).toEqual([
      "airdrops/multichain/production/arbitrum stalled",
      "airdrops/multichain/production/base ok",
      "airdrops/multichain/production/ethereum ok",
      "airdrops/subgraph/production/arbitrum ok",
      "airdrops/subgraph/production/base ok",
      "airdrops/subgraph/production/ethereum rejected",
      "flow/subgraph/production/base lagging",
      "flow/subgraph/production/ethereum failed",
      "lockup/multichain/production/arbitrum diverged",
      "lockup/multichain/production/base syncing",
      "lockup/multichain/production/ethereum missing",
      "lockup/subgraph/production/arbitrum unreachable",
      "lockup/subgraph/production/base not_found",
      "lockup/subgraph/production/ethereum throttled",
    ]);
  });

  it("of 0.1.0 gives back what was spent of every budget", async () => {
    const { report } = await restore("0.1.0");

    const used = report.budgets.map(
      ({ budget, endpoint, used: count }) => `${budget.name} ${endpoint?.key ?? "shared"} ${count}`,
    );
    expect(used).toEqual([
      "studio airdrops/subgraph/production/base 4",
      "studio airdrops/subgraph/production/ethereum 4",
      "studio airdrops/subgraph/production/arbitrum 4",
      "gateway shared 6",
      "hosted shared 37",
    ]);
  });

  it("of 0.1.0 is read without a warning", async () => {
    const { lines } = await restore("0.1.0");

    expect(lines).toEqual([]);
  });
});

/** What a daemon of today makes of the files of a release, a second after they were written. */
async function restore(version: string) {
  await using folder = await temporaryFolder();
  await cp(join(FIXTURES, version), folder.path, { recursive: true });
  const path = join(folder.path, "synclag.state.json");
  const { fleet } = configOf(await readFile(join(folder.path, "chains.yaml"), "utf8"));
  // The file says when it was written.
  const { savedAtMs } = JSON.parse(await readFile(path, "utf8")) as { readonly savedAtMs: number };
  const nowMs = (): number => savedAtMs + 1_000;
  const { logger, lines } = recordLog();

  const restored = await loadState(path, { logger, nowMs });

  const budgets = new Budgets(fleet);
  budgets.restore(restored.budgets);
  const monitor = new Monitor(fleet, { nowMs, budgets: (atMs) => budgets.report(atMs) });
  monitor.restore(restored.chains, restored.incidents);
  return { report: monitor.report(), lines };
}
