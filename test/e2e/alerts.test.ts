import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { groupBy } from "../../src/core/model/group-by.ts";
import type { SimulatedFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { chainOfAge } from "../../src/sim/model/chain-model.ts";
import { FAULTS } from "../support/faults.ts";
import { headersFor } from "../support/fleet.ts";
import { type Alertmanager, type Page, startAlertmanager } from "./support/alertmanager.ts";
import { startPrometheus } from "./support/prometheus-server.ts";
import { type Synclag, simulate, startSynclag, writeConfig } from "./support/synclag.ts";
import { temporaryFolder } from "./support/undo.ts";

const DEPLOY = fileURLToPath(new URL("../../deploy", import.meta.url));
/** What should take some seconds. Its end means that the message never comes. */
const DELIVERED = { timeout: 240_000, interval: 250 };

/** The indexers: kind of server, key of its endpoint, and its chains. The chain zksync has no node. */
const ENDPOINTS = [
  { kind: "envio", key: "airdrops/multichain/production/all", chains: ["base"] },
  { kind: "studio", key: "airdrops/subgraph/production/base", chains: ["base"] },
  { kind: "graph-node", key: "lockup/subgraph/production/polygon", chains: ["polygon"] },
  { kind: "ponder", key: "lockup/ponder/production/polygon", chains: ["polygon"] },
  { kind: "envio-3.2", key: "flow/multichain/production/all", chains: ["base"] },
  { kind: "gateway", key: "flow/subgraph/production/base", chains: ["base"] },
  { kind: "squid", key: "staking/squid/production/zksync", chains: ["zksync"] },
  { kind: "ponder", key: "staking/ponder/production/zksync", chains: ["zksync"] },
  { kind: "rpc", key: "node/base", chains: ["base"] },
  { kind: "rpc", key: "node/polygon", chains: ["polygon"] },
] as const;
/** An indexer is stalled after fifty blocks at least. */
const BLOCK_MS = 200;
const CHAIN_IDS = { base: 8453, polygon: 137, zksync: 324 };

/**
 * The built program, Prometheus and Alertmanager with the files of deploy/demo as they are, but for the addresses. Which rule
 * fires when is tested by promtool, and which alert hides which by alertmanager.test.ts.
 */
describe("a fault in a running fleet", () => {
  let fleet: SimulatedFleet;
  let synclag: Synclag;
  let alertmanager: Alertmanager;

  const found = (path: string, labels: Readonly<Record<string, string>>): Page | undefined =>
    alertmanager
      .pages()
      .find(
        (page) =>
          page.path === path &&
          page.status === "firing" &&
          Object.entries(labels).every(([name, value]) => page.labels[name] === value),
      );

  beforeAll(async () => {
    fleet = await simulate({
      chains: Object.entries(CHAIN_IDS).map(([slug, id]) =>
        chainOfAge({ slug, id, blockTimeMs: BLOCK_MS }, Date.now()),
      ),
      endpoints: ENDPOINTS,
    });
    synclag = await startSynclag(await writeConfig(chainsOf(fleet)));
    const folder = await temporaryFolder("alerts");
    const demo = join(DEPLOY, "demo");
    alertmanager = await startAlertmanager(folder, await readFile(join(demo, "alertmanager.yml"), "utf8"));
    await cp(join(demo, "rules"), join(folder, "rules"), { recursive: true });
    const prometheus = await readFile(join(demo, "prometheus.yml"), "utf8");
    const config = prometheus
      .replace("synclag:9855", new URL(synclag.url).host)
      .replace("alertmanager:9093", new URL(alertmanager.url).host);
    await startPrometheus(folder, config);
    await vi.waitFor(async () => {
      const { targets } = await synclag.report();
      expect(targets.map(({ status }) => status)).toEqual(targets.map(() => "ok"));
    }, DELIVERED);
  });

  it("reaches the pager as one alert that names the cause, with its texts and links", async () => {
    fleet.target("airdrops/subgraph/production/base").freeze();
    for (const endpoint of fleet.endpoints("lockup/*/production/polygon")) {
      endpoint.fail(FAULTS.http_503);
    }
    fleet.endpoint("flow/subgraph/production/base").fail(FAULTS.unknown_key);
    fleet.chain("zksync").halt();
    const expected = [
      {
        labels: {
          alertname: "SynclagIndexerStalled",
          protocol: "airdrops",
          chain: "base",
          variant: "subgraph",
        },
        summary: "airdrops on base: subgraph (production) has stopped advancing",
        description:
          /Its height last grew .+ ago\. It is .+ behind\. Healthy alternative: multichain \(production\)\. First: move/,
      },
      {
        labels: { alertname: "SynclagNoVariantOk", protocol: "lockup", chain: "polygon" },
        summary: "lockup on polygon: no usable variant",
        description: /ponder \(production\): unreachable.* subgraph \(production\): unreachable/,
      },
      {
        labels: { alertname: "SynclagKeyRejected", protocol: "flow", variant: "subgraph" },
        summary: "flow subgraph (production) rejects our API key on 1 chain",
        description: /Every chain has another usable variant\./,
      },
      {
        labels: { alertname: "SynclagAllVariantsStalled", protocol: "staking", chain: "zksync" },
        summary: "staking on zksync: all 2 responding variants have stopped advancing",
        description: /No node of the chain is polled.* ponder \(production\): stalled/,
      },
    ];

    await expect
      .poll(() => expected.filter(({ labels }) => found("/page", labels) === undefined), DELIVERED)
      .toEqual([]);

    for (const { labels, summary, description } of expected) {
      const annotations = found("/page", labels)?.annotations ?? {};
      expect(annotations["summary"]).toBe(summary);
      expect(annotations["description"]).toMatch(description);
      expect(Object.values(annotations).join("\n")).not.toMatch(/\{\{|<no value>|<error|%!/);
      expect(annotations["runbook_url"]).toContain(`${labels.alertname}.md`);
      expect(annotations["page_url"]).toMatch(/^http:\/\/localhost:9855\/(chains\/\w+)?$/);
      expect(annotations["dashboard_url"]).toMatch(/\/d\/synclag-\w+(\?var-.*)?$/);
    }
    // One page for each fault, and not a second one for what follows from it.
    const paged = alertmanager.pages().filter(({ path, status }) => path === "/page" && status === "firing");
    expect(new Set(paged.map(({ labels }) => labels["alertname"]))).toEqual(
      new Set(expected.map(({ labels }) => labels.alertname)),
    );
  });

  it("that ends Synclag itself reaches the pager, too", async () => {
    synclag.signal("SIGKILL");

    await expect
      .poll(() => found("/page", { alertname: "SynclagDown", severity: "critical" }), DELIVERED)
      .toBeDefined();
    expect(found("/alive", { alertname: "SynclagWatchdog" })).toBeDefined();
  });
});

const DIALECTS: Readonly<Record<string, string>> = {
  multichain: "envio",
  subgraph: "graph",
  ponder: "ponder",
  squid: "squid",
};

/** Every endpoint is polled each second, and what takes minutes in production takes seconds. */
function chainsOf(simulated: SimulatedFleet): object {
  const schedule = "* * * * * *";
  const url = (key: string): string => simulated.endpoint(key).url;
  const chains = Object.entries(CHAIN_IDS).map(([slug, id]) => {
    const rpc = slug === "zksync" ? [] : [url(`node/${slug}`)];
    return [slug, { id, block_time: `${BLOCK_MS}ms`, rpc }];
  });
  const indexers = ENDPOINTS.filter(({ kind }) => kind !== "rpc").map(({ key, kind, chains: on }) => {
    const [protocol = "", variant = ""] = key.split("/");
    const indexer = { variant, dialect: DIALECTS[variant], url: url(key), headers: headersFor(kind) };
    return { protocol, indexer: { ...indexer, schedule, chains: on } };
  });
  const protocols = [...groupBy(indexers, ({ protocol }) => protocol)].map(([protocol, own]) => {
    return [protocol, own.map(({ indexer }) => indexer)];
  });
  return {
    version: 1,
    poll: { timeout: "5s", retries: 0, rpc_schedule: schedule },
    thresholds: { lagging: "30s", critical: "3m", stalled: "10s", stale: "30s" },
    chains: Object.fromEntries(chains),
    protocols: Object.fromEntries(protocols),
  };
}
