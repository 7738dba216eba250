import { describe, expect, it } from "vitest";
import type { EndpointRecord } from "../../../src/core/model/exchange.ts";
import type { ChainReport } from "../../../src/core/model/report.ts";
import { type ChainPageOptions, renderChainPage } from "../../../src/views/page/chain.ts";
import { defaultFleetReport } from "../default-fleet-report.ts";
import {
  MINUTE_MS,
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleGap,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

const OPTIONS: ChainPageOptions = {
  nonce: "n0nce",
  version: "1.2.3",
  past: { timesMs: [], reference: [], targets: {} },
  endpoints: [],
  plots: { script: "/assets/plots.js", styles: "/assets/plots.css" },
};

describe("renderChainPage()", () => {
  it("shows every target of the chain, each at the anchor that the matrix links to", () => {
    const page = renderChainPage(defaultFleetReport(), "base", OPTIONS) ?? "";

    expect(page).toContain("<title>Base · Synclag</title>");
    expect([...page.matchAll(/<li class="card [a-z]+" id="([^"]+)"/g)].map(([, id]) => id)).toEqual([
      "airdrops-multichain-production",
      "airdrops-subgraph-production",
      "airdrops-subgraph-testing",
      "lockup-subgraph-production",
      "lockup-multichain-production",
      "lockup-subgraph-testing",
    ]);
  });

  it("summarizes only its own targets", () => {
    expect(renderChainPage(defaultFleetReport(), "base", OPTIONS)).toContain(
      "Base: 1 of 6 targets needs attention: lockup subgraph, stalled, 41 min behind",
    );
  });

  it("shows the reference head, its sources and the block interval", () => {
    const text = textOf({});

    expect(text).toContain("Chain ID 8453 Reference head 38,000,002, 3 sources, produced 2 s ago");
    expect(text).toContain("Block interval 2.00 s measured, 2 s configured");
    expect(text).toContain("lagging 10 min, critical 30 min, stalled 10 min");
  });

  it("shows who agrees with whom: the members beside those that are excluded, with the reason", () => {
    const text = textOf({
      standings: [
        {
          source: "lockup/multichain/production/base",
          host: "a.example",
          block: 38_000_002,
          stands: "agrees",
          detail: null,
        },
        {
          source: "lockup/subgraph/testing/base",
          host: "b.example",
          block: 38_000_562,
          stands: "excluded",
          detail: "claims block 38,000,562, 560 beyond what multichain and an RPC node agree on",
        },
        {
          source: "rpc/base/node.example/1f2e",
          host: "node.example",
          block: 38_000_001,
          stands: "agrees",
          detail: null,
        },
        {
          source: "airdrops/subgraph/production/base",
          host: "b.example",
          block: 37_990_002,
          stands: "apart",
          detail: null,
        },
      ],
    });

    expect(text).toContain(
      "Who agrees on the head Agree on the head 2 sources lockup multichain : 38,000,002 a.example RPC node : 38,000,001 node.example Excluded 1 source lockup subgraph (testing) : 38,000,562, claims block 38,000,562, 560 beyond what multichain and an RPC node agree on b.example Apart from it 1 source airdrops subgraph : 37,990,002, 10,000 blocks below it b.example",
    );
    expect(textOf({})).not.toContain("Who agrees");
  });

  it("says who contradicts whom where there is no reference for that", () => {
    const text = textOf({
      reference: null,
      dispute: "multichain (block 2) and subgraph (block 9) contradict each other, 7 blocks apart",
      standings: [
        {
          source: "lockup/multichain/production/base",
          host: null,
          block: 2,
          stands: "disputed",
          detail: "side 1",
        },
        {
          source: "lockup/subgraph/production/base",
          host: null,
          block: 9,
          stands: "disputed",
          detail: "side 2",
        },
      ],
    });

    expect(text).toContain("none: sources contradict each other, so the lag is unknown");
    expect(text).toContain(
      "No reference: multichain (block 2) and subgraph (block 9) contradict each other, 7 blocks apart Contradict each other 2 sources lockup multichain : 2, side 1 lockup subgraph : 9, side 2",
    );
  });

  it("shows what is unknown without a reference", () => {
    const text = textOf({
      chain: sampleChain({ testnet: true, blockTimeMs: null }),
      reference: null,
      blockIntervalMs: null,
      targets: [sampleTargetReport({ lagMs: null, lagBlocks: null, block: null, lastAdvanceMs: null })],
    });

    expect(text).toContain("8453 (testnet)");
    expect(text).toContain("none: too few sources agree, so lag is measured against the clock");
    expect(text).toContain("Block interval not measured yet");
    expect(text).toContain("Lag unknown Height unknown");
    expect(text).toContain("Last advance never");
  });

  it("shows a gap with its uncertainty and direction", () => {
    const target = sampleTarget({ variant: "subgraph" });
    const targets = [sampleTargetReport({ target })];

    expect(textOf({ targets, gaps: [sampleGap({ target })] })).toContain(
      "Gap to multichain 1,240 ± 0.5 blocks, 41 min behind",
    );
    expect(textOf({ targets, gaps: [sampleGap({ target, blocks: -3, seconds: null })] })).toContain(
      "Gap to multichain 3 ± 0.5 blocks ahead",
    );
  });

  it("shows the reason, steps back, indexing errors and deployment changes where there are any", () => {
    const text = textOf({
      targets: [
        sampleTargetReport({
          status: "failed",
          reason: "indexing_error",
          detail: "handler <aborted>",
          lagMs: 41 * 60_000,
          lagExtrapolated: true,
          indexingErrors: true,
          regressions: { reorg: 2, reindex: 1 },
          deploymentChanges: 1,
        }),
      ],
    });

    expect(text).toContain("handler &lt;aborted&gt; (indexing_error)");
    expect(text).toContain("Lag about 41 min, 2 blocks");
    expect(text).toContain("Indexing errors reported by the indexer");
    expect(text).toContain("Steps back 2 reorgs, 1 re-indexed");
    expect(text).toContain("QmSample, changed 1 time");
    expect(textOf({})).not.toContain("Steps back");
  });

  it("shows the incidents that the chain is part of", () => {
    const incident = {
      scope: "host",
      subject: "a.example",
      sinceMs: NOW_MS,
      detail: "It answers HTTP 503",
      targets: [sampleTarget().key, "airdrops/multichain/production/gnosis"],
    } as const;
    const page = renderChainPage(sampleReport({ incidents: [incident] }), "base", OPTIONS) ?? "";

    expect(page).toContain("It answers HTTP 503");
    expect(page).not.toContain("production/gnosis");
  });

  it("links only to what a click can safely open", () => {
    const target = sampleTarget({
      explorer: "https://explorer.example/1",
      playground: "javascript:alert(1)",
    });
    const page = render({ targets: [sampleTargetReport({ target })] });

    expect(page).toContain('<a href="https://explorer.example/1" rel="noopener noreferrer">Explorer</a>');
    expect(page).not.toContain("Playground");
  });

  it("shows the recent replies of an endpoint and the curl command", () => {
    const page = renderChainPage(sampleReport(), "base", { ...OPTIONS, endpoints: [sampleRecord()] }) ?? "";

    expect(page).toContain("curl -sS &#39;https://a.example&#39; -H &quot;Authorization: Bearer $KEY&quot;");
    expect(page).toContain("<b>timeout</b>");
    expect(page).toContain("<q>{&quot;data&quot;:1}</q>");
    expect(page).toContain("HTTP 200");
  });

  it("opens the recent replies of a target that is not up", () => {
    const endpoints = [sampleRecord()];
    const chains = [sampleChainReport({ targets: [sampleTargetReport({ up: false })] })];
    const [well, ill] = [sampleReport(), sampleReport({ chains })].map((report) =>
      renderChainPage(report, "base", { ...OPTIONS, endpoints }),
    );

    expect(well).toContain('<details id="exchanges-lockup-multichain-production"><summary>');
    expect(ill).toContain('<details id="exchanges-lockup-multichain-production" open><summary>');
  });

  it("escapes what an upstream replied", () => {
    const record = sampleRecord("<img src=x onerror=alert(1)>");

    const page = renderChainPage(sampleReport(), "base", { ...OPTIONS, endpoints: [record] });

    expect(page).not.toContain("<img");
    expect(page).toContain("&lt;img src=x onerror=alert(1)&gt;");
  });

  it("draws the lag of the last hours up to now, and says when it was worst", () => {
    const timesMs = [NOW_MS - 120 * MINUTE_MS, NOW_MS - 60 * MINUTE_MS];
    const lagMs = [4_000, 41 * MINUTE_MS];
    const none = [null, null];
    const past = {
      timesMs,
      reference: none,
      targets: { [sampleTarget().key]: { block: none, lagMs, gapBlocks: none, uncertaintyBlocks: none } },
    };

    const page = renderChainPage(sampleReport(), "base", { ...OPTIONS, past });

    expect(page).toContain("at most 41 min behind, at 02:12:44 UTC");
    expect(page).toMatch(/<path d="M0 [\d.]+L120 [\d.]+L240 [\d.]+"\/>/);
  });

  it("links each status to its explanation", () => {
    expect(render({})).toContain('href="/docs/statuses#ok"');
  });

  it("shows the recent replies of RPC nodes", () => {
    const node = { ...sampleRecord(), key: "rpc/base/node.example/1f2e", kind: "rpc", targets: [] } as const;

    expect(renderChainPage(sampleReport(), "base", { ...OPTIONS, endpoints: [node] })).toContain(
      "<h3>RPC node node.example</h3>",
    );
  });

  it("is null for a chain that does not exist", () => {
    expect(renderChainPage(sampleReport(), "solana", OPTIONS)).toBeNull();
  });
});

function sampleRecord(text = '{"data":1}'): EndpointRecord {
  const times = { sentAtMs: NOW_MS - 2_000, receivedAtMs: NOW_MS - 1_500, asked: "{}" };
  return {
    key: "lockup/multichain/production/all",
    kind: "indexer",
    targets: [sampleTarget().key],
    replies: [{ ...times, httpStatus: 200, outcome: "usable", text }],
    failures: [{ ...times, httpStatus: null, outcome: "timeout", text: "no answer within 10 s" }],
    parity: [],
    curl: "curl -sS 'https://a.example' -H \"Authorization: Bearer $KEY\"",
  };
}

function render(chain: Partial<ChainReport>): string {
  return renderChainPage(sampleReport({ chains: [sampleChainReport(chain)] }), "base", OPTIONS) ?? "";
}

function textOf(chain: Partial<ChainReport>): string {
  const main = render(chain).split("<main>")[1] ?? "";
  return main
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .replace(/ ,/g, ",");
}
