import { describe, expect, it } from "vitest";
import type { Report } from "../../../src/core/model/report.ts";
import { renderStatusPage } from "../../../src/views/page/status.ts";
import { defaultFleetReport } from "../default-fleet-report.ts";
import {
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleEndpoint,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

const OPTIONS = { nonce: "n0nce", version: "1.2.3" };
const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;

describe("renderStatusPage()", () => {
  it("starts with what matters most", () => {
    const page = renderStatusPage(defaultFleetReport(), OPTIONS);

    expect(page).toContain("<title>6 need attention · Synclag</title>");
    expect(textOf(page)).toContain(
      "6 of 140 targets need attention; worst: airdrops subgraph on Berachain, failed, 3 h 18 min behind; only subgraph (testing) is ok",
    );
    expect(textOf(page)).toContain("As of 03:12:44 UTC; last reply 2 s ago. 132 ok");
  });

  it("stays below 150 KB for the default fleet", () => {
    const page = renderStatusPage(defaultFleetReport(), OPTIONS);

    expect(Buffer.byteLength(page)).toBeLessThan(150 * 1024);
  });

  it("has a cell for every target, with the status as a word and a link to its chain's page", () => {
    const report = defaultFleetReport();
    const page = renderStatusPage(report, OPTIONS);

    expect(page.match(/<td><a class="/g)).toHaveLength(140);
    expect(page).toContain(
      '<td><a class="bad" href="/chains/base#lockup-subgraph-production" title="lockup subgraph on base: stalled, 41 min behind"><i aria-hidden="true">✕</i> stalled 41m</a></td>',
    );
  });

  it("orders the matrix by severity, and folds testnets", () => {
    const page = renderStatusPage(defaultFleetReport(), OPTIONS);
    const rows = [...page.matchAll(/<th scope="row"><a href="\/chains\/([^"]+)"/g)].map(([, slug]) => slug);

    expect(rows.slice(0, 3)).toEqual(["berachain", "morph", "base"]);
    expect(page.indexOf('<details class="testnets" id="testnets">')).toBeLessThan(
      page.indexOf('href="/chains/sepolia"'),
    );
    expect(rows.slice(-4)).toEqual(["sepolia", "arbitrum-sepolia", "base-sepolia", "optimism-sepolia"]);
  });

  it("opens the testnets if the filter leaves nothing else", () => {
    const page = renderStatusPage(defaultFleetReport(), { ...OPTIONS, query: "sepolia" });

    expect(page).toContain('<details class="testnets" id="testnets-alone" open>');
  });

  it("shows an incident once, and its targets less prominently", () => {
    const { key } = sampleTarget();
    const page = renderStatusPage(
      sampleReport({
        chains: [sampleChainReport({ targets: [sampleTargetReport({ status: "unreachable" })] })],
        incidents: [
          {
            scope: "host",
            subject: "a.example",
            sinceMs: NOW_MS - 420_000,
            detail: "It answers HTTP 503",
            targets: [key],
          },
        ],
      }),
      OPTIONS,
    );

    expect(textOf(page)).toContain(
      "host a.example: It answers HTTP 503 no other variant is ok for 7 min, since 03:05:44 UTC 1 target",
    );
    expect(page).not.toContain("Not ok, worst first");
    expect(page).toContain('class="bad muted"');
  });

  it("folds chains that are all ok once there are very many, and no others", () => {
    const chains = Array.from({ length: 250 }, (_, index) => {
      const slug = `c${index}`;
      const status = index % 2 === 0 ? "ok" : "stalled";
      const target = sampleTarget({ chain: slug });
      return sampleChainReport({
        chain: sampleChain({ slug, name: slug }),
        targets: [sampleTargetReport({ target, status })],
      });
    });
    const [shown = "", folded = ""] = renderStatusPage(sampleReport({ chains }), OPTIONS).split(
      '<details id="more-chains">',
    );

    expect(folded).toContain("125 more chains, all ok");
    expect(shown.match(/ stalled<\/a>/g)).toHaveLength(125);
    expect(folded).not.toContain("stalled</a>");
  });

  it("marks what is in maintenance, less prominently", () => {
    const targets = [sampleTargetReport({ status: "unreachable", maintenance: true })];
    const page = renderStatusPage(sampleReport({ chains: [sampleChainReport({ targets })] }), OPTIONS);

    expect(page).toContain('class="bad muted"');
    expect(textOf(page)).toContain("✕ down ⚒");
    expect(textOf(page)).toContain("⚒ in maintenance.");
    expect(textOf(page)).toContain("No action needed");
  });

  it("shows the most used endpoint of a budget, and what is not polled with the reason", () => {
    const text = textOf(renderStatusPage(defaultFleetReport(), OPTIONS));

    expect(text).toContain("2,805 of 3,000 a day 195 lockup/subgraph/testing/zksync, the most used of 46");
    expect(text).toContain("flow subgraph (production) : FLOW_API_KEY is not set");
  });

  it("shows which budgets are not used for now, and until when", () => {
    const budget = { name: "studio", limit: 100, per: "day", scope: "endpoint" } as const;
    const budgets = ["base", "form", "morph"].map((name) => ({
      ...{ budget, endpoint: sampleEndpoint({ key: `a/b/c/${name}` }), limit: 100, used: 1, remaining: 99 },
      ...(name === "base" ? {} : { backOff: `${name} until 14:05 UTC` }),
    }));

    const text = textOf(renderStatusPage(sampleReport({ budgets }), OPTIONS));

    expect(text).toContain("the most used of 3 form until 14:05 UTC, and 1 more endpoint");
  });

  it("narrows all but the sentence to the filter, and shows it in the box", () => {
    const page = renderStatusPage(defaultFleetReport(), { ...OPTIONS, query: "lockup base" });

    expect(textOf(page)).toContain("6 of 140 targets need attention");
    expect(textOf(page)).toContain("Showing 6 of 140 targets. Show all");
    expect(page).toContain('value="lockup base"');
    expect(page).not.toContain("Berachain</a></th>");
  });

  it("finds alternatives that the filter hides", () => {
    const page = renderStatusPage(defaultFleetReport(), { ...OPTIONS, query: "lockup base stalled" });

    expect(textOf(page)).toContain("Showing 1 of 140 targets");
    expect(textOf(page)).toContain("multichain is ok · last advanced");
  });

  it("says so when nothing matches the filter", () => {
    const page = renderStatusPage(defaultFleetReport(), { ...OPTIONS, query: "solana" });

    expect(textOf(page)).toContain("Showing 0 of 140 targets.");
    expect(page).not.toContain('class="matrix"');
  });

  it("escapes everything from outside", () => {
    const page = renderStatusPage(hostileReport(), { ...OPTIONS, query: HOSTILE });
    const whole = renderStatusPage(hostileReport(), OPTIONS);

    for (const one of [page, whole]) {
      expect(one.match(/<script/g)).toHaveLength(1);
      expect(one).not.toContain("<img");
      expect(one).not.toContain("javascript:");
    }
    expect(whole).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  });

  it("works under a policy that allows its nonce alone: no style attribute, no handler, nothing external", () => {
    const page = renderStatusPage(defaultFleetReport(), OPTIONS);

    expect(page.match(/ nonce="n0nce"/g)).toHaveLength(2);
    expect(page).not.toMatch(/<[^>]+ (style|on[a-z]+)=/);
    expect(page).not.toMatch(/<(script|img|iframe|link)[^>]+(src|href)="https?:/);
  });

  it("has no element id twice", () => {
    const page = renderStatusPage(defaultFleetReport(), OPTIONS);
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

    expect(new Set(ids).size).toBe(ids.length);
  });

  it("refreshes itself without JavaScript too", () => {
    expect(renderStatusPage(sampleReport(), OPTIONS)).toContain(
      '<noscript><meta http-equiv="refresh" content="15"></noscript>',
    );
  });

  it("shows a fleet that has not answered yet", () => {
    const silent = sampleTargetReport({ status: "unknown", lastSuccessMs: null, lagMs: null });
    const page = renderStatusPage(
      sampleReport({ chains: [sampleChainReport({ targets: [silent], reference: null })] }),
      OPTIONS,
    );

    expect(textOf(page)).toContain("No data yet: none of 1 target has answered");
    expect(textOf(page)).toContain("no reply yet");
  });
});

function hostileReport(): Report {
  const target = sampleTarget({ explorer: "javascript:alert(3)", protocol: HOSTILE, chain: HOSTILE });
  return sampleReport({
    chains: [
      sampleChainReport({
        chain: { ...sampleChainReport().chain, slug: HOSTILE, name: HOSTILE },
        targets: [sampleTargetReport({ target, status: "failed", detail: HOSTILE })],
      }),
    ],
    incidents: [
      {
        scope: "host",
        subject: HOSTILE,
        sinceMs: NOW_MS,
        detail: HOSTILE,
        targets: ["somewhere/else", HOSTILE],
      },
    ],
    skipped: [{ protocol: HOSTILE, variant: HOSTILE, tier: HOSTILE, why: HOSTILE }],
  });
}

function textOf(page: string): string {
  const body = page.slice(page.indexOf("<body>")).replace(/<script.*<\/script>/s, "");
  return body
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .replace(/ ([,;])/g, "$1");
}
