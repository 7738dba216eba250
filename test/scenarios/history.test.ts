import { describe, expect, it } from "vitest";
import { openHistoryStore } from "../../src/daemon/state/history-store.ts";
import { historyJson, historyTargets } from "../../src/views/api/history.ts";
import { recordLog } from "../support/log-recorder.ts";
import { ScriptedFleet } from "../support/scripted-fleet.ts";

const CHAINS_YAML = `
version: 1
chains: { base: { id: 8453, block_time: 2s, rpc: ["https://node.test/"] } }
protocols:
  airdrops:
    - { variant: multichain, url: "https://indexer.test/", dialect: graph, schedule: "*/15 * * * * *", chains: [base] }
    - { variant: subgraph, url: "https://other.test/", dialect: graph, schedule: "*/15 * * * * *", chains: [base] }
`;

describe("the history behind the plots", () => {
  it("has one sample a minute, whose heights, lags and time are of one moment", async () => {
    const play = new ScriptedFleet(CHAINS_YAML);
    const store = await openHistoryStore({
      stateFile: null,
      logger: recordLog().logger,
      nowMs: () => play.nowMs,
    });
    const began = play.nowMs / 1_000;
    const polled = [];

    for (const [index, blocks] of [0, 4, 10, 2, 0, 0].entries()) {
      const head = 1_000_000 + index * 8;
      play.poll("rpc", { block: head, timestampSec: play.nowMs / 1_000 });
      play.poll("subgraph", head).poll("multichain", head - blocks);
      await store.record(play.report());
      polled.push({ time: play.nowMs / 1_000, lag: (play.target("multichain").lagMs ?? 0) / 1_000 });
      play.wait("16s");
    }
    const wanted = historyTargets(play.report(), "airdrops", "base");
    const past = store.past("base", wanted?.keys ?? [], {
      fromMs: began * 1_000,
      toMs: play.nowMs,
      points: 1_000,
    });
    const history = historyJson("airdrops", play.chain(), { past, nowMs: play.nowMs });

    const target = history.targets.find(({ variant }) => variant === "multichain");
    const behindReference = history.reference_block_number.map(
      (head, index) => (head ?? 0) - (target?.block_number[index] ?? 0),
    );
    const worst = polled.toSorted((a, b) => b.lag - a.lag)[0];
    expect(worst?.lag).toBe(20);
    expect(history.timestamps).toEqual([worst?.time, began + 64]);
    expect(target?.lag_seconds[0]).toBe(worst?.lag);
    expect(target?.lag_seconds).toEqual(behindReference.map((blocks) => blocks * 2));
  });
});
