import { ChainHistory } from "../../../src/core/history/history.ts";
import { sampleChainReport, sampleGap, sampleTarget, sampleTargetReport } from "../../views/sample-report.ts";

export const START_MS = Date.UTC(2026, 11, 1);
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const KEY = sampleTarget().key;
export const SUBGRAPH = sampleTarget({ variant: "subgraph" });

/** All of a history until then, each point. */
export function whole(toMs: number) {
  return { fromMs: 0, toMs, points: Number.POSITIVE_INFINITY };
}

/** A history with a sample each 15 s. */
export function recorded(fromMs: number, toMs: number, lagAt?: (nowMs: number) => number): ChainHistory {
  const history = new ChainHistory();
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 15_000) {
    history.record(reportAt(nowMs, lagAt?.(nowMs)), nowMs);
  }
  return history;
}

/** A target and a subgraph two blocks behind the reference. */
export function reportAt(nowMs: number, lagMs = 4_000) {
  const block = blockAt(nowMs);
  return sampleChainReport({
    reference: { block, sources: 3, members: [], opposed: [], timeMs: nowMs },
    targets: [
      sampleTargetReport({ block: block - 2, lagMs }),
      sampleTargetReport({ target: SUBGRAPH, block: block - 2, lagMs }),
    ],
    gaps: [sampleGap({ target: SUBGRAPH, blocks: 1.5, uncertaintyBlocks: 0.44 })],
  });
}

export function blockAt(nowMs: number): number {
  return 38_000_000 + Math.floor((nowMs - START_MS) / 2_000);
}
