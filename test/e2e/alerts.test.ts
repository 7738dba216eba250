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
/** A message should take some seconds; after this time it never comes. */
const DELIVERED = { timeout: 240_000, interval: 250 };

/** The alerts that page: name and labels, summary, and a description of which `…` stands for anything. */
const EXPECTED = (await readFixture("paged.txt")).trimEnd().split("\n\n").map(readExpected);

/**
 * The built program, Prometheus and Alertmanager with the files of deploy/demo as they are, but for the addresses. Which rule
 * fires when is tested by promtool, and which alert inhibits which by alertmanager.test.ts.
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
    const chainsYaml = await readFixture("fleet.yaml");
    const simulated = await simulate(chainsYaml.replace("SIMULATED_API_KEY", SIMULATED_API_KEY));
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

    await expect
      .poll(() => EXPECTED.filter(({ labels }) => found("/page", labels) === undefined), DELIVERED)
      .toEqual([]);

    for (const { labels, summary, parts } of EXPECTED) {
      const annotations = found("/page", labels)?.annotations ?? {};
      expect(annotations["summary"]).toBe(summary);
      expect(parts.filter((part) => annotations["description"]?.includes(part) !== true)).toEqual([]);
      expect(Object.values(annotations).join("\n")).not.toMatch(/\{\{|<no value>|<error|%!/);
      expect(annotations["runbook_url"]).toContain(`${labels["alertname"]}.md`);
      expect(annotations["page_url"]).toMatch(
        /^http:\/\/localhost:9855\/(chains\/[\w-]+(#[\w-]+)?|\?q=[\w+-]+)?$/,
      );
      expect(annotations["dashboard_url"]).toMatch(/\/d\/synclag-\w+(\?var-.*)?$/);
    }
    // One page for each fault, and not a second one for what follows from it.
    const paged = alertmanager.pages().filter(({ path, status }) => path === "/page" && status === "firing");
    expect(new Set(paged.map(({ labels }) => labels["alertname"]))).toEqual(
      new Set(EXPECTED.map(({ labels }) => labels["alertname"])),
    );
  });

  it("that stops Synclag itself reaches the pager, too", async () => {
    synclag.signal("SIGKILL");

    await expect
      .poll(() => found("/page", { alertname: "SynclagDown", severity: "critical" }), DELIVERED)
      .toBeDefined();
    expect(found("/alive", { alertname: "SynclagWatchdog" })).toBeDefined();
  });
});

function readFixture(name: string): Promise<string> {
  return readFile(`test/fixtures/alerts/${name}`, "utf8");
}

function readExpected(text: string) {
  const [alert = "", summary = "", description = ""] = text.split("\n");
  const [alertname = "", ...pairs] = alert.split(" ");
  // Each label has a name and a value.
  const others = Object.fromEntries(pairs.map((pair) => pair.split("="))) as Record<string, string>;
  return {
    labels: { alertname, ...others } as Record<string, string>,
    summary,
    parts: description.split(/ ?… ?/),
  };
}
