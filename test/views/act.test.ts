import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Links } from "../../src/core/model/links.ts";
import type { MaintenanceMatch } from "../../src/core/model/maintenance-window.ts";
import { type Incident, STATUSES, type Status } from "../../src/core/model/report.ts";
import { openMaintenance } from "../../src/schedule/maintenance.ts";
import { incidentProblem, renderAct, targetProblem } from "../../src/views/page/act.ts";
import { renderHtml } from "../../src/views/page/html.ts";
import { fleetYaml } from "../scenarios/statuses/fleets.ts";
import { configOf } from "../support/running-app.ts";

import { NOW_MS, sampleTargetReport } from "./sample-report.ts";

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

function act(matches: readonly MaintenanceMatch[], links: Links = LINKS): string {
  const act = renderAct(
    {
      id: "x",
      runbook: "SynclagIndexerStalled",
      matches,
      since: "2026-12-01T03:00:00.000Z",
    },
    links,
    NOW_MS,
  );
  return act === null
    ? ""
    : renderHtml(act).replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}

function linkTo(html: string, host: string): URL {
  return new URL(new RegExp(`href="(https://${host}[^ ]*)" rel`).exec(html)?.[1] ?? "");
}

describe("renderAct()", () => {
  it("leads to the runbook of each status that has one, in the folder of the links or among our own pages", () => {
    const runbookOf = (status: Status) => targetProblem(sampleTargetReport({ status }), "x")?.runbook;
    const missing = STATUSES.map(runbookOf).filter(
      (name) => name !== undefined && !existsSync(`docs/runbooks/${name}.md`),
    );

    expect(missing).toEqual([]);
    expect(act([TARGET])).toContain('href="https://git.example/runbooks/SynclagIndexerStalled.md"');
    expect(act([TARGET], { alertmanager: null, grafana: null, runbooks: null })).toContain(
      'href="/docs/runbooks/SynclagIndexerStalled.md"',
    );
  });

  it("opens a silence in Alertmanager that has the labels of the target's alerts", () => {
    const { hash } = linkTo(act([TARGET]), "alerts.example");

    expect(hash).toMatch(/^#\/silences\/new\?filter=/);
    expect(decodeURIComponent(hash.split("filter=")[1] ?? "")).toBe(
      '{protocol="airdrops",variant="subgraph",tier="production",chain="base"}',
    );
  });

  it("has the command of the same silence", () => {
    expect(act([TARGET])).toContain(
      "amtool silence add --alertmanager.url='https://alerts.example' --duration=2h --comment='known problem' protocol=airdrops variant=subgraph tier=production chain=base",
    );
  });

  it("leads to the dashboards of the chain, from an hour before, and of the indexer", () => {
    const chain = linkTo(act([TARGET]), "grafana.example");
    const indexer = linkTo(
      act([{ protocol: "airdrops", variant: "subgraph", tier: "production" }]),
      "grafana",
    );

    expect(chain.pathname).toBe("/g/d/synclag-chain");
    expect(Object.fromEntries(chain.searchParams)).toEqual({
      "var-protocol": "airdrops",
      "var-variant": "subgraph",
      "var-tier": "production",
      "var-chain": "base",
      from: String(Date.parse("2026-12-01T02:00:00Z")),
      to: String(NOW_MS),
    });
    expect(indexer.pathname).toBe("/g/d/synclag-endpoint");
  });

  it("has lines that chains.yaml takes, and that mark the target from now on", () => {
    const matches = [TARGET, { chain: "base" }];
    const lines = /<pre[^>]*>(maintenance:[^<]*)<\/pre>/.exec(act(matches))?.[1] ?? "";

    // A YAML file may contain JSON.
    const fleet = Object.entries(JSON.parse(fleetYaml(["subgraph"])) as object);
    const yaml = fleet.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join("\n");
    const { fleet: parsed, maintenance } = configOf(`${yaml}\n${lines}\n`);

    const target = parsed.indexers[0]?.endpoints[0]?.targets[0];
    const id = { key: "", protocol: "airdrops", variant: "subgraph", tier: "production", chain: "base" };
    expect(target).toMatchObject(TARGET);
    expect(maintenance.map(({ match }) => match)).toEqual(matches);
    for (const window of maintenance) {
      expect(openMaintenance([window], NOW_MS)({ ...id, chain_id: 8453 })).toBe(true);
      expect(openMaintenance([window], NOW_MS + 2 * 3_600_000)({ ...id, chain_id: 8453 })).toBe(false);
    }
  });

  it("has no link and no URL without configuration", () => {
    const html = act([TARGET], { alertmanager: null, grafana: null, runbooks: null });

    expect(html).not.toContain("http");
  });
});

describe("targetProblem() and incidentProblem()", () => {
  it("have the labels of the alert that a status leads to", () => {
    const labelsOf = (status: Status) =>
      targetProblem(sampleTargetReport({ status }), "x")?.matches.map((labels) =>
        Object.keys(labels).join(" "),
      );

    expect(labelsOf("stalled")).toEqual(["protocol variant tier chain"]);
    expect(labelsOf("rejected")).toEqual(["protocol variant tier"]);
    expect(labelsOf("chain_halted")).toEqual(["chain"]);
    expect(labelsOf("ok")).toBeUndefined();
  });

  it("are of each indexer of a host or an endpoint, of the chain, and of nothing for our own network", () => {
    const incident: Incident = { scope: "host", subject: "h.test", since: "", detail: "", targets: [] };
    const matchesOf = (some: Partial<Incident>) => incidentProblem({ ...incident, ...some })?.matches;
    const targets = ["lockup/a/production/base", "lockup/a/production/gnosis", "flow/b/testing/base"];
    const a = { protocol: "lockup", variant: "a", tier: "production" };

    expect(matchesOf({ targets })).toEqual([a, { protocol: "flow", variant: "b", tier: "testing" }]);
    expect(matchesOf({ scope: "chain", subject: "base", targets })).toEqual([{ chain: "base" }]);
    expect(matchesOf({ scope: "network", targets })).toBeUndefined();
  });
});
