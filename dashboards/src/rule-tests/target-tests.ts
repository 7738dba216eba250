import {
  type Firing,
  fires,
  inMaintenance,
  metric,
  preferred,
  type RuleTest,
  silent,
  statuses,
  target,
} from "./rule-test.ts";

const SUBGRAPH = target("subgraph");
const MULTICHAIN = target("multichain");
const STUDIO = target("subgraph", { tier: "testing" });
const BASE = "synclag-chain?var-chain=base&var-protocol=airdrops";
const NAME = "airdrops on base: subgraph (production)";
const FRESHEST = "Freshest: multichain (production).";

/** An alert that goes by one status alone. */
interface ByStatus {
  readonly alert: string;
  readonly status: string;
  readonly severity: string;
  readonly forMinutes: number;
  readonly summary: string;
  readonly description: string;
  /** Of the tiers that no user is served from; null where the tier makes no difference. */
  readonly elsewhere: string | null;
}

const BY_STATUS: readonly ByStatus[] = [
  {
    alert: "SynclagIndexerStalled",
    status: "stalled",
    severity: "critical",
    forMinutes: 2,
    summary: `${NAME} stands still`,
    description: `${NAME} has stopped advancing although it answers; it is 12m 0s behind. ${FRESHEST}`,
    elsewhere: "warning",
  },
  {
    alert: "SynclagIndexerFailed",
    status: "failed",
    severity: "critical",
    forMinutes: 2,
    summary: `${NAME} has failed`,
    description: `${NAME} reports a failed deployment and will not go on by itself; it is 12m 0s behind. ${FRESHEST}`,
    elsewhere: "warning",
  },
  {
    alert: "SynclagIndexerDiverged",
    status: "diverged",
    severity: "critical",
    forMinutes: 2,
    summary: `${NAME} follows another chain`,
    description: `${NAME} answers for another chain or another fork: its data is wrong, and how far it is behind means nothing. ${FRESHEST}`,
    elsewhere: "warning",
  },
  {
    alert: "SynclagChainMissing",
    status: "missing",
    severity: "critical",
    forMinutes: 5,
    summary: `${NAME} no longer serves this chain`,
    description: `${NAME} answers, but without this chain, which chains.yaml expects of it; it was 12m 0s behind. ${FRESHEST}`,
    elsewhere: "warning",
  },
  {
    alert: "SynclagEndpointDown",
    status: "unreachable",
    severity: "warning",
    forMinutes: 5,
    summary: `${NAME} gives no usable answer`,
    description: `${NAME} gives no usable answer: the network, the host, or a deployment that is gone; it was 12m 0s behind. ${FRESHEST}`,
    elsewhere: null,
  },
  {
    alert: "SynclagThrottled",
    status: "throttled",
    severity: "warning",
    forMinutes: 30,
    summary: `${NAME} is throttled`,
    description: `${NAME} is polled too often for its provider, or our own budget for it is spent: its state is a guess; it was 12m 0s behind. ${FRESHEST}`,
    elsewhere: null,
  },
  {
    alert: "SynclagTargetUnknown",
    status: "unknown",
    severity: "warning",
    forMinutes: 30,
    summary: `${NAME}: nothing is known`,
    description: `${NAME} has given no evidence for too long, nor an error to name: whether it is 12m 0s behind or well cannot be told. ${FRESHEST}`,
    elsewhere: null,
  },
  {
    alert: "SynclagIndexerSyncing",
    status: "syncing",
    severity: "warning",
    forMinutes: 60,
    summary: `${NAME} fills its past`,
    description: `${NAME} is new or indexes anew, and is still 12m 0s behind after an hour: nobody should be served from it yet. ${FRESHEST}`,
    elsewhere: null,
  },
];

/** Alerts of one target, most of which go by its status. */
export function targetTests(): readonly RuleTest[] {
  return [...BY_STATUS.flatMap(testsByStatus), ...otherTests(), ...deploymentChanged()];
}

