import { STATUSES, type Status } from "../../src/core/model/report.ts";
import { fleet, target } from "./fleet-series.ts";
import { type ExpectedSamples, type RuleTest, ticket } from "./rule-test.ts";

/** Every alert of a status has begun to fire. */
const AT = "77m";

/** Two variants of which each has any status, a protocol and a chain for each combination. */
export function matrixTests(): readonly RuleTest[] {
  const combinations = STATUSES.flatMap((a) => STATUSES.map((b) => ({ a, b })));
  const series = fleet(
    90,
    ...combinations.flatMap(({ a, b }) => {
      const of = { protocol: `${a}-${b}`, chain: `${a}-${b}`, chain_id: "1" };
      return [
        { labels: target("one", of), timeline: timelineOf(a) },
        { labels: target("two", of), timeline: timelineOf(b) },
      ];
    }),
  );
  const firing = 'ALERTS{alertstate="firing", about="fleet"}';
  const none = (expr: string): ExpectedSamples => ({ expr, at: AT, samples: [] });
  return [
    {
      name: "Each pair of statuses raises one alert for each cause at most, without any inhibition",
      series,
      fires: {},
      queries: [
        // One for a target, one for a protocol on a chain, and never both.
        none(`count by (protocol, chain, variant) (${only(firing, 'chain!="", variant!=""')}) > 1`),
        none(`count by (chain) (${only(firing, 'chain!="", variant=""')}) > 1`),
        none(
          `${only(firing, 'chain!="", variant!=""')} and on (protocol, chain) ${only(firing, 'protocol!="", variant=""')}`,
        ),
        // A rejected key has one page, on whatever chains.
        none(
          `count by (protocol) (${only(firing, 'alertname="SynclagNoVariantOk"')}) and on (protocol) count by (protocol) (synclag_status{status="rejected"} == 1) == 2`,
        ),
        {
          expr: `count by (alertname) (${only(firing, 'alertname!="SynclagFreshnessErrorBudgetBurn"')})`,
          at: AT,
          samples: Object.entries(countsOf(combinations)).map(([name, value]) => ({
            labels: `{alertname="${name}"}`,
            value,
          })),
        },
      ],
    },
    {
      name: "The same alert fires for a chain that has halted whatever the other variant is",
      series: fleet(
        30,
        { labels: target("one"), timeline: "chain_halted" },
        { labels: target("two"), timeline: "lagging:2000" },
      ),
      fires: { "21m": [ticket("SynclagChainHalted", { chain: "base" })] },
    },
  ];
}

function only(vector: string, matchers: string): string {
  return vector.replace("}", `, ${matchers}}`);
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

/** How many alerts of each name all combinations raise. */
function countsOf(combinations: readonly { readonly a: Status; readonly b: Status }[]) {
  const counts: Record<string, number> = {};
  for (const name of combinations.flatMap(({ a, b }) => alertsOf([a, b]))) {
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

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
