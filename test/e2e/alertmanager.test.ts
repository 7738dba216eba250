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

const PAGE = { severity: "critical" } as const;
const TICKET = { severity: "warning" } as const;
const SUBGRAPH = { variant: "subgraph", tier: "production" } as const;

/** Which alert hides which. Each case has a protocol or a chain of its own, so that no case touches another. */
const HIDDEN: readonly {
  readonly why: string;
  readonly by: Labels;
  readonly hidden: readonly Labels[];
  /** Alike, but not hidden. */
  readonly sent: readonly Labels[];
}[] = [
  {
    why: "a halted chain",
    by: { ...TICKET, alertname: "SynclagChainHalted", chain: "halted" },
    hidden: [
      { ...PAGE, alertname: "SynclagAllVariantsStalled", chain: "halted", protocol: "a" },
      { ...PAGE, alertname: "SynclagIndexerStalled", chain: "halted", protocol: "b", ...SUBGRAPH },
    ],
    sent: [{ ...PAGE, alertname: "SynclagIndexerFailed", chain: "halted", protocol: "c", ...SUBGRAPH }],
  },
  {
    why: "a rejected key",
    by: { ...PAGE, alertname: "SynclagKeyRejected", protocol: "key", ...SUBGRAPH },
    hidden: [{ ...PAGE, alertname: "SynclagEndpointDown", chain: "base", protocol: "key", ...SUBGRAPH }],
    sent: [
      {
        ...PAGE,
        alertname: "SynclagEndpointDown",
        chain: "base",
        protocol: "key",
        ...SUBGRAPH,
        tier: "testing",
      },
    ],
  },
  {
    why: "a used-up budget",
    by: {
      ...TICKET,
      alertname: "SynclagBudgetExhausted",
      budget: "b",
      protocol: "budget",
      chain: "base",
      endpoint: "base",
      ...SUBGRAPH,
    },
    hidden: [
      { ...TICKET, alertname: "SynclagThrottled", chain: "base", protocol: "budget", ...SUBGRAPH },
      {
        ...TICKET,
        alertname: "SynclagBudgetLow",
        budget: "b",
        protocol: "budget",
        endpoint: "base",
        ...SUBGRAPH,
      },
    ],
    sent: [{ ...TICKET, alertname: "SynclagThrottled", chain: "polygon", protocol: "budget", ...SUBGRAPH }],
  },
  {
    why: "a shared cause that pages",
    by: { ...PAGE, alertname: "SynclagSharedCause", protocol: "shared", ...SUBGRAPH },
    hidden: [
      { ...PAGE, alertname: "SynclagIndexerFarBehind", chain: "base", protocol: "shared", ...SUBGRAPH },
      { ...TICKET, alertname: "SynclagSharedCause", protocol: "shared", ...SUBGRAPH },
    ],
    sent: [{ ...PAGE, alertname: "SynclagNoVariantOk", chain: "base", protocol: "shared" }],
  },
  {
    why: "a shared cause that is a ticket",
    by: { ...TICKET, alertname: "SynclagSharedCause", protocol: "ticket", ...SUBGRAPH },
    hidden: [
      { ...TICKET, alertname: "SynclagIndexerLagging", chain: "base", protocol: "ticket", ...SUBGRAPH },
    ],
    sent: [{ ...PAGE, alertname: "SynclagIndexerStalled", chain: "base", protocol: "ticket", ...SUBGRAPH }],
  },
  {
    why: "all variants stalled",
    by: { ...PAGE, alertname: "SynclagAllVariantsStalled", chain: "stalled", protocol: "pair" },
    hidden: [
      { ...PAGE, alertname: "SynclagIndexerStalled", chain: "stalled", protocol: "pair", ...SUBGRAPH },
      {
        ...TICKET,
        alertname: "SynclagEndpointDown",
        chain: "stalled",
        protocol: "pair",
        ...SUBGRAPH,
        tier: "testing",
      },
    ],
    sent: [{ ...PAGE, alertname: "SynclagIndexerStalled", chain: "stalled", protocol: "other", ...SUBGRAPH }],
  },
  {
    why: "no variant that is ok",
    by: { ...PAGE, alertname: "SynclagNoVariantOk", chain: "lost", protocol: "pair" },
    hidden: [{ ...PAGE, alertname: "SynclagEndpointDown", chain: "lost", protocol: "pair", ...SUBGRAPH }],
    sent: [{ ...PAGE, alertname: "SynclagEndpointDown", chain: "lost", protocol: "other", ...SUBGRAPH }],
  },
  {
    why: "a more urgent alert of the target",
    by: { ...PAGE, alertname: "SynclagIndexerFarBehind", chain: "far", protocol: "urgent", ...SUBGRAPH },
    hidden: [
      { ...TICKET, alertname: "SynclagIndexerLagging", chain: "far", protocol: "urgent", ...SUBGRAPH },
      { ...TICKET, alertname: "SynclagVariantsApart", chain: "far", protocol: "urgent", ...SUBGRAPH },
    ],
    sent: [{ ...TICKET, alertname: "SynclagIndexerLagging", chain: "near", protocol: "urgent", ...SUBGRAPH }],
  },
  {
    why: "a ticket about being far behind",
    by: { ...TICKET, alertname: "SynclagIndexerFarBehind", chain: "far", protocol: "tested", ...SUBGRAPH },
    hidden: [
      { ...TICKET, alertname: "SynclagIndexerLagging", chain: "far", protocol: "tested", ...SUBGRAPH },
    ],
    sent: [],
  },
  {
    why: "freshness that burns fast",
    by: { ...PAGE, alertname: "SynclagFreshnessBurnsFast", protocol: "burning" },
    hidden: [{ ...TICKET, alertname: "SynclagFreshnessBurnsSlowly", protocol: "burning" }],
    sent: [{ ...TICKET, alertname: "SynclagFreshnessBurnsSlowly", protocol: "glowing" }],
  },
];

