import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Links } from "../../src/core/model/links.ts";
import type { MaintenanceMatch } from "../../src/core/model/maintenance-window.ts";
import type { Incident, TargetReport } from "../../src/core/model/report.ts";
import { STATUSES } from "../../src/core/model/statuses.ts";
import type { PairState } from "../../src/core/report/pairs.ts";
import { openMaintenance } from "../../src/schedule/maintenance.ts";
import { renderIncidentAct, renderTargetAct } from "../../src/views/page/act.ts";
import { type Html, renderHtml } from "../../src/views/page/html.ts";
import { fleetYaml } from "../scenarios/statuses/fleets.ts";
import { PAGE } from "../support/outputs.ts";
import { configOf } from "../support/running-app.ts";
import { NOW_MS, sampleTarget, sampleTargetReport } from "./sample-report.ts";

const LINKS = {
  alertmanager: "https://alerts.example",
  grafana: "https://grafana.example/g",
  runbooks: "https://git.example/runbooks",
};
const TARGET: MaintenanceMatch = {
  protocol: "airdrops",
  variant: "subgraph",
  tier: "production",
  chain: "base",
};

/** How to act on a target, which is stalled by default. */
function act(target: Partial<TargetReport> = {}, links: Links = LINKS, pair: PairState = "degraded"): string {
  const since = "2026-12-01T03:00:00.000Z";
  const report = sampleTargetReport({
    target: sampleTarget({ ...TARGET }),
    ...{ status: "stalled", since, ...target },
  });
  return textOf(renderTargetAct(report, { id: "x", pair }, { ...PAGE, links }, NOW_MS));
}

function textOf(markup: Html | null): string {
  const html = markup === null ? "" : renderHtml(markup);
  return html.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}

function linkTo(html: string, host: string): URL {
  return new URL(new RegExp(`href="(https://${host}[^ ]*)" rel`).exec(html)?.[1] ?? "");
}

/** The labels that the lines of chains.yaml match. */
function matchesOf(html: string): readonly MaintenanceMatch[] {
  const written = [...html.matchAll(/match: \{ (.*?) \}/g)].map(([, labels]) => `{${labels}}`);
  return written.map((labels) => JSON.parse(labels.replaceAll(/(\w+):/g, '"$1":')) as MaintenanceMatch);
}

