import { fleet, pairOf, type TestTarget, target } from "./fleet-series.ts";
import { type Firing, type Labels, metric, pages, type RuleTest, ticket } from "./rule-test.ts";

const SUBGRAPH = target("subgraph");
const MULTICHAIN = target("multichain");
const STUDIO = target("subgraph", { tier: "testing" });
const PAIR = pairOf(SUBGRAPH);
const INDEXER = { protocol: "airdrops", variant: "subgraph", tier: "production" };
const CHAINS = ["base", "form", "mode"] as const;
const OK: TestTarget = { labels: MULTICHAIN, timeline: "ok:2" };
const WRONG_NODE = { chain: "base", endpoint: "rpc/base/node.example/a" };
const MAINNET = { testnet: "false" };

const on = (chain: string, overrides: Labels = {}) =>
  target("subgraph", { chain, chain_id: String(chain.length), ...overrides });

/** Alerts of what the fleet is in one minute. */
export function fleetTests(): readonly RuleTest[] {
  return [...oneStatus(), ...late(), ...pairs(), ...indexers(), ...differences()];
}

/** Alerts that go by one status alone: the minutes of `for`, and whether it pages where users are served from it. */
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

function oneStatus(): readonly RuleTest[] {
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
    {
      name: "SynclagIndexerStalled says since when, how far behind it is, and which variant is ok",
      series: fleet(30, OK, { labels: SUBGRAPH, timeline: "ok:2 5, stalled:720" }),
      fires: { "20m": [stalledAnd("Healthy alternative: multichain (production).")] },
    },
    {
      name: "SynclagIndexerStalled names no alternative that has said nothing since it stopped",
      series: fleet(30, { ...OK, lastSuccess: 300 }, { labels: SUBGRAPH, timeline: "ok:2 5, stalled:720" }),
      fires: { "20m": [stalledAnd("multichain (production) was ok when it last answered, 15m 0s ago.")] },
    },
    {
      name: "Two Synclags that monitor the same fleet raise one alert",
      series: ["a", "b"].flatMap((instance) =>
        fleet(
          10,
          { ...OK, labels: { ...MULTICHAIN, instance } },
          { labels: { ...SUBGRAPH, instance }, timeline: "stalled" },
        ),
      ),
      fires: { "5m": [pages("SynclagIndexerStalled", SUBGRAPH)] },
    },
    {
      name: "A pair is down if every Synclag says so that monitors it",
      series: ["ok", "unreachable"].flatMap((timeline, index) =>
        fleet(10, { labels: { ...SUBGRAPH, instance: String(index) }, timeline }),
      ),
      fires: { "8m": [ticket("SynclagEndpointDown", SUBGRAPH)] },
    },
  ];
}

function stalledAnd(fresh: string): Firing {
  const others = { since: "Its height last grew 16m 0s ago.", behind: "12m 0s behind", fresh };
  return pages("SynclagIndexerStalled", { ...SUBGRAPH, ...MAINNET }, { others });
}

function late(): readonly RuleTest[] {
  const timeline = "ok:5 5, lagging:900 9, lagging:2000 15, ok:5";
  return [
    {
      name: "A lag over the first threshold is a ticket, over the second it pages where users are served, and both resolve",
      series: fleet(60, OK, { labels: SUBGRAPH, timeline }, { labels: STUDIO, timeline }),
      fires: {
        "8m": [],
        "12m": [ticket("SynclagIndexerLagging", SUBGRAPH), ticket("SynclagIndexerLagging", STUDIO)],
        "23m": [pages("SynclagLagCritical", SUBGRAPH), ticket("SynclagLagCritical", STUDIO)],
        "40m": [],
      },
    },
    {
      name: "A lone indexer that is late by the clock is a ticket until the critical threshold, and has no other alert",
      series: fleet(60, { labels: SUBGRAPH, timeline: "lagging:720 20, lagging:1900" }),
      fires: {
        "15m": [ticket("SynclagIndexerLagging", SUBGRAPH)],
        "40m": [pages("SynclagNoVariantOk", PAIR)],
      },
    },
    {
      name: "What fills its past, is in maintenance, or is within the thresholds does not lag",
      series: fleet(
        30,
        OK,
        { labels: SUBGRAPH, timeline: "syncing:100000" },
        { labels: STUDIO, timeline: "lagging:2000", maintenance: true },
      ),
      fires: { "20m": [] },
    },
  ];
}