const FLEET = { about: "fleet" } as const;
const DOWN = { ...PAGE, alertname: "SynclagDown", about: "synclag", instance: "a" } as const;

/** With the times of deploy/demo: a tenth of those of deploy/alertmanager.yml, from which it is rendered. */
describe("a real Alertmanager", () => {
  let alertmanager: Alertmanager;

  beforeEach(async () => {
    const config = await readFile(join(DEPLOY, "demo/alertmanager.yml"), "utf8");
    alertmanager = await startAlertmanager(await temporaryFolder("alertmanager"), config);
  });

  afterAll(undoAll);

  it("sends what hides others and not what is hidden, though the latter comes first", async () => {
    await post(HIDDEN.flatMap(({ hidden }) => hidden).map((labels) => ({ ...FLEET, ...labels })));
    const expected = HIDDEN.flatMap(({ by, sent }) => [by, ...sent]).map((labels) => ({
      ...FLEET,
      ...labels,
    }));
    await post(expected);

    // What was posted first would be sent first.
    await expect.poll(() => delivered().length, DELIVERED).toBeGreaterThanOrEqual(expected.length);
    expect(delivered()).toEqual(expected.map(nameOf).sort());
  });

  it("sends nothing about the fleet while no Synclag works, and the rest", async () => {
    const own = { ...TICKET, alertname: "SynclagConfigReloadFailed", about: "synclag" };
    const hidden = { ...FLEET, ...PAGE, alertname: "SynclagNoVariantOk", protocol: "a", chain: "base" };
    await post([hidden]);
    await post([DOWN, own]);

    await expect.poll(() => delivered().length, DELIVERED).toBeGreaterThanOrEqual(2);
    expect(delivered()).toEqual([own, DOWN].map(nameOf).sort());
  });

  it("hides nothing behind a Synclag that is down while another one works", async () => {
    const expected = [
      { ...DOWN, ...TICKET },
      { ...FLEET, ...PAGE, alertname: "SynclagNoVariantOk", protocol: "a", chain: "base" },
    ];
    await post(expected);

    await expect.poll(delivered, DELIVERED).toEqual(expected.map(nameOf).sort());
  });

  async function post(alerts: readonly Labels[]): Promise<void> {
    const response = await fetch(`http://${alertmanager.address}/api/v2/alerts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(alerts.map((labels) => ({ labels }))),
    });
    expect(response.status).toBe(200);
  }

  function delivered(): readonly string[] {
    return alertmanager
      .pages()
      .map(({ labels }) => nameOf(labels))
      .sort();
  }
});

describe("deploy/alertmanager.yml", () => {
  it("routes each kind of alert to its receiver", async () => {
    const receivers = {
      "severity=critical chain=base": "on-call",
      "severity=critical about=synclag": "on-call",
      "severity=critical chain=arbitrum-sepolia": "tickets",
      "severity=warning chain=base": "tickets",
      "severity=warning chain=sepolia": "tickets",
      "severity=info chain=base-sepolia": "nobody",
      "severity=none alertname=Watchdog": "dead-man",
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

function nameOf(labels: Labels): string {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b));
  return pairs.map(([name, value]) => `${name}=${value}`).join(" ");
}
