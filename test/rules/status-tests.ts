import { fleet, type TestTarget, target } from "./fleet-series.ts";
import { type Labels, pages, type RuleTest, ticket } from "./rule-test.ts";

const SUBGRAPH = target("subgraph");
const MULTICHAIN = target("multichain");
const STUDIO = target("subgraph", { tier: "testing" });
const OK: TestTarget = { labels: MULTICHAIN, timeline: "ok:2" };

const on = (chain: string, overrides: Labels = {}) =>
  target("subgraph", { chain, chain_id: String(chain.length), ...overrides });

/** The minutes of `for`, and whether it pages where users are served from it. */
const BY_STATUS = [
  { name: "SynclagIndexerStalled", status: "stalled", minutes: 2, isServed: true },
  { name: "SynclagIndexerFailed", status: "failed", minutes: 2, isServed: true },
  { name: "SynclagIndexerDiverged", status: "diverged", minutes: 2, isServed: true },
  { name: "SynclagChainMissing", status: "missing", minutes: 5, isServed: true },
  { name: "SynclagEndpointDown", status: "unreachable", minutes: 5, isServed: false },
  { name: "SynclagEndpointDown", status: "not_found", minutes: 5, isServed: false },
  { name: "SynclagThrottled", status: "throttled", minutes: 30, isServed: false },
  { name: "SynclagTargetUnknown", status: "unknown", minutes: 30, isServed: false },
  { name: "SynclagIndexerSyncing", status: "syncing:720", minutes: 60, isServed: false },
] as const;

/** Alerts that go by one status alone. */
export function statusTests(): readonly RuleTest[] {
  return [
    ...BY_STATUS.map(({ name, status, minutes, isServed }): RuleTest => {
      const start = 5;
      const end = start + minutes + 10;
      const timeline = `ok:2 ${start}, ${status} ${minutes + 10}, ok:2`;
      const production = isServed ? pages(name, SUBGRAPH) : ticket(name, SUBGRAPH);
      const onTestnet = on("sepolia");
      return {
        name: `${name} of ${status} pages where users are served from it, is a ticket elsewhere, bridges failed scrapes and resolves`,
        series: fleet(
          end + 20,
          OK,
          { labels: SUBGRAPH, timeline },
          { labels: STUDIO, timeline },
          { labels: onTestnet, timeline, testnet: true },
          { labels: on("sepolia", { variant: "multichain" }), timeline: "ok:2", testnet: true },
        ),
        fires: {
          [`${start + minutes - 1}m`]: [],
          ...Object.fromEntries(
            [start + minutes + 1, end + 3].map((minute) => [
              `${minute}m`,
              [production, ticket(name, STUDIO), ticket(name, onTestnet)],
            ]),
          ),
          [`${end + 7}m`]: [],
        },
      };
    }),
    {
      name: "An alert of one status is silent in maintenance, for a status that flickers, and on a chain that has halted",
      series: fleet(
        90,
        OK,
        ...BY_STATUS.flatMap(({ status }, index): readonly TestTarget[] => [
          { labels: on(`a${index}`), timeline: status, maintenance: true },
          { labels: on(`a${index}`, { variant: "multichain" }), timeline: "ok" },
          {
            labels: on(`b${index}`),
            timeline: Array.from({ length: 45 }, () => `ok 1, ${status} 1`).join(", "),
          },
          { labels: on(`b${index}`, { variant: "multichain" }), timeline: "ok" },
        ]),
        { labels: on("halted"), timeline: "stalled" },
        { labels: on("halted", { variant: "multichain" }), timeline: "chain_halted" },
      ),
      fires: Object.fromEntries(
        ["20m", "78m"].map((at) => [at, [ticket("SynclagChainHalted", { chain: "halted" })]]),
      ),
    },
  ];
}
