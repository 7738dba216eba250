import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type Alertmanager, startAlertmanager } from "./support/alertmanager.ts";
import { runProgram } from "./support/program.ts";
import { temporaryFolder, undoAll } from "./support/undo.ts";

const DEPLOY = fileURLToPath(new URL("../../deploy", import.meta.url));
const DELIVERED = { timeout: 60_000, interval: 100 };

type Labels = Readonly<Record<string, string>>;

const SUBGRAPH = "variant=subgraph tier=production";

/**
 * Which alert hides which others, and what is alike and still sent. Each case has a protocol or a chain of its own, so that no case
 * touches another.
 */
const HIDING: readonly {
  readonly by: string;
  readonly hidden: readonly string[];
  readonly sent: readonly string[];
}[] = [
  {
    by: "SynclagChainHalted warning chain=halted",
    hidden: [
      "SynclagAllVariantsStalled critical chain=halted protocol=a",
      `SynclagIndexerStalled critical chain=halted protocol=b ${SUBGRAPH}`,
    ],
    sent: [`SynclagIndexerFailed critical chain=halted protocol=c ${SUBGRAPH}`],
  },
  {
    by: `SynclagKeyRejected critical protocol=key ${SUBGRAPH}`,
    hidden: [
      `SynclagEndpointDown warning chain=base protocol=key ${SUBGRAPH}`,
      `SynclagKeyRejected warning protocol=key ${SUBGRAPH}`,
    ],
    sent: ["SynclagEndpointDown critical chain=base protocol=key variant=subgraph tier=testing"],
  },
  {
    by: `SynclagBudgetExhausted warning budget=b protocol=budget chain=base endpoint=base ${SUBGRAPH}`,
    hidden: [
      `SynclagThrottled warning chain=base protocol=budget ${SUBGRAPH}`,
      `SynclagBudgetLow warning budget=b protocol=budget endpoint=base ${SUBGRAPH}`,
    ],
    sent: [
      `SynclagThrottled warning chain=polygon protocol=budget ${SUBGRAPH}`,
      `SynclagBudgetLow warning budget=other protocol=budget endpoint=base ${SUBGRAPH}`,
    ],
  },
  {
    by: `SynclagSharedCause critical protocol=shared ${SUBGRAPH}`,
    hidden: [
      `SynclagLagCritical critical chain=base protocol=shared ${SUBGRAPH}`,
      `SynclagSharedCause warning protocol=shared ${SUBGRAPH}`,
    ],
    sent: ["SynclagNoVariantOk critical chain=base protocol=shared"],
  },
  {
    by: `SynclagSharedCause warning protocol=ticket ${SUBGRAPH}`,
    hidden: [`SynclagIndexerLagging warning chain=base protocol=ticket ${SUBGRAPH}`],
    sent: [`SynclagIndexerStalled critical chain=base protocol=ticket ${SUBGRAPH}`],
  },
  {
    by: `SynclagIndexerStalled critical chain=base protocol=frozen ${SUBGRAPH}`,
    hidden: [`SynclagLagCritical critical chain=base protocol=frozen ${SUBGRAPH}`],
    sent: [`SynclagLagCritical critical chain=polygon protocol=frozen ${SUBGRAPH}`],
  },
  {
    by: "SynclagAllVariantsStalled critical chain=stalled protocol=pair",
    hidden: [
      `SynclagIndexerStalled critical chain=stalled protocol=pair ${SUBGRAPH}`,
      "SynclagEndpointDown warning chain=stalled protocol=pair variant=subgraph tier=testing",
    ],
    sent: [`SynclagIndexerStalled critical chain=stalled protocol=other ${SUBGRAPH}`],
  },
  {
    by: "SynclagNoVariantOk critical chain=lost protocol=pair",
    hidden: [`SynclagEndpointDown critical chain=lost protocol=pair ${SUBGRAPH}`],
    sent: [`SynclagEndpointDown critical chain=lost protocol=other ${SUBGRAPH}`],
  },
  {
    by: `SynclagLagCritical critical chain=far protocol=urgent ${SUBGRAPH}`,
    hidden: [
      `SynclagIndexerLagging warning chain=far protocol=urgent ${SUBGRAPH}`,
      `SynclagVariantGapHigh warning chain=far protocol=urgent ${SUBGRAPH}`,
    ],
    sent: [`SynclagIndexerLagging warning chain=near protocol=urgent ${SUBGRAPH}`],
  },
  {
    by: `SynclagLagCritical warning chain=far protocol=tested ${SUBGRAPH}`,
    hidden: [`SynclagIndexerLagging warning chain=far protocol=tested ${SUBGRAPH}`],
    sent: [],
  },
  {
    by: "SynclagFreshnessErrorBudgetBurn critical protocol=burning",
    hidden: ["SynclagFreshnessErrorBudgetBurn warning protocol=burning"],
    sent: ["SynclagFreshnessErrorBudgetBurn warning protocol=glowing"],
  },
];

/** With the times of deploy/demo: a tenth of those of deploy/alertmanager.yml, from which it is rendered. */
describe("a real Alertmanager", () => {
  let alertmanager: Alertmanager;

  beforeEach(async () => {
    const config = await readFile(join(DEPLOY, "demo/alertmanager.yml"), "utf8");
    alertmanager = await startAlertmanager(await temporaryFolder("alertmanager"), config);
  });

  afterAll(undoAll);

  it("sends the inhibiting alert and not the inhibited one, even if the latter comes first", async () => {
    const expected = HIDING.flatMap(({ by, sent }) => [by, ...sent]);
    await post(HIDING.flatMap(({ hidden }) => hidden));
    await post(expected);

    // What was posted first would be sent first.
    await expect.poll(() => delivered().length, DELIVERED).toBeGreaterThanOrEqual(expected.length);
    expect(delivered()).toEqual(expected.map(labelsOf).map(nameOf).sort());
  });

  it("sends no alerts about the fleet, but all others, while every Synclag is down", async () => {
    const expected = [
      "SynclagDown critical about=synclag",
      "SynclagConfigReloadFailed warning about=synclag",
    ];
    await post(["SynclagNoVariantOk critical protocol=a chain=base"]);
    await post(expected);

    await expect.poll(() => delivered().length, DELIVERED).toBeGreaterThanOrEqual(expected.length);
    expect(delivered()).toEqual(expected.map(labelsOf).map(nameOf).sort());
  });

  it("inhibits nothing for one Synclag that is down while another one works", async () => {
    const expected = [
      "SynclagDown warning about=synclag",
      "SynclagNoVariantOk critical protocol=a chain=base",
    ];
    await post(expected);

    await expect.poll(delivered, DELIVERED).toEqual(expected.map(labelsOf).map(nameOf).sort());
  });

  async function post(alerts: readonly string[]): Promise<void> {
    const response = await fetch(`http://${alertmanager.address}/api/v2/alerts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(alerts.map((alert) => ({ labels: labelsOf(alert) }))),
    });
    expect(response.status).toBe(200);
  }

  function delivered(): readonly string[] {
    const names = alertmanager.pages().map(({ labels }) => nameOf(labels));
    return names.sort();
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
