import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { type Alertmanager, startAlertmanager } from "./support/alertmanager.ts";
import { runProgram } from "./support/program.ts";
import { temporaryFolder } from "./support/undo.ts";

const DEPLOY = fileURLToPath(new URL("../../deploy", import.meta.url));
const DELIVERED = { timeout: 60_000, interval: 100 };

type Labels = Readonly<Record<string, string>>;

const HIDING = (await readFile("test/fixtures/alerts/hiding.txt", "utf8"))
  .replaceAll("SUBGRAPH", "variant=subgraph tier=production")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

/** With the times of deploy/demo: a tenth of those of deploy/alertmanager.yml, from which it is rendered. */
describe("a real Alertmanager", () => {
  let alertmanager: Alertmanager;

  beforeEach(async () => {
    const config = await readFile(join(DEPLOY, "demo/alertmanager.yml"), "utf8");
    alertmanager = await startAlertmanager(await temporaryFolder("alertmanager"), config);
  });

  it("sends the inhibiting alert and not the inhibited one, even if the inhibited one comes first", async () => {
    const expected = HIDING.filter((line) => !line.startsWith("- ")).map((line) => line.replace("+ ", ""));
    await post(HIDING.filter((line) => line.startsWith("- ")).map((line) => line.replace("- ", "")));
    await post(expected);

    await untilDelivered(expected);
  });

  it("sends no alerts about the fleet, but all others, while every Synclag is down", async () => {
    await post(["SynclagNoVariantOk critical protocol=a chain=base"]);
    const expected = [
      "SynclagDown critical about=synclag",
      "SynclagConfigReloadFailed warning about=synclag",
    ];
    await post(expected);

    await untilDelivered(expected);
  });

  it("inhibits no alert of a working Synclag while another one is down", async () => {
    const expected = [
      "SynclagDown warning about=synclag",
      "SynclagNoVariantOk critical protocol=a chain=base",
    ];
    await post(expected);

    await untilDelivered(expected);
  });

  it("sends one page for a protocol that is down on many chains", async () => {
    const expected = ["base", "polygon", "scroll"].map(
      (chain) => `SynclagNoVariantOk critical protocol=lockup chain=${chain}`,
    );
    await post(expected);

    await untilDelivered(expected);
    expect(new Set(alertmanager.pages().map(({ message }) => message)).size).toBe(1);
  });

  async function post(alerts: readonly string[]): Promise<void> {
    const response = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(alerts.map((alert) => ({ labels: labelsOf(alert) }))),
    });
    expect(response.status).toBe(200);
  }

  /** Exactly these alerts: one that was posted first would be sent first. */
  async function untilDelivered(alerts: readonly string[]): Promise<void> {
    const delivered = () => alertmanager.pages().map(({ labels }) => nameOf(labels));
    await expect.poll(() => delivered().length, DELIVERED).toBeGreaterThanOrEqual(alerts.length);
    expect(delivered().toSorted()).toEqual(alerts.map(labelsOf).map(nameOf).toSorted());
  }
});

describe("deploy/alertmanager.yml", () => {
  it("routes each kind of alert to its receiver", async () => {
    const receivers = {
      "severity=critical chain=base": "on-call",
      "severity=critical about=synclag": "on-call",
      "severity=warning chain=base": "tickets",
      "severity=warning chain=sepolia": "tickets",
      "severity=none alertname=SynclagWatchdog": "dead-man",
    };

    const found = await Promise.all(
      Object.keys(receivers).map(async (labels) => {
        const config = `--config.file=${join(DEPLOY, "alertmanager.yml")}`;
        const args = ["config", "routes", "test", config, ...labels.split(" ")];
        const { stdout } = await runProgram({ command: "amtool", args });
        return [labels, stdout.trim()];
      }),
    );

    expect(Object.fromEntries(found)).toEqual(receivers);
  });
});

/** The labels of an alert that is written as its name, its severity and further labels. */
function labelsOf(alert: string): Labels {
  const [alertname = "", severity = "", ...pairs] = alert.split(" ");
  const others = pairs.map((pair) => pair.split("=") as [string, string]);
  return { alertname, severity, about: "fleet", ...Object.fromEntries(others) };
}

function nameOf(labels: Labels): string {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b));
  return pairs.map(([name, value]) => `${name}=${value}`).join(" ");
}