describe("renderTargetAct()", () => {
  it("links to the runbook of each status that has one, at the configured address or among our own pages", () => {
    const runbooks = STATUSES.map((status) => /runbooks\/(\w+)\.md/.exec(act({ status }))?.[1]);
    const missing = runbooks.filter((name) => name !== undefined && !existsSync(`docs/runbooks/${name}.md`));

    expect(missing).toEqual([]);
    expect(runbooks.indexOf(undefined)).toBe(STATUSES.indexOf("ok"));
    expect(act()).toContain('href="https://git.example/runbooks/SynclagIndexerStalled.md"');
    expect(act({}, PAGE.links)).toContain('href="/docs/runbooks/SynclagIndexerStalled.md"');
  });

  it("links to a silence in Alertmanager with the labels of the target's alerts, and has the command for it", () => {
    const { hash } = linkTo(act(), "alerts.example");

    expect(hash).toMatch(/^#\/silences\/new\?filter=/);
    expect(decodeURIComponent(hash.split("filter=")[1] ?? "")).toBe(
      '{protocol="airdrops",variant="subgraph",tier="production",chain="base"}',
    );
    expect(act()).toContain(
      "amtool silence add --alertmanager.url='https://alerts.example' --duration=2h --comment='known problem' protocol=airdrops variant=subgraph tier=production chain=base",
    );
  });

  it("links to the dashboards of the chain, from an hour before, and of the indexer", () => {
    const chain = linkTo(act(), "grafana.example");

    expect(chain.pathname).toBe("/g/d/synclag-chain");
    expect(Object.fromEntries(chain.searchParams)).toEqual({
      "var-protocol": "airdrops",
      "var-variant": "subgraph",
      "var-tier": "production",
      "var-chain": "base",
      from: String(Date.parse("2026-12-01T02:00:00Z")),
      to: String(NOW_MS),
    });
    expect(linkTo(act({ status: "rejected" }), "grafana").pathname).toBe("/g/d/synclag-endpoint");
  });

  it("has lines for chains.yaml that put the target in maintenance from now on", () => {
    const lines = /<pre[^>]*>(maintenance:[^<]*)<\/pre>/.exec(act())?.[1] ?? "";

    // A YAML file may contain JSON.
    const fleet = Object.entries(JSON.parse(fleetYaml(["subgraph"])) as object);
    const yaml = fleet.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join("\n");
    const { fleet: parsed, maintenance } = configOf(`${yaml}\n${lines}\n`);

    expect(parsed.indexers[0]?.endpoints[0]?.targets[0]).toMatchObject(TARGET);
    expect(maintenance.map(({ match }) => match)).toEqual([TARGET]);
    const id = sampleTargetReport({ target: sampleTarget({ ...TARGET }) });
    expect(openMaintenance(maintenance, NOW_MS)(id)).not.toBeNull();
    expect(openMaintenance(maintenance, NOW_MS + 2 * 3_600_000)(id)).toBeNull();
  });

  it("has the labels of the alert of each status, and no link without a configured address", () => {
    const { chain, ...indexer } = TARGET;

    expect(matchesOf(act())).toEqual([TARGET]);
    expect(matchesOf(act({ status: "rejected" }))).toEqual([indexer]);
    expect(matchesOf(act({ status: "chain_halted" }))).toEqual([{ chain }]);
    expect(matchesOf(act({}, LINKS, "down"))).toEqual([{ protocol: indexer.protocol, chain }]);
    expect(act({}, PAGE.links)).not.toContain('href="http');
  });

  it("names the alert in the silence if other alerts have its labels, and a placeholder without an address", () => {
    const commandOf = (status: TargetReport["status"], links: Links) =>
      />(amtool[^<]*)</.exec(act({ status }, links))?.[1];
    const of = "amtool silence add --alertmanager.url=";
    const options = "--duration=2h --comment='known problem'";

    expect(commandOf("rejected", LINKS)).toBe(
      `${of}'https://alerts.example' ${options} 'alertname=~SynclagKeyRejected' protocol=airdrops variant=subgraph tier=production`,
    );
    expect(commandOf("chain_halted", PAGE.links)).toBe(
      `${of}'http://ALERTMANAGER:9093' ${options} 'alertname=~SynclagChainHalted' chain=base`,
    );
    expect(decodeURIComponent(linkTo(act({ status: "rejected" }), "alerts.example").hash)).toContain(
      '{alertname=~"SynclagKeyRejected",protocol=',
    );
  });
});

describe("renderIncidentAct()", () => {
  it("covers each indexer of a host or an endpoint, or the chain, and does not exist for our own network", () => {
    const incident: Incident = {
      kind: "cause",
      severity: "warning",
      scope: "host",
      subject: "h.test",
      since: "",
      detail: "",
      targets: [],
    };
    const matches = (some: Partial<Incident>) =>
      matchesOf(textOf(renderIncidentAct({ ...incident, ...some }, PAGE, NOW_MS)));
    const targets = ["lockup/a/production/base", "lockup/a/production/gnosis", "flow/b/testing/base"];
    const a = { protocol: "lockup", variant: "a", tier: "production" };

    expect(matches({ targets })).toEqual([a, { protocol: "flow", variant: "b", tier: "testing" }]);
    expect(matches({ scope: "chain", subject: "base", targets })).toEqual([{ chain: "base" }]);
    expect(matches({ scope: "network", targets })).toEqual([]);
    // What fails for another reason is not silenced with it.
    expect(textOf(renderIncidentAct({ ...incident, targets }, PAGE, NOW_MS))).toContain(
      "'alertname=~SynclagSharedCause|SynclagKeyRejected' protocol=flow variant=b tier=testing",
    );
  });
});
