import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { eventOf } from "../../src/core/events/event.ts";
import { EventLog } from "../../src/core/events/event-log.ts";
import type { EndpointRecord } from "../../src/core/model/exchange.ts";
import type { Plan } from "../../src/core/model/plan.ts";
import type { ChainReport, Report } from "../../src/core/model/report.ts";
import { STATUSES } from "../../src/core/model/statuses.ts";
import { isoTime } from "../../src/core/model/text.ts";
import { renderChainPage } from "../../src/views/page/chain.ts";
import { renderDocumentPage } from "../../src/views/page/document.ts";
import { renderIncidentsPage } from "../../src/views/page/incidents.ts";
import { statusPath } from "../../src/views/page/links.ts";
import { renderPlanPage } from "../../src/views/page/plan.ts";
import type { PageOptions } from "../../src/views/page/shell.ts";
import { renderStatusPage } from "../../src/views/page/status.ts";
import { PAGE, textOf } from "../support/outputs.ts";
import { fleetReport } from "./fleet-report.ts";
import { chainsOf } from "./report-story.ts";
import {
  NOW_MS,
  sampleBudget,
  sampleChain,
  sampleChainReport,
  sampleParity,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "./sample-report.ts";

// What the pages say is in test/goldens and test/fixtures/reports.

const MINUTE = { from: isoTime(NOW_MS - 60_000), to: isoTime(NOW_MS) };
const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;

describe("every page", () => {
  const pages: readonly (readonly [string, string])[] = [
    ["the status page", renderStatusPage(hostileReport(), PAGE)],
    ["the filtered status page", renderStatusPage(hostileReport(), filteredBy(HOSTILE))],
    ["the page of a chain", renderChainPage(hostileReport(), HOSTILE, [recordOf(HOSTILE)], PAGE) ?? ""],
    ["a document", renderDocumentPage(`# A\n\n${HOSTILE}\n\n[x](javascript:alert(1)) ${HOSTILE}`, PAGE)],
  ];

  it("shows text from outside as text, not as HTML", () => {
    const found = pages.map(([name, page]) => ({
      name,
      scripts: page.match(/<script(?! src="| type="module" src=")/g) ?? [],
      images: page.match(/<img/g) ?? [],
      links: page.match(/href="javascript:/g) ?? [],
      asText: page.includes("&lt;script&gt;alert(1)&lt;/script&gt;"),
    }));

    expect(found).toEqual(
      pages.map(([name]) => ({ name, scripts: [], images: [], links: [], asText: true })),
    );
  });

  it("reloads itself without script", () => {
    const incidents = renderIncidentsPage(fleetReport(), { ...MINUTE, limit: 10 }, new Map(), PAGE);

    expect(renderStatusPage(fleetReport(), PAGE)).toContain('http-equiv="refresh"');
    expect(incidents).toContain('http-equiv="refresh"');
  });

  it("works under a policy that allows only our own files, and has no duplicate id", () => {
    for (const page of [
      renderStatusPage(fleetReport(), PAGE),
      renderChainPage(fleetReport(), "base", [], PAGE) ?? "",
    ]) {
      const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(page).not.toMatch(/<style|<[^>]+ (style|on[a-z]+)=/);
      expect(page).not.toMatch(/<(script|img|iframe|link)[^>]+(src|href)="https?:/);
      expect(ids).toEqual([...new Set(ids)]);
    }
  });
});

describe("renderIncidentsPage()", () => {
  it("has one row for targets that changed together, and shows only what the filter finds", () => {
    const events = new EventLog();
    const change = { time: isoTime(NOW_MS - 30_000), kind: "status", from: "ok", to: "throttled" } as const;
    for (let index = 0; index < 26; index += 1) {
      events.add(eventOf({ ...change, subject: `lockup/subgraph/production/chain-${index}` }));
    }
    events.add(eventOf({ ...change, to: "syncing", subject: "airdrops/subgraph/production/base" }));
    const rowsOf = (q: string) => {
      const view = { q, sort: "", range: "" };
      const page = renderIncidentsPage(fleetReport(), { ...MINUTE, limit: 10 }, new Map(), {
        ...PAGE,
        events,
        view,
      });
      return [...page.matchAll(/<ul class="rows">(.*)<\/ul>/gs)].flatMap(([, rows = ""]) => {
        return [...rows.matchAll(/<b>(.*?)<\/b> \w+ → \w+<\/summary>|^<li><span.*?<b>(.*?)<\/b>/gm)];
      });
    };

    expect(rowsOf("").map(([, many, one]) => many ?? one?.replaceAll(/<[^>]*>/g, ""))).toEqual([
      "26 targets",
      "airdrops/base/subgraph",
    ]);
    expect(rowsOf("Throttled chain-25")).toHaveLength(1);
    expect(rowsOf("airdrops chain-25")).toHaveLength(0);
  });

  it.each([
    [90, "and 3 more chains"],
    [120, "and more"],
  ])("counts the chains of an incident of %i targets only if all targets were recorded", (count, more) => {
    const targets = Array.from({ length: count }, (_, i) => `lockup/v/production/c${Math.floor(i / 10)}`);
    const events = new EventLog();
    const incident = { time: isoTime(NOW_MS - 60_000), kind: "incident", subject: "network all" } as const;
    events.add(eventOf({ ...incident, to: "began", targets, target_count: count }));

    const view = { q: "", sort: "", range: "7d" };
    const asked = { ...MINUTE, limit: 10 };
    const page = renderIncidentsPage(fleetReport(), asked, new Map(), { ...PAGE, events, view });

    expect(page).toContain('<a href="/chains/c0?range=7d&amp;from=');
    expect(textOf(page)).toContain(`Plots: c0 c1 c2 c3 c4 c5 ${more}`);
  });

  it("shows a continuing incident as it is now, not as it began", () => {
    const events = new EventLog();
    const [since, key] = [isoTime(NOW_MS - 60_000), "lockup/subgraph/production/base"];
    const detail = "1 of 9 targets lag or have stopped";
    const began = { time: since, kind: "incident", subject: "endpoint lockup/subgraph/production" } as const;
    events.add(eventOf({ ...began, to: "began", detail, targets: [key], target_count: 1 }));
    const now = {
      scope: "endpoint",
      subject: "lockup/subgraph/production",
      since,
      targets: [key, key],
    } as const;
    const incidents = [
      { ...now, kind: "cause", severity: "warning", detail: "2 of 9 targets lag or have stopped" } as const,
    ];

    const asked = { ...MINUTE, limit: 10 };
    const page = renderIncidentsPage({ ...fleetReport(), incidents }, asked, new Map(), { ...PAGE, events });

    expect(textOf(page)).toContain("2 of 9 targets lag or have stopped");
    expect(textOf(page)).toContain("2 targets");
  });

  it("shows all events of an instant on one page, so that the next page can begin before them", () => {
    const at = (agoMs: number, subject: string, to: string) =>
      eventOf({ time: isoTime(NOW_MS - agoMs), kind: "status", subject, from: "ok", to });
    const outage = [
      ["a", "stalled"],
      ["b", "lagging"],
      ["c", "failed"],
    ].map(([variant, to = ""]) => at(1_000, `lockup/${variant}/production/base`, to));
    const events = new EventLog();
    for (const event of [at(2_000, "lockup/older/production/base", "diverged"), ...outage]) {
      events.add(event);
    }
    const read = (to: string) =>
      renderIncidentsPage(fleetReport(), { ...MINUTE, to, limit: 2 }, new Map(), { ...PAGE, events });

    const page = read(MINUTE.to);
    const [, to = ""] = /to=([^&]+)&amp;range=24h">Older</.exec(page) ?? [];

    expect(page.match(/#lockup-[abc]-production/g)).toHaveLength(3);
    expect(read(decodeURIComponent(to)).match(/#lockup-\w+-production/g)).toEqual([
      "#lockup-older-production",
    ]);
  });
});

describe("renderStatusPage()", () => {
  it("sorts the fleet by the chosen column, and keeps the filter", () => {
    const pageOf = (sort: string) => renderStatusPage(fleetReport(), filteredBy("lockup", sort));
    const mainnets = (page: string) => page.split('id="box-mainnets"')[1]?.split("</table>")[0] ?? "";
    const chainsOf = (sort: string) =>
      [...mainnets(pageOf(sort)).matchAll(/<th scope="row"><a [^>]*>([^<]+)/g)].map(([, name]) => name);
    const byName = chainsOf("chain");

    expect(byName.length).toBeGreaterThan(2);
    expect(byName).toEqual(byName.toSorted());
    expect(chainsOf("lockup/subgraph/production")[0]).toBe("Morph");
    expect(chainsOf("nothing/that/is")).toEqual(chainsOf(""));
    expect(pageOf("")).toContain('<a href="/?q=lockup&amp;sort=lockup%2Fsubgraph%2Fproduction#fleet"');
    expect(pageOf("chain")).toMatch(/aria-sort="ascending">\s*<a href="\/\?q=lockup#fleet"/);
    expect(pageOf("chain")).toContain('<input type="hidden" name="sort" value="chain">');
    expect(renderStatusPage(fleetReport(), { ...PAGE, view: { q: "", sort: "", range: "7d" } })).toContain(
      '<input type="hidden" name="range" value="7d">',
    );
  });

  it("filters the plan page, budgets included", () => {
    const budgets = ["lockup", "airdrops"].map((budget) => sampleBudget({ budget, endpoint: null }));
    const report = { ...fleetReport(), budgets };
    const pages = ["", "lockup", "solana"].map((query) =>
      renderPlanPage(report, planOf("lockup", "airdrops"), filteredBy(query)),
    );

    expect(
      pages.map((page) => ["lockup", "airdrops"].filter((name) => page.includes(`${name} used`))),
    ).toEqual([["lockup", "airdrops"], ["lockup"], []]);
    expect(pages[1]).toContain('<form action="/plan"');
    expect(pages[1]).toContain("1 endpoint, 24 requests a day");
  });

  it("has a cell for every target: its lag or a word for its status, and a link to its card on the chain's page", () => {
    const report = fleetReport();
    const page = renderStatusPage(report, PAGE);

    const cells = [...page.matchAll(/<td><a class="\w+(?: muted)?" href="\/chains\/([^#]+)#([^"]+)"/g)];
    const cards = report.chains.flatMap((chain) =>
      [
        ...(renderChainPage(report, chain.slug, [], PAGE) ?? "").matchAll(
          /<details class="line".*?<div id="([^"]+)"/gs,
        ),
      ].map(([, id]) => `${chain.slug} ${id}`),
    );
    expect(cells.map(([, chain, id]) => `${chain} ${id}`).sort()).toEqual(cards.sort());
    expect(cells).toHaveLength(48);
    expect(page).toContain(
      '<td><a class="warn" href="/chains/base#lockup-subgraph-production" title="lockup/base/subgraph, stalled: Has not advanced for 41 min while Base produced 1,230 blocks"><i aria-hidden="true">▲</i>\u00A041m</a></td>',
    );
  });

  it("keeps the filter in its field, opens the testnets that it finds, and has no table without a target", () => {
    const filtered = (query: string) => renderStatusPage(fleetReport(), filteredBy(query));

    expect(filtered("lockup base")).toContain('value="lockup base"');
    expect(filtered("sepolia")).toContain('<details id="testnets" class="testnets" open>');
    expect(filtered("solana")).not.toContain('class="matrix"');
  });

  it("outlines only the targets that an incident explains", () => {
    const isOutlined = (targets: string, incidents: Report["incidents"] = []) =>
      renderStatusPage(sampleReport({ chains: chainsOf(targets), incidents }), PAGE).includes(
        'warn muted" href',
      );
    const incident = {
      kind: "cause",
      severity: "warning",
      scope: "host",
      subject: "a.example",
      since: isoTime(NOW_MS),
      detail: "It is down",
    } as const;
    const targets = [sampleTarget().key];
    const others = ", subgraph ok";

    expect([
      isOutlined(`Base: multichain unreachable${others}`, [{ ...incident, targets }]),
      isOutlined(`Base: multichain unreachable maintenance=true${others}`),
      isOutlined(`Base: multichain unreachable${others}`),
    ]).toEqual([true, false, false]);
  });

  it("tints a target that is ok but a minute behind, and explains each look in the legend", () => {
    const page = renderStatusPage(
      sampleReport({ chains: chainsOf("Base: multichain ok 0s, subgraph ok 2m, third lagging 20m") }),
      PAGE,
    );
    const looks = [...page.matchAll(/<td><a class="([^"]+)"/g)].map(([, look]) => look);
    const [, legend = ""] = /<ul class="legend">(.*?)<\/ul>/s.exec(page) ?? [];

    expect(looks).toEqual(["ok", "ok late", "warn"]);
    expect([...legend.matchAll(/<b class="([^"]+)"/g)].map(([, look]) => look)).toEqual(looks);
  });

  it("has a separate table for a protocol of few chains", () => {
    const many = ["Base", "Gnosis", "Mode"].map((name) => `${name}: multichain ok`).join("; ");
    const page = renderStatusPage(sampleReport({ chains: chainsOf(`${many}, vaults/multichain ok`) }), PAGE);

    expect([...page.matchAll(/aria-label="(Mainnets[^"]*)"/g)].map(([, name]) => name)).toEqual([
      "Mainnets",
      "Mainnets of vaults",
    ]);
    expect(page).not.toContain('<td class="none"');
  });
});

describe("renderChainPage()", () => {
  it("links only to safe addresses, and to the explanation of each status", () => {
    const target = sampleTarget({
      explorer: "https://explorer.example/1",
      playground: "javascript:alert(1)",
    });
    const page = chainPage({ targets: [sampleTargetReport({ target })] });

    expect(page).toContain('<a href="https://explorer.example/1" rel="noopener noreferrer">Explorer</a>');
    expect(page).not.toContain("Playground");
    expect(page).toContain('href="/docs/statuses#ok"');
  });
});

describe("renderDocumentPage()", () => {
  it("has a heading for each status link, runs only the header's script and does not reload itself", () => {
    const page = renderDocumentPage(readFileSync("docs/statuses.md", "utf8"), PAGE);
    const anchors = STATUSES.map((status) => statusPath(status).split("#")[1]);

    expect(anchors.filter((anchor) => !page.includes(`<h2 id="${anchor}">`))).toEqual([]);
    expect(page).toContain("<title>Statuses · Synclag</title>");
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(page).not.toContain("http-equiv");
  });

  it("renders all Markdown that our documents use", () => {
    const cases: readonly (readonly [string, string])[] = [
      ["## What it is, and why", '<h2 id="what-it-is-and-why">What it is, and why</h2>'],
      ["## `not_found`", '<h2 id="not_found"><code>not_found</code></h2>'],
      ["[see](#ok)", '<a href="#ok">see</a>'],
      ["[a](https://a.example)", '<a href="https://a.example">a</a>'],
      ["[a](dialects.md)", "<p>a</p>"],
      ["[a](runbooks/SynclagDown.md)", '<a href="/docs/runbooks/SynclagDown.md">a</a>'],
      ["[a](SynclagDown.md)", '<a href="/docs/runbooks/SynclagDown.md">a</a>'],
      ["[a](Silencing.md)", '<a href="/docs/runbooks/Silencing.md">a</a>'],
      ["[a](../statuses.md#not_found)", '<a href="/docs/statuses#not_found">a</a>'],
      ["| a |\n|---|\n| x \\| y |", "<td>x | y</td>"],
      ["```sh\na < b\n\n# c\n```", "a &lt; b\n\n# c</pre>"],
    ];

    expect(cases.filter(([text, markup]) => !renderDocumentPage(text, PAGE).includes(markup))).toEqual([]);
  });
});

function filteredBy(q: string, sort = ""): PageOptions {
  return { ...PAGE, view: { q, sort, range: "" } };
}

function hostileReport(): Report {
  const target = sampleTarget({ explorer: "javascript:alert(3)", protocol: HOSTILE, chain: HOSTILE });
  return sampleReport({
    chains: [
      sampleChainReport({
        chain: sampleChain({ slug: HOSTILE, name: HOSTILE }),
        dispute: HOSTILE,
        targets: [
          sampleTargetReport({ target, status: "failed", detail: HOSTILE, deployment: HOSTILE, up: false }),
        ],
        parity: [
          sampleParity({ target, rival: sampleTarget({ ...target, variant: HOSTILE }), detail: HOSTILE }),
        ],
      }),
    ],
    incidents: [
      {
        kind: "cause",
        severity: "warning",
        scope: "host",
        subject: HOSTILE,
        since: isoTime(NOW_MS),
        detail: HOSTILE,
        targets: ["a/b/c/d", HOSTILE],
      },
    ],
    skipped: [{ protocol: HOSTILE, variant: HOSTILE, tier: HOSTILE, why: HOSTILE }],
  });
}

/** An endpoint of the hostile target, with one reply. */
function recordOf(text: string): EndpointRecord {
  const times = { sentAtMs: NOW_MS - 2_000, receivedAtMs: NOW_MS - 1_500, asked: text };
  const targets = [sampleTarget().key, sampleTarget({ protocol: HOSTILE, chain: HOSTILE }).key];
  return {
    key: "lockup/multichain/production/all",
    kind: "indexer",
    targets,
    replies: [{ ...times, httpStatus: 200, outcome: "usable", text }],
    failures: [{ ...times, httpStatus: null, outcome: "timeout", text }],
    curl: `curl '${text}'`,
  };
}

function chainPage(chain: Partial<ChainReport>): string {
  return renderChainPage(sampleReport({ chains: [sampleChainReport(chain)] }), "base", [], PAGE) ?? "";
}

/** A plan of one indexer for each protocol, with a budget of its own. */
function planOf(...protocols: readonly string[]): Plan {
  const indexers = protocols.map((protocol) => ({
    ...{ protocol, variant: "subgraph", tier: "production", endpoints: 1, schedule: "0 0 * * * *" },
    ...{
      names: ["all"],
      interval_seconds: 3_600,
      requests_per_day: 24,
      budget: protocol,
      share: 0.5,
      probes: [],
    },
  }));
  const budgets = protocols.map((budget) => ({
    ...({ budget, limit: 48, per: "day", scope: "shared" } as const),
    ...{ endpoints: 1, requests: 24, share: 0.5 },
  }));
  return {
    ...{ indexers, budgets, totals: { endpoints: 2, requests_per_day: 48 }, skipped: [], parity: [] },
  };
}