function pairs(): readonly RuleTest[] {
  const lost = pages("SynclagNoVariantOk", PAIR);
  const variants = " multichain (production): failed, 20m 0s behind. subgraph (production): unreachable.";
  const all = pages("SynclagAllVariantsStalled", PAIR);
  const onTestnet = ticket("SynclagAllVariantsStalled", { protocol: "airdrops", chain: "sepolia" });
  const halted = [ticket("SynclagChainHalted", { chain: "base" })];
  return [
    {
      name: "SynclagNoVariantOk fires when the last usable variant is gone, names each, and resolves when one is back",
      series: fleet(
        50,
        { labels: SUBGRAPH, timeline: "ok 5, unreachable 20, ok" },
        { labels: MULTICHAIN, timeline: "failed:1200" },
      ),
      fires: {
        "4m": [pages("SynclagIndexerFailed", MULTICHAIN)],
        "12m": [pages("SynclagNoVariantOk", { ...PAIR, ...MAINNET }, { others: { variants } })],
        "40m": [pages("SynclagIndexerFailed", MULTICHAIN)],
      },
    },
    {
      name: "SynclagNoVariantOk goes by the tier that serves users, is a ticket on a testnet, and waits for the critical threshold",
      series: fleet(
        40,
        { labels: SUBGRAPH, timeline: "lagging:1700 9, lagging:1900" },
        { labels: STUDIO, timeline: "ok" },
        { labels: on("sepolia"), timeline: "unreachable 30, ok", testnet: true },
      ),
      fires: {
        "9m": [
          ticket("SynclagIndexerLagging", SUBGRAPH),
          ticket("SynclagNoVariantOk", { protocol: "airdrops", chain: "sepolia" }),
        ],
        "25m": [lost, ticket("SynclagNoVariantOk", { protocol: "airdrops", chain: "sepolia" })],
        "38m": [lost],
      },
    },
    {
      name: "SynclagNoVariantOk is silent while all that serve users are in maintenance, and fires while only one is",
      series: fleet(
        30,
        { labels: STUDIO, timeline: "ok" },
        { labels: SUBGRAPH, timeline: "unreachable", maintenance: true },
        { labels: MULTICHAIN, timeline: "unreachable", maintenance: true },
        { labels: on("form"), timeline: "unreachable", maintenance: true },
        { labels: on("form", { variant: "multichain" }), timeline: "unreachable" },
      ),
      fires: { "20m": [pages("SynclagNoVariantOk", { protocol: "airdrops", chain: "form" })] },
    },
    {
      name: "SynclagAllVariantsStalled fires in place of the others, is a ticket on a testnet, and resolves",
      series: fleet(
        50,
        { labels: SUBGRAPH, timeline: "ok 5, stalled 20, ok" },
        { labels: MULTICHAIN, timeline: "ok 5, stalled 20, unreachable 10, ok" },
        { labels: on("sepolia"), timeline: "stalled 25, ok", testnet: true },
        { labels: on("sepolia", { variant: "multichain" }), timeline: "stalled 25, ok", testnet: true },
      ),
      fires: {
        "8m": [all, onTestnet],
        "24m": [all, onTestnet],
        "34m": [ticket("SynclagEndpointDown", MULTICHAIN)],
      },
    },
    {
      name: "SynclagAllVariantsStalled says that a halt cannot be told apart where no node of the chain is asked",
      series: fleet(
        20,
        { labels: SUBGRAPH, timeline: "ok 5, stalled" },
        { labels: MULTICHAIN, timeline: "ok 5, stalled" },
      ),
      fires: {
        "5m": [],
        "8m": [allStalledAnd("No node of the chain is polled, so the chain itself may have halted.")],
      },
    },
    {
      name: "SynclagAllVariantsStalled says where a node of the chain is asked, too",
      series: [
        ...fleet(
          20,
          { labels: SUBGRAPH, timeline: "ok 5, stalled" },
          { labels: MULTICHAIN, timeline: "ok 5, stalled" },
        ),
        metric("synclag_polls_total", { variant: "rpc", endpoint: "base" }, 7),
      ],
      fires: {
        "8m": [
          allStalledAnd(
            "A node of the chain is polled as well and shows no halt: look for what the variants have in common.",
          ),
        ],
      },
    },
    {
      name: "SynclagChainHalted is one ticket for all that wait for the chain, resolves, and is silent in maintenance",
      series: fleet(
        40,
        { labels: SUBGRAPH, timeline: "ok 5, chain_halted 15, ok" },
        { labels: MULTICHAIN, timeline: "ok 5, chain_halted 15, ok" },
        { labels: on("form"), timeline: "chain_halted", maintenance: true },
      ),
      fires: { "6m": [], "10m": halted, "30m": [] },
    },
    {
      name: "SynclagRpcWrongChain is a ticket for each node of another chain, names it, bridges failed scrapes and resolves",
      series: [
        metric("synclag_rpc_chain_mismatch", WRONG_NODE, "_x5 1x10 _x2 0x60"),
        metric("synclag_rpc_chain_mismatch", { ...WRONG_NODE, endpoint: "rpc/base/good.example/b" }, 0),
      ],
      fires: {
        "6m": [],
        "8m": [ticket("SynclagRpcWrongChain", WRONG_NODE, { value: "1" })],
        "17m": [ticket("SynclagRpcWrongChain", WRONG_NODE, { value: "1" })],
        "25m": [],
      },
    },
  ];
}