function testsByStatus(by: ByStatus): readonly RuleTest[] {
  const { alert, status, severity, forMinutes, summary, description } = by;
  const ends = 5 + forMinutes + 20;
  const healthy = [...statuses(MULTICHAIN, "ok"), preferred(MULTICHAIN)];
  const flickering = Array.from({ length: 40 }, () => `ok 1, ${status} 1`).join(", ");
  return [
    {
      name: `${alert} fires, keeps firing through a scrape or two, and resolves; one variant of two is no lost pair`,
      series: [
        ...statuses(SUBGRAPH, `ok 5, ${status} ${forMinutes + 20}, ok`),
        metric("synclag_lag_seconds", SUBGRAPH, 720),
        ...healthy,
      ],
      expect: [
        ...silent(alert, "4m", `${4 + forMinutes}m`),
        ...[6 + forMinutes, ends + 3].map((minute) =>
          fires(alert, `${minute}m`, {
            severity,
            labels: { ...SUBGRAPH },
            summary,
            description,
            dashboard: BASE,
          }),
        ),
        ...silent(alert, `${ends + 7}m`),
        ...silent("SynclagNoVariantOk", `${6 + forMinutes}m`),
      ],
    },
    {
      name: `${alert} is silent in maintenance, and for a status that flickers`,
      series: [
        ...statuses(SUBGRAPH, status),
        inMaintenance(SUBGRAPH),
        ...statuses(MULTICHAIN, flickering),
        metric("synclag_maintenance", MULTICHAIN, 0),
      ],
      expect: silent(alert, "10m", "78m"),
    },
    ...(by.elsewhere === null
      ? []
      : [
          {
            name: `${alert} of a tier that no user is served from opens a ticket`,
            series: [
              ...statuses(STUDIO, `${status} 30, ok`),
              metric("synclag_lag_seconds", STUDIO, 720),
              ...healthy,
            ],
            expect: [
              fires(alert, "20m", {
                severity: by.elsewhere,
                labels: { ...STUDIO },
                summary: summary.replace("(production)", "(testing)"),
                description: description.replace("(production)", "(testing)"),
                dashboard: BASE,
              }),
              ...silent(alert, "40m"),
            ],
          },
        ]),
  ];
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
          description: `${NAME} gives no usable answer: the network, the host, or a deployment that is gone; it was an unknown time behind. No variant is fresh.`,
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
          summary: `${NAME} stands still`,
          description: `${NAME} has stopped advancing although it answers; it is 12m 0s behind. ${FRESHEST}`,
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
      ].flatMap((alert) => silent(alert, "2h")),
    },
  ];
}

function endpointDownAlone(): readonly RuleTest[] {
  const alert = "SynclagEndpointDown";
  const firing: Firing = {
    severity: "warning",
    labels: { ...SUBGRAPH },
    summary: `${NAME} gives no usable answer`,
    description: `${NAME} gives no usable answer: the network, the host, or a deployment that is gone; it was an unknown time behind. Freshest: subgraph (testing).`,
    dashboard: BASE,
  };
  const paging: Firing = {
    ...firing,
    severity: "critical",
    description: firing.description.replace(
      "answer:",
      "answer, and nothing else that users are served from is fresh:",
    ),
  };
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
    ...["throttled", "chain_halted", "lagging"].map(
      (status): RuleTest => ({
        name: `SynclagEndpointDown does not page while another one is merely ${status}`,
        series: [
          ...statuses(SUBGRAPH, "unreachable"),
          ...statuses(MULTICHAIN, status),
          metric("synclag_lag_seconds", MULTICHAIN, 900),
          metric("synclag_threshold_seconds", { ...MULTICHAIN, level: "critical" }, 1800),
          ...testing,
        ],
        expect: [fires(alert, "20m", firing)],
      }),
    ),
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
            .replace("Freshest: subgraph (testing)", "No variant is fresh"),
        }),
      ],
    },
  ];
}

function deploymentChanged(): readonly RuleTest[] {
  const changed: RuleTest = {
    name: "SynclagDeploymentChanged tells of a new deployment for an hour, and not of those that stay",
    series: [
      metric("synclag_deployment_changes_total", SUBGRAPH, "0x9 1x200"),
      metric("synclag_deployment_changes_total", MULTICHAIN, 3),
      metric("synclag_lag_seconds", SUBGRAPH, 4),
      preferred(MULTICHAIN),
    ],
    expect: [
      ...silent("SynclagDeploymentChanged", "8m"),
      fires("SynclagDeploymentChanged", "12m", {
        severity: "info",
        labels: { ...SUBGRAPH },
        summary: `${NAME} runs another deployment`,
        description: `${NAME} has answered from another deployment than before within the last hour; it is 4s behind. ${FRESHEST}`,
        dashboard: BASE,
      }),
      ...silent("SynclagDeploymentChanged", "80m"),
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
      expect: silent("SynclagDeploymentChanged", "12m", "30m"),
    },
  ];
}
