import {
  fires,
  inMaintenance,
  metric,
  type RuleTest,
  silent,
  statuses,
  type TargetLabels,
  target,
} from "./rule-test.ts";

const CHAINS = ["base", "ethereum", "polygon", "gnosis"] as const;
const INDEXER = { protocol: "airdrops", variant: "subgraph", tier: "production" };
const ENDPOINT = "synclag-endpoint?var-protocol=airdrops&var-variant=subgraph";

/** Alerts of what strikes many targets at once. */
export function indexerTests(): readonly RuleTest[] {
  return [...keyRejected(), ...sharedCause()];
}

function on(chain: string, overrides: Partial<TargetLabels> = {}): TargetLabels {
  return target("subgraph", { chain, chain_id: String(chain.length), ...overrides });
}

function keyRejected(): readonly RuleTest[] {
  const alert = "SynclagKeyRejected";
  return [
    {
      name: "SynclagKeyRejected fires once an indexer, counts its chains, and resolves",
      series: CHAINS.flatMap((chain) => statuses(on(chain), "ok 5, rejected 20, ok")),
      expect: [
        ...silent(alert, "6m"),
        fires(alert, "8m", {
          severity: "critical",
          labels: INDEXER,
          summary: "airdrops subgraph (production) rejects our API key",
          description:
            "airdrops subgraph (production) rejects our key on 4 chains: it is missing, invalid or unpaid, and this does not recover by itself. How far it is behind is not known meanwhile; the dashboard shows which variants are still fresh.",
          dashboard: ENDPOINT,
        }),
        ...silent("SynclagEndpointDown", "20m"),
        ...silent(alert, "32m"),
      ],
    },
    {
      name: "SynclagKeyRejected is silent for a rate limit, and in maintenance",
      series: [
        ...statuses(on("base"), "throttled"),
        ...statuses(on("ethereum"), "rejected"),
        inMaintenance(on("ethereum")),
      ],
      expect: silent(alert, "20m"),
    },
  ];
}

function sharedCause(): readonly RuleTest[] {
  const alert = "SynclagSharedCause";
  const incident = (labels: object) => metric("synclag_incident_active", labels, "_x5 1x19 stale");
  const texts = (active: string, share = "100%") => ({
    summary: "airdrops subgraph (production): one cause on many chains",
    description: `airdrops subgraph (production): ${share} of its chains are in trouble at once, so look for one common cause. Active: ${active}.`,
    dashboard: ENDPOINT,
    labels: INDEXER,
  });
  return [
    {
      name: "SynclagSharedCause of indexers that stand still pages once, and resolves after the alerts of its chains",
      series: [
        ...CHAINS.flatMap((chain) => [
          ...statuses(on(chain), "ok 5, stalled 20, ok"),
          metric("synclag_up", on(chain), 1),
        ]),
        incident({ scope: "endpoint", subject: "airdrops/subgraph/production" }),
      ],
      expect: [
        ...silent(alert, "5m"),
        ...["7m", "33m"].map((at) =>
          fires(alert, at, { severity: "critical", ...texts("endpoint airdrops/subgraph/production") }),
        ),
        ...silent("SynclagIndexerStalled", "33m"),
        ...silent(alert, "38m"),
      ],
    },
    {
      name: "SynclagSharedCause of a lag is a ticket, and pages once a third is beyond the critical limit",
      series: [
        ...CHAINS.flatMap((chain) => [
          ...statuses(on(chain), "ok 5, lagging 26, ok"),
          metric("synclag_up", on(chain), 1),
          metric("synclag_lag_seconds", on(chain), "5x4 900x9 2000x15 5x60"),
          metric("synclag_threshold_seconds", { ...on(chain), level: "critical" }, 1800),
        ]),
        metric(
          "synclag_incident_active",
          { scope: "endpoint", subject: "airdrops/subgraph/production" },
          "_x5 1x25 stale",
        ),
      ],
      expect: [
        fires(alert, "10m", { severity: "warning", ...texts("endpoint airdrops/subgraph/production") }),
        fires(alert, "27m", { severity: "critical", ...texts("endpoint airdrops/subgraph/production") }),
        ...silent("SynclagIndexerFarBehind", "18m"),
        ...silent(alert, "45m"),
      ],
    },
    {
      name: "SynclagSharedCause of a host names the host at each indexer that it strikes, as a ticket where none pages",
      series: [
        ...CHAINS.flatMap((chain) => statuses(on(chain), "ok 5, unreachable 20, ok")),
        ...CHAINS.flatMap((chain) => statuses(on(chain, { variant: "multichain" }), "ok")),
        incident({ scope: "host", subject: "gateway.example" }),
      ],
      expect: [
        fires(alert, "7m", { severity: "warning", ...texts("host gateway.example") }),
        ...silent(alert, "38m"),
      ],
    },
    {
      name: "SynclagSharedCause of a host pages once where users have nothing else than what is down there",
      series: [
        ...CHAINS.flatMap((chain) => [
          ...statuses(on(chain), "ok 5, unreachable 20, ok"),
          metric("synclag_up", on(chain), "1x4 0x19 1x60"),
          ...statuses(on(chain, { tier: "testing" }), "ok"),
        ]),
        incident({ scope: "host", subject: "gateway.example" }),
      ],
      expect: [
        fires(alert, "7m", { severity: "critical", ...texts("host gateway.example") }),
        ...silent(alert, "38m"),
      ],
    },
    {
      name: "SynclagSharedCause is silent without an incident, for one of another scope, and in maintenance",
      series: [
        ...CHAINS.flatMap((chain) => statuses(on(chain), "stalled")),
        ...CHAINS.flatMap((chain) => statuses(on(chain, { protocol: "lockup" }), "stalled")),
        ...CHAINS.map((chain) => inMaintenance(on(chain, { protocol: "lockup" }))),
        metric("synclag_incident_active", { scope: "chain", subject: "base" }, 1),
        metric("synclag_incident_active", { scope: "endpoint", subject: "lockup/subgraph/production" }, 1),
      ],
      expect: silent(alert, "20m"),
    },
  ];
}

/** The alert that looks two hours back. */
export function targetsVanishedTests(): readonly RuleTest[] {
  const alert = "SynclagTargetsVanished";
  return [
    {
      name: "SynclagTargetsVanished misses what was watched an hour ago, and forgets it in another two",
      series: [
        ...CHAINS.slice(1).map((chain) => metric("synclag_up", on(chain), "1x89 _x300")),
        metric("synclag_up", on("base"), 1),
      ],
      expect: [
        ...silent(alert, "80m"),
        fires(alert, "115m", {
          severity: "warning",
          labels: INDEXER,
          summary: "airdrops subgraph (production): 3 chains are no longer monitored",
          description:
            "airdrops subgraph (production) was monitored on 3 more chains an hour ago: they were removed from chains.yaml, or an optional indexer is skipped because its variable is not set. How far they are behind is unknown; the dashboard shows which variants are still fresh.",
          dashboard: ENDPOINT,
        }),
        ...silent(alert, "260m"),
      ],
    },
    {
      name: "SynclagTargetsVanished is silent while Synclag is down, and for a target that fails",
      series: [
        ...CHAINS.map((chain) => metric("synclag_up", on(chain), "1x89 _x30 1x100")),
        metric("up", { job: "synclag", instance: "a" }, "1x89 0x30 1x100"),
        metric("synclag_build_info", { job: "synclag", instance: "a" }, "1x89 _x30 1x100"),
      ],
      expect: silent(alert, "80m", "110m", "125m", "180m"),
    },
  ];
}
