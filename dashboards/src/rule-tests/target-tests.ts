import {
  type Firing,
  fires,
  type InputSeries,
  inMaintenance,
  metric,
  preferred,
  type RuleTest,
  silent,
  statuses,
  type TargetLabels,
  target,
} from "./rule-test.ts";

const SUBGRAPH = target("subgraph");
const MULTICHAIN = target("multichain");
const STUDIO = target("subgraph", { tier: "testing" });
const BASE = "synclag-chain?var-chain=base&var-protocol=airdrops";
const NAME = "airdrops on base: subgraph (production)";
const FRESHEST = "Freshest: multichain (production).";

/** An alert that goes by one status alone, on a chain of its own. */
interface ByStatus {
  readonly alert: string;
  readonly status: string;
  readonly severity: string;
  readonly forMinutes: number;
  /** What follows the target's name in the summary, and in the description. */
  readonly summary: string;
  readonly description: string;
  /** Severity in the other tiers; null where the tier makes no difference. */
  readonly elsewhere: string | null;
}

const BY_STATUS: readonly ByStatus[] = [
  {
    alert: "SynclagIndexerStalled",
    status: "stalled",
    severity: "critical",
    forMinutes: 2,
    summary: " has stopped advancing",
    description: ` still answers, but its indexed block no longer advances; it is 12m 0s behind. ${FRESHEST}`,
    elsewhere: "warning",
  },
  {
    alert: "SynclagIndexerFailed",
    status: "failed",
    severity: "critical",
    forMinutes: 2,
    summary: " has failed",
    description: ` reports a failed deployment, which does not recover by itself; it is 12m 0s behind. ${FRESHEST}`,
    elsewhere: "warning",
  },
  {
    alert: "SynclagIndexerDiverged",
    status: "diverged",
    severity: "critical",
    forMinutes: 2,
    summary: " serves another chain or fork",
    description: ` serves data of another chain or another fork: the data is wrong, so how far it is behind says nothing. ${FRESHEST}`,
    elsewhere: "warning",
  },
  {
    alert: "SynclagChainMissing",
    status: "missing",
    severity: "critical",
    forMinutes: 5,
    summary: " no longer serves this chain",
    description: ` answers without this chain, although chains.yaml lists it; it was 12m 0s behind. ${FRESHEST}`,
    elsewhere: "warning",
  },
  {
    alert: "SynclagEndpointDown",
    status: "unreachable",
    severity: "warning",
    forMinutes: 5,
    summary: " gives no usable answer",
    description: ` gives no usable answer. Possible causes: the network, the host, or a deleted deployment. It was 12m 0s behind. ${FRESHEST}`,
    elsewhere: null,
  },
  {
    alert: "SynclagThrottled",
    status: "throttled",
    severity: "warning",
    forMinutes: 30,
    summary: " is throttled",
    description: ` is rate-limited by its provider, or our own budget for it is used up, so its current state is not known; it was 12m 0s behind. ${FRESHEST}`,
    elsewhere: null,
  },
  {
    alert: "SynclagTargetUnknown",
    status: "unknown",
    severity: "warning",
    forMinutes: 30,
    summary: ": status unknown",
    description: ` has returned no usable height for too long, and no error that would say why; it was 12m 0s behind. ${FRESHEST}`,
    elsewhere: null,
  },
  {
    alert: "SynclagIndexerSyncing",
    status: "syncing",
    severity: "warning",
    forMinutes: 60,
    summary: " is back-filling",
    description: ` is new or is re-indexing, and is still 12m 0s behind after an hour: do not serve users from it yet. ${FRESHEST}`,
    elsewhere: null,
  },
];

/** Statuses of another variant that keep SynclagEndpointDown from paging. */
const MERELY = ["throttled", "chain_halted", "lagging"];

/** Alerts of one target, most of which go by its status. */
export function targetTests(): readonly RuleTest[] {
  return [...byStatus(), ...otherTests()];
}