function allStalledAnd(witness: string): Firing {
  const variants = " multichain (production): stalled. subgraph (production): stalled.";
  const texts = { value: "2", others: { witness, variants } };
  return pages("SynclagAllVariantsStalled", { ...PAIR, ...MAINNET }, texts);
}

function indexers(): readonly RuleTest[] {
  const incident = (minutes: string, labels: Labels) =>
    metric("synclag_incident_targets", { scope: "endpoint", ...INDEXER, ...labels }, minutes);
  const stalled = CHAINS.map(
    (chain): TestTarget => ({ labels: on(chain), timeline: "ok 5, stalled 20, ok" }),
  );
  const others = CHAINS.map((chain): TestTarget => {
    return { labels: on(chain, { variant: "multichain" }), timeline: "ok" };
  });
  const cause = (severity: typeof pages, status?: string, host = ""): Firing => {
    const others = { "common-status": status ?? "", "common-host": host };
    const texts = status === undefined ? undefined : { value: "3 chains", others };
    return severity("SynclagSharedCause", INDEXER, texts);
  };
  return [
    {
      name: "SynclagKeyRejected is the only page of a rejected key, and names the chains that have no other variant",
      series: fleet(
        40,
        ...CHAINS.map((chain): TestTarget => ({ labels: on(chain), timeline: "ok 5, rejected 20, ok" })),
        { labels: on("base", { variant: "multichain" }), timeline: "ok" },
      ),
      fires: {
        "6m": [],
        "10m": [
          pages(
            "SynclagKeyRejected",
            { ...INDEXER, ...MAINNET },
            { value: "3 chains", others: { stranded: "No usable variant is left on form mode." } },
          ),
        ],
        "35m": [],
      },
    },
    {
      name: "SynclagKeyRejected is silent in maintenance, and a ticket on a testnet",
      series: fleet(
        40,
        { labels: SUBGRAPH, timeline: "rejected", maintenance: true },
        { labels: on("sepolia"), timeline: "rejected 15, ok", testnet: true },
      ),
      fires: { "10m": [ticket("SynclagKeyRejected", INDEXER)], "25m": [] },
    },
    {
      name: "SynclagSharedCause pages once where the daemon says so, names the status, and outlasts the alerts of its chains",
      series: [
        ...fleet(60, ...stalled, ...others),
        incident("_x5 3x19 stale", { status: "stalled", severity: "critical" }),
      ],
      fires: {
        "5m": [],
        "9m": [
          cause(pages, "stalled"),
          ...stalled.map(({ labels }) => pages("SynclagIndexerStalled", labels)),
        ],
        "33m": [cause(pages)],
        "40m": [],
      },
    },
    {
      name: "SynclagSharedCause of a lag is a ticket, and pages once the daemon says so",
      series: [
        ...fleet(
          60,
          ...CHAINS.map((chain): TestTarget => {
            return { labels: on(chain), timeline: "ok:2 5, lagging:900 9, lagging:2000 16, ok:2" };
          }),
          ...others,
        ),
        incident("_x5 3x8 stale", { status: "lagging", severity: "warning" }),
        incident("_x14 3x16 stale", { status: "lagging", severity: "critical" }),
      ],
      fires: {
        "8m": [cause(ticket)],
        "28m": [cause(pages), ...CHAINS.map((chain) => pages("SynclagLagCritical", on(chain)))],
        "50m": [],
      },
    },
    {
      name: "SynclagSharedCause of a host names it, is a ticket where nothing pages, and is silent in maintenance, of a key and of a chain",
      series: [
        incident("3x20", {
          ...{ scope: "host", host: "gateway.example", status: "unreachable", severity: "warning" },
        }),
        incident("0x20", { variant: "a", status: "stalled", severity: "critical" }),
        incident("3x20", { variant: "b", status: "rejected", severity: "critical" }),
        incident("3x20", {
          variant: "",
          tier: "",
          protocol: "",
          scope: "chain",
          chain: "base",
          severity: "",
        }),
      ],
      fires: { "7m": [cause(ticket, "unreachable", ", as is everything on host gateway.example")] },
    },
  ];
}

