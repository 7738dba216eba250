import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { type Alertmanager, type Page, startAlertmanager } from "./support/alertmanager.ts";
import { getJson } from "./support/loopback.ts";
import { startPrometheus } from "./support/prometheus-server.ts";
import { type Synclag, startDemo } from "./support/synclag.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

const DEPLOY = fileURLToPath(new URL("../../deploy", import.meta.url));
const FIVE_MINUTES_MS = 300_000;
const SOON = { timeout: FIVE_MINUTES_MS, interval: 500 };
/** The messages of an indexer that slows down on all of its chains, in the second minute of the tour. */
const SLOWED = { protocol: "airdrops", variant: "multichain", tier: "production" };

const composeSchema = z.object({
  services: z.object({ synclag: z.object({ command: z.array(z.string()) }) }),
});
const inhibitedSchema = z.array(
  z.object({
    labels: z.record(z.string(), z.string()),
    status: z.object({ inhibitedBy: z.array(z.string()) }),
  }),
);

/** What somebody sees who starts deploy/compose.yaml: its files as they are, but for the addresses. */
describe("the demo of deploy/compose.yaml", () => {
  let demo: Synclag;
  let alertmanager: Alertmanager;
  let startedAtMs: number;

  const messages = (): readonly Page[] => alertmanager.pages().filter(({ path }) => path !== "/alive");
  const find = (wanted: Partial<Page>, ...names: readonly string[]): Page | undefined =>
    messages().find(
      (page) =>
        page.path === (wanted.path ?? page.path) &&
        page.status === wanted.status &&
        names.includes(page.labels["alertname"] ?? "") &&
        Object.entries(wanted.labels ?? {}).every(([name, value]) => page.labels[name] === value),
    );
  /** A message of the subgraph that freezes after half a minute. */
  const frozen = (status: Page["status"]): Page | undefined =>
    find(
      { path: "/page", status, labels: { protocol: "airdrops", chain: "base", variant: "subgraph" } },
      "SynclagLagCritical",
      "SynclagIndexerStalled",
    );

  /** How many alerts of the slow indexer are held back. */
  const held = async (): Promise<number> => {
    const alerts = inhibitedSchema.parse(await getJson(`http://${alertmanager.address}/api/v2/alerts`));
    return alerts.filter(
      ({ labels, status }) => labels["variant"] === "multichain" && status.inhibitedBy.length > 0,
    ).length;
  };

  beforeAll(async () => {
    const folder = await temporaryFolder("demo-kit");
    const { services } = composeSchema.parse(parse(await readFile(join(DEPLOY, "compose.yaml"), "utf8")));
    const [command, listen, ...options] = services.synclag.command;
    expect([command, listen]).toEqual(["demo", "--listen"]);
    alertmanager = await startAlertmanager(
      folder,
      await readFile(join(DEPLOY, "demo/alertmanager.yml"), "utf8"),
    );
    startedAtMs = Date.now();
    demo = await startDemo(options.slice(1));
    await cp(join(DEPLOY, "demo/rules"), join(folder, "rules"), { recursive: true });
    const prometheusConfig = await readFile(join(DEPLOY, "demo/prometheus.yml"), "utf8");
    const config = prometheusConfig
      .replace("synclag:9855", new URL(demo.url).host)
      .replace("alertmanager:9093", alertmanager.address);
    await startPrometheus({ folder, config });
  });

  afterAll(undoAll);

  it("pages within five minutes", async () => {
    await expect.poll(() => frozen("firing"), SOON).toBeDefined();

    expect((frozen("firing")?.receivedAtMs ?? 0) - startedAtMs).toBeLessThan(FIVE_MINUTES_MS);
  });

  it("tells one cause of many alerts once, and holds theirs back", async () => {
    await expect
      .poll(() => find({ status: "firing", labels: SLOWED }, "SynclagSharedCause"), SOON)
      .toBeDefined();

    // The rules of its alerts may be evaluated after the one of the cause.
    await expect.poll(held, SOON).toBeGreaterThan(10);
  });

  it("takes it all back in the order of its end", async () => {
    await expect.poll(() => frozen("resolved"), SOON).toBeDefined();
    await expect
      .poll(() => find({ status: "resolved", labels: SLOWED }, "SynclagSharedCause"), SOON)
      .toBeDefined();

    expect(
      messages().filter(
        ({ status, labels }) =>
          status === "firing" && fitsAll(labels, { ...SLOWED, alertname: "SynclagIndexerLagging" }),
      ),
    ).toEqual([]);
  });

  it("hears of the watchdog at every interval of its group", () => {
    const heard = alertmanager.pages().filter(({ path }) => path === "/alive");
    const gapsMs = heard
      .slice(1)
      .map(({ receivedAtMs }, index) => receivedAtMs - (heard[index]?.receivedAtMs ?? 0));

    expect(gapsMs.length).toBeGreaterThan(10);
    expect(gapsMs.toSorted((a, b) => a - b)[Math.floor(gapsMs.length / 2)]).toBeLessThan(9_000);
  });
});

function fitsAll(labels: Page["labels"], wanted: Page["labels"]): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}
