import { groupBy } from "../../src/core/model/group-by.ts";
import { STATUSES, type Status } from "../../src/core/model/statuses.ts";
import { fleet, target } from "./fleet-series.ts";
import { labelsOf, type RuleTest } from "./rule-test.ts";

/** Every alert of a status has begun to fire. */
const AT = "77m";

/** Two variants with every combination of two statuses, each on its own protocol and chain. */
export function matrixTest(): RuleTest {
  const combinations = STATUSES.flatMap((a) => STATUSES.map((b) => [a, b] as const));
  const targets = combinations.flatMap(([a, b]) => {
    const of = { protocol: `${a}-${b}`, chain: `${a}-${b}`, chain_id: "1" };
    return [
      { labels: target("one", of), timeline: timelineOf(a) },
      { labels: target("two", of), timeline: timelineOf(b) },
    ];
  });
  const firing = (matchers: string) => `ALERTS{alertstate="firing", about="fleet", ${matchers}}`;
  const [ofTarget, ofPair] = [firing('chain!="", variant!=""'), firing('protocol!="", variant=""')];
  const none = [
    // One for a target, one for a protocol on a chain, and never both.
    `count by (protocol, chain, variant) (${ofTarget}) > 1`,
    `count by (chain) (${firing('chain!="", variant=""')}) > 1`,
    `${ofTarget} and on (protocol, chain) ${ofPair}`,
    // A rejected key causes one page, however many chains it affects.
    `count by (protocol) (${firing('alertname="SynclagNoVariantOk"')}) and on (protocol) count by (protocol) (synclag_status{status="rejected"} == 1) == 2`,
  ];
  const raised = groupBy(combinations.flatMap(alertsOf), (name) => name);
  return {
    name: "Each two statuses raise one alert for each cause at most, without any inhibition",
    series: fleet(90, ...targets),
    fires: {},
    queries: [
      ...none.map((expr) => ({ expr, at: AT, samples: [] })),
      {
        expr: `count by (alertname) (${firing('alertname!="SynclagFreshnessErrorBudgetBurn"')})`,
        at: AT,
        samples: [...raised].map(([alertname, all]) => ({
          labels: labelsOf({ alertname }),
          value: all.length,
        })),
      },
    ],
  };
}

function timelineOf(status: Status): string {
  return status === "lagging" || status === "syncing" ? `${status}:900` : status;
}

const USABLE: readonly Status[] = ["ok", "lagging", "syncing", "chain_halted"];
const BY_STATUS: Readonly<Partial<Record<Status, string>>> = {
  unknown: "SynclagTargetUnknown",
  throttled: "SynclagThrottled",
  not_found: "SynclagEndpointDown",
  unreachable: "SynclagEndpointDown",
  missing: "SynclagChainMissing",
  failed: "SynclagIndexerFailed",
  diverged: "SynclagIndexerDiverged",
  stalled: "SynclagIndexerStalled",
  syncing: "SynclagIndexerSyncing",
  lagging: "SynclagIndexerLagging",
};
const UNHEARD: readonly Status[] = ["unknown", "throttled"];

function alertsOf(pair: readonly Status[]): readonly string[] {
  const rejected = pair.filter((status) => status === "rejected").map(() => "SynclagKeyRejected");
  const halted = pair.includes("chain_halted") ? ["SynclagChainHalted"] : [];
  const isHeld = (status: Status) => halted.length > 0 && (status === "stalled" || status === "lagging");
  if (pair.some((status) => USABLE.includes(status)) || pair.every((status) => UNHEARD.includes(status))) {
    const own = pair.filter((status) => !isHeld(status)).flatMap((status) => BY_STATUS[status] ?? []);
    return [...halted, ...rejected, ...own];
  }
  if (pair.every((status) => status === "rejected")) {
    return rejected;
  }
  const isStalled = pair.every((status) => status === "stalled");
  return [...rejected, isStalled ? "SynclagAllVariantsStalled" : "SynclagNoVariantOk"];
}