/** All alerts in one test each, since the CPU time of promtool depends on the minutes evaluated, not on the series. */
function byStatus(): readonly RuleTest[] {
  const paged = BY_STATUS.filter(({ elsewhere }) => elsewhere !== null);
  return [
    {
      name: "An alert of one status fires, keeps firing through a scrape or two, and resolves; one variant of two is no lost pair",
      series: BY_STATUS.flatMap(({ status, forMinutes }) => [
        ...statuses(onOwnChain(status), `ok 5, ${status} ${forMinutes + 20}, ok`),
        metric("synclag_lag_seconds", onOwnChain(status), 720),
        ...healthy(status),
      ]),
      expect: BY_STATUS.flatMap((by) => {
        const { alert, forMinutes, severity } = by;
        const ends = 5 + forMinutes + 20;
        return [
          ...silent(alert, "4m", `${4 + forMinutes}m`),
          ...[6 + forMinutes, ends + 3].map((minute) =>
            fires(alert, `${minute}m`, firingOf(by, { severity, tier: "production" })),
          ),
          ...silent(alert, `${ends + 7}m`),
          ...silent("SynclagNoVariantOk", `${6 + forMinutes}m`),
        ];
      }),
    },
    {
      name: "An alert of one status is silent in maintenance, and for a status that flickers",
      series: BY_STATUS.flatMap(({ status }) => {
        const flickering = Array.from({ length: 40 }, () => `ok 1, ${status} 1`).join(", ");
        return [
          ...statuses(onOwnChain(status), status),
          inMaintenance(onOwnChain(status)),
          ...statuses(onOwnChain(status, { variant: "multichain" }), flickering),
          metric("synclag_maintenance", onOwnChain(status, { variant: "multichain" }), 0),
        ];
      }),
      expect: BY_STATUS.flatMap(({ alert }) => silent(alert, "10m", "78m")),
    },
    {
      name: "An alert of one status opens a ticket in a tier that no user is served from",
      series: paged.flatMap(({ status }) => [
        ...statuses(onOwnChain(status, { tier: "testing" }), `${status} 30, ok`),
        metric("synclag_lag_seconds", onOwnChain(status, { tier: "testing" }), 720),
        ...healthy(status),
      ]),
      expect: paged.flatMap((by) => [
        fires(by.alert, "20m", firingOf(by, { severity: by.elsewhere ?? "", tier: "testing" })),
        ...silent(by.alert, "40m"),
      ]),
    },
  ];
}

/** A target with a chain of its own, named after the status. */
function onOwnChain(status: string, overrides: Partial<TargetLabels> = {}): TargetLabels {
  return target("subgraph", { chain: `chain-${status}`, chain_id: String(status.length), ...overrides });
}

function healthy(status: string): readonly InputSeries[] {
  const multichain = onOwnChain(status, { variant: "multichain" });
  return [...statuses(multichain, "ok"), preferred(multichain)];
}

function firingOf(
  { status, summary, description }: ByStatus,
  { severity, tier }: { readonly severity: string; readonly tier: string },
): Firing {
  const labels = onOwnChain(status, { tier });
  const name = `airdrops on ${labels.chain}: subgraph (${tier})`;
  return {
    severity,
    labels: { ...labels },
    summary: `${name}${summary}`,
    description: `${name}${description}`,
    dashboard: `synclag-chain?var-chain=${labels.chain}&var-protocol=airdrops`,
  };
}

function otherTests(): readonly RuleTest[] {
  return [
    {
      name: "A deployment that is gone is an endpoint that is down; a change of the reason does not begin anew",
      series: [...statuses(SUBGRAPH, "unreachable 3, not_found"), ...statuses(MULTICHAIN, "ok")],
      expect: [
        fires("SynclagEndpointDown", "6m", {
          severity: "warning",
          labels: { ...SUBGRAPH },
          summary: `${NAME} gives no usable answer`,
          description: `${NAME} gives no usable answer. Possible causes: the network, the host, or a deleted deployment. It was an unknown time behind. No variant that users are served from is fresh.`,
          dashboard: BASE,
        }),
      ],
    },
    ...endpointDownAlone(),
    {
      name: "Two Synclags that watch the same fleet raise one alert",
      series: [
        ...statuses(SUBGRAPH, "stalled"),
        ...statuses(SUBGRAPH, "stalled").map(({ series, values }) => ({
          series: series.replace("{", '{instance="b", '),
          values,
        })),
        ...statuses(MULTICHAIN, "ok"),
        preferred(MULTICHAIN),
        metric("synclag_lag_seconds", SUBGRAPH, 720),
      ],
      expect: [
        fires("SynclagIndexerStalled", "5m", {
          severity: "critical",
          labels: { ...SUBGRAPH },
          summary: `${NAME} has stopped advancing`,
          description: `${NAME} still answers, but its indexed block no longer advances; it is 12m 0s behind. ${FRESHEST}`,
          dashboard: BASE,
        }),
      ],
    },
    {
      name: "A spent budget says nothing of the indexers",
      series: [...statuses(SUBGRAPH, "throttled"), ...statuses(MULTICHAIN, "throttled")],
      expect: [
        "SynclagNoVariantOk",
        "SynclagEndpointDown",
        "SynclagIndexerStalled",
        "SynclagTargetUnknown",
      ].flatMap((alert) => silent(alert, "40m")),
    },
  ];
}