function differences(): readonly RuleTest[] {
  const against = { against: "multichain" };
  const variants = " multichain (production): ok, 2s behind. subgraph (production): ok, 2s behind.";
  const parity = { ...SUBGRAPH, ...against, probe: "campaigns" };
  return [
    {
      name: "SynclagVariantGapHigh fires where two variants that are both ok are apart, whichever is ahead, and resolves",
      series: [
        ...fleet(60, OK, { labels: SUBGRAPH, timeline: "ok:2" }),
        metric("synclag_variant_gap_seconds", { ...SUBGRAPH, ...against }, "3x4 -420x24 3x60"),
      ],
      fires: {
        "12m": [],
        "20m": [
          ticket(
            "SynclagVariantGapHigh",
            { ...SUBGRAPH, ...against },
            { value: "7m 0s", others: { variants } },
          ),
        ],
        "45m": [],
      },
    },
    {
      name: "SynclagVariantGapHigh is silent where one has an alert of its own, within half of the threshold, and in maintenance",
      series: [
        ...fleet(
          30,
          { labels: SUBGRAPH, timeline: "ok" },
          { labels: MULTICHAIN, timeline: "stalled" },
          { labels: on("form"), timeline: "ok" },
          { labels: on("form", { variant: "multichain" }), timeline: "ok" },
          { labels: on("form", { tier: "testing" }), timeline: "ok", maintenance: true },
        ),
        metric("synclag_variant_gap_seconds", { ...SUBGRAPH, ...against }, -4_000),
        metric("synclag_variant_gap_seconds", { ...on("form"), ...against }, 290),
        metric("synclag_variant_gap_seconds", { ...on("form", { tier: "testing" }), ...against }, 500),
      ],
      fires: { "20m": [pages("SynclagIndexerStalled", MULTICHAIN)] },
    },
    {
      name: "SynclagDataMismatch fires after a quarter of an hour of different data, bridges a restart, and resolves",
      series: [
        ...fleet(60, { labels: SUBGRAPH, timeline: "ok" }),
        metric("synclag_parity", parity, "1x4 0x25 _x3 1x60"),
      ],
      fires: {
        "18m": [],
        "21m": [ticket("SynclagDataMismatch", SUBGRAPH)],
        "32m": [ticket("SynclagDataMismatch", SUBGRAPH)],
        "45m": [],
      },
    },
    {
      name: "SynclagDataMismatch is silent for equal data, a short difference, what cannot be compared, and in maintenance",
      series: [
        ...fleet(60, ...[SUBGRAPH, on("form"), on("morph")].map((labels) => ({ labels, timeline: "ok" })), {
          labels: STUDIO,
          timeline: "ok",
          maintenance: true,
        }),
        metric("synclag_parity", parity, 1),
        metric("synclag_parity", { ...parity, ...on("form") }, "1x4 0x12 1x60"),
        metric("synclag_parity", { ...parity, ...on("morph") }, "0x4 _x60"),
        metric("synclag_parity", { ...parity, tier: "testing" }, 0),
      ],
      fires: { "10m": [], "20m": [], "40m": [] },
    },
  ];
}
