import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { SimulatedFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { SIMULATED_API_KEY } from "../../src/sim/servers/families.ts";
import { FAULTS } from "../support/faults.ts";
import { type Alertmanager, type Page, startAlertmanager } from "./support/alertmanager.ts";
import { startPrometheus } from "./support/prometheus-server.ts";
import { type Synclag, simulate, startSynclag } from "./support/synclag.ts";
import { temporaryFolder } from "./support/undo.ts";

const DEPLOY = fileURLToPath(new URL("../../deploy", import.meta.url));
/** What should take some seconds. Its end means that the message never comes. */
const DELIVERED = { timeout: 240_000, interval: 250 };

const EACH_SECOND = 'schedule: "* * * * * *"';
/** What takes minutes in production takes seconds: an indexer is stalled after fifty blocks at least. The chain zksync has no node. */
const FLEET = `
version: 1
poll: { timeout: 5s, retries: 0, rpc_schedule: "* * * * * *" }
thresholds: { lagging: 30s, critical: 3m, stalled: 10s, stale: 30s }
chains:
  base: { id: 8453, block_time: 200ms, rpc: ["https://base.example/"] }
  polygon: { id: 137, block_time: 200ms, rpc: ["https://polygon.example/"] }
  zksync: { id: 324, block_time: 200ms }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://envio.example/airdrops/v1/graphql", ${EACH_SECOND}, chains: [base] }
    - { variant: subgraph, dialect: graph, url: "https://api.studio.thegraph.com/query/1/{chain}/v1", ${EACH_SECOND}, chains: [base] }
  lockup:
    - { variant: subgraph, dialect: graph, url: "https://graph.example/subgraphs/name/{chain}", ${EACH_SECOND}, chains: [polygon] }
    - { variant: ponder, dialect: ponder, url: "https://lockup.example/{chain}", ${EACH_SECOND}, chains: [polygon] }
  flow:
    - { variant: multichain, dialect: envio, url: "https://envio.example/flow/v1/graphql", ${EACH_SECOND}, chains: [base] }
    - variant: subgraph
      dialect: graph
      url: "https://gateway.example/api/subgraphs/id/{chain}"
      headers: { Authorization: "Bearer ${SIMULATED_API_KEY}" }
      ${EACH_SECOND}
      chains: [base]
  staking:
    - { variant: squid, dialect: squid, url: "https://squid.example/{chain}/graphql", ${EACH_SECOND}, chains: [zksync] }
    - { variant: ponder, dialect: ponder, url: "https://staking.example/{chain}", ${EACH_SECOND}, chains: [zksync] }
`;

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
    const simulated = await simulate(FLEET);
    fleet = simulated.fleet;
    synclag = await startSynclag(simulated.config);
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