function endpointDownAlone(): readonly RuleTest[] {
  const alert = "SynclagEndpointDown";
  const firing: Firing = {
    severity: "warning",
    labels: { ...SUBGRAPH },
    summary: `${NAME} gives no usable answer`,
    description: `${NAME} gives no usable answer. Possible causes: the network, the host, or a deleted deployment. It was an unknown time behind. Freshest: subgraph (testing).`,
    dashboard: BASE,
  };
  const paging: Firing = {
    ...firing,
    severity: "critical",
    description: firing.description.replace(
      "answer.",
      "answer, and no other variant that users are served from is fresh.",
    ),
  };
  const ticketOf = (status: string): Firing => ({
    ...firing,
    labels: { ...onOwnChain(status) },
    summary: firing.summary.replace("base", `chain-${status}`),
    description: firing.description.replace("base", `chain-${status}`),
    dashboard: firing.dashboard.replace("base", `chain-${status}`),
  });
  const testing = [...statuses(STUDIO, "ok"), preferred(STUDIO)];
  return [
    {
      name: "SynclagEndpointDown pages where only a tier that no user is served from is fresh, and resolves",
      series: [
        ...statuses(SUBGRAPH, "ok 5, unreachable 40, ok"),
        ...statuses(MULTICHAIN, "ok 20, stalled 10, ok"),
        ...testing,
      ],
      expect: [
        fires(alert, "15m", firing),
        fires(alert, "28m", paging),
        ...silent("SynclagNoVariantOk", "28m"),
        fires(alert, "42m", firing),
        ...silent(alert, "52m"),
      ],
    },
    {
      name: "SynclagEndpointDown does not page while another one is merely throttled, late, or waits for its chain",
      series: MERELY.flatMap((status) => [
        ...statuses(onOwnChain(status), "unreachable"),
        ...statuses(onOwnChain(status, { variant: "multichain" }), status),
        metric("synclag_lag_seconds", onOwnChain(status, { variant: "multichain" }), 900),
        metric(
          "synclag_threshold_seconds",
          { ...onOwnChain(status, { variant: "multichain" }), level: "critical" },
          1800,
        ),
        ...statuses(onOwnChain(status, { tier: "testing" }), "ok"),
        preferred(onOwnChain(status, { tier: "testing" })),
      ]),
      expect: [fires(alert, "20m", ...MERELY.map(ticketOf))],
    },
    {
      name: "SynclagEndpointDown of a tier that no user is served from is a ticket, whatever else is down",
      series: [
        ...statuses(STUDIO, "unreachable"),
        ...statuses(SUBGRAPH, "stalled"),
        ...statuses(MULTICHAIN, "stalled"),
      ],
      expect: [
        fires(alert, "20m", {
          ...firing,
          labels: { ...STUDIO },
          summary: firing.summary.replace("(production)", "(testing)"),
          description: firing.description
            .replace("(production)", "(testing)")
            .replace("Freshest: subgraph (testing)", "No variant that users are served from is fresh"),
        }),
      ],
    },
  ];
}

/** The alert of an event that stands for an hour. */
export function deploymentChangedTests(): readonly RuleTest[] {
  const changed: RuleTest = {
    name: "SynclagDeploymentChanged tells of a new deployment for an hour, and not of those that stay",
    series: [
      metric("synclag_deployment_changes_total", SUBGRAPH, "0x9 1x200"),
      metric("synclag_deployment_changes_total", MULTICHAIN, 3),
      metric("synclag_lag_seconds", SUBGRAPH, 4),
      preferred(MULTICHAIN),
    ],
    expect: [
      ...silent("SynclagDeploymentChanged", "7m"),
      fires("SynclagDeploymentChanged", "14m", {
        severity: "info",
        labels: { ...SUBGRAPH },
        summary: `${NAME} serves another deployment`,
        description: `${NAME} switched to another deployment within the last hour; it is 4s behind. ${FRESHEST}`,
        dashboard: BASE,
      }),
      ...silent("SynclagDeploymentChanged", "84m"),
    ],
  };
  return [
    changed,
    {
      name: "SynclagDeploymentChanged is silent for a restart of Synclag, and in maintenance",
      series: [
        metric("synclag_deployment_changes_total", SUBGRAPH, "4x9 0x200"),
        metric("synclag_deployment_changes_total", MULTICHAIN, "0x9 1x200"),
        inMaintenance(MULTICHAIN),
      ],
      expect: silent("SynclagDeploymentChanged", "14m", "28m"),
    },
  ];
}
