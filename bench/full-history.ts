import { parseConfig } from "../src/config/parse.ts";
import { ChainHistory, type SavedHistory } from "../src/core/history/history.ts";
import type { Chain, Target } from "../src/core/model/fleet.ts";
import { groupBy } from "../src/core/model/group-by.ts";
import type { ChainReport } from "../src/core/model/report.ts";
import { writeHistory } from "../src/daemon/state/history-store.ts";
import { sampleChainReport, sampleGap, sampleTargetReport } from "../test/views/sample-report.ts";

/** A history keeps a row for each minute of the last two hours, and for every five minutes before. */
const FINE_MS = 60_000;
const COARSE_MS = 5 * FINE_MS;
const RECENT_MS = 120 * FINE_MS;
const DAY_MS = 86_400_000;
const BLOCK_MS = 2_000;

/** Writes the history that a daemon has after a day on this chains.yaml, with every value known. */
export async function writeFullHistory(text: string, stateFile: string): Promise<void> {
  const readFile = (path: string): string => {
    throw new Error(`Cannot read ${path}: a synthetic fleet needs no other file`);
  };
  const { fleet } = parseConfig(text, { file: "chains.yaml", env: {}, readFile });
  const targets = fleet.indexers.flatMap(({ endpoints }) =>
    endpoints.flatMap((endpoint) => endpoint.targets),
  );
  await writeHistory(stateFile, historiesOf(fleet.chains, targets));
}

function* historiesOf(
  chains: readonly Chain[],
  targets: readonly Target[],
): Iterable<readonly [slug: string, history: SavedHistory]> {
  const byChain = groupBy(targets, ({ chain }) => chain);
  for (const chain of chains) {
    yield [chain.slug, fullHistory(chain, byChain.get(chain.slug) ?? []).save()];
  }
}

function fullHistory(chain: Chain, targets: readonly Target[]): ChainHistory {
  const history = new ChainHistory();
  const nowMs = Date.now();
  const report = reportOf(chain, targets, nowMs);
  // Old rows are recorded only as often as the history keeps them.
  for (let agoMs = DAY_MS; agoMs > 0; agoMs -= agoMs > RECENT_MS ? COARSE_MS : FINE_MS) {
    history.record(report, nowMs - agoMs);
  }
  return history;
}

/** A report with every value known; which values does not matter for the memory of the history. */
function reportOf(chain: Chain, targets: readonly Target[], atMs: number): ChainReport {
  const block = Math.floor(atMs / BLOCK_MS);
  return sampleChainReport({
    chain,
    reference: { block_number: block, sources: targets.length, time: null },
    targets: targets.map((target) => sampleTargetReport({ target, block_number: block - 1, lag_seconds: 1 })),
    gaps: targets.slice(1).map((target) => sampleGap({ target, blocks: 1 })),
  });
}
