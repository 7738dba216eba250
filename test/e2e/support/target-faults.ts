import type { FaultName } from "../../../src/sim/fleet/fault-list.ts";
import { type ScriptedFault, statusLine } from "./scripted-fault.ts";

/** Preferred is only what users are served from. */
const NAMES_THE_FRESHEST =
  /(Freshest: (multichain|subgraph) \(production\)|No variant that users are served from is fresh)\.$/;

/** What befalls one indexer on one chain, each a protocol and chain of its own. */
export const TARGET_FAULTS: readonly ScriptedFault[] = [
  ofTarget("airdrops/subgraph/production/abstract", {
    what: "an indexer freezes",
    alert: "SynclagIndexerStalled",
    severity: "critical",
    status: "stalled",
    says: "has stopped advancing",
    inject: freeze,
  }),
  ofTarget("airdrops/subgraph/testing/arbitrum", {
    what: "an indexer that no user is served from freezes",
    alert: "SynclagIndexerStalled",
    severity: "warning",
    status: "stalled",
    says: "has stopped advancing",
    inject: freeze,
  }),
  ofTarget("airdrops/subgraph/production/polygon", {
    what: "an endpoint answers 503",
    alert: "SynclagEndpointDown",
    severity: "warning",
    status: "unreachable",
    says: "gives no usable answer",
    inject: failing("http_503"),
  }),
  ofTarget("lockup/multichain/production/arbitrum", {
    what: "a multi-chain answer lacks a chain",
    alert: "SynclagChainMissing",
    severity: "critical",
    status: "missing",
    says: "no longer serves this chain",
    inject:
      (key) =>
      ({ fleet }) =>
        fleet.fleet.target(key).set({ rows: 0 }),
  }),
  ofTarget("airdrops/subgraph/production/scroll", {
    what: "a deployment fails",
    alert: "SynclagIndexerFailed",
    severity: "critical",
    status: "failed",
    says: "has failed",
    inject: failing("indexers_indexing_error"),
  }),
  ofTarget("airdrops/subgraph/production/gnosis", {
    what: "an indexer turns out to index another chain",
    alert: "SynclagIndexerDiverged",
    severity: "critical",
    status: "diverged",
    says: "serves another chain or fork",
    inject:
      (key) =>
      ({ fleet: { fleet } }) =>
        fleet.target(key).set({ wrongChain: fleet.chain("polygon").model }),
  }),
  ofTarget("airdrops/subgraph/production/bsc", {
    what: "an indexer does two fifths of its work",
    alert: "SynclagIndexerLagging",
    severity: "warning",
    status: "lagging",
    says: /is (\d+m )?\d+\.?\d*s behind$/,
    inject: slowed(0.4),
  }),
  ofTarget("airdrops/subgraph/production/bsc", {
    what: "… and passes the critical limit",
    alert: "SynclagIndexerFarBehind",
    severity: "critical",
    status: "lagging",
    says: /is (\d+m )?\d+\.?\d*s behind$/,
    inject: null,
  }),
  ofTarget("lockup/subgraph/testing/sei", {
    what: "an indexer falls behind by 5 s a minute",
    alert: "SynclagIndexerFallingBehind",
    severity: "warning",
    status: null,
    says: "is falling behind",
    inject: slowed(0.92),
  }),
  ofTarget("lockup/subgraph/testing/linea", {
    what: "a provider answers 429 to everything",
    alert: "SynclagThrottled",
    severity: "warning",
    status: "throttled",
    says: "is throttled",
    inject: failing("http_429_retry_after"),
  }),
  ofTarget("airdrops/subgraph/production/iotex", {
    what: "an indexer starts anew, two million blocks back",
    alert: "SynclagIndexerSyncing",
    severity: "warning",
    status: "syncing",
    says: "is back-filling",
    inject:
      (key) =>
      ({ fleet: { fleet } }) =>
        fleet.target(key).reindex({ backBlocks: 2_000_000, withinMs: 400_000 }),
  }),
  {
    ...ofTarget("lockup/subgraph/testing/base", {
      what: "two variants within their limits are 14 s apart",
      alert: "SynclagVariantsApart",
      severity: "warning",
      status: null,
      says: /and multichain are \d+\.?\d*s apart$/,
      inject:
        () =>
        ({ fleet }) =>
          fleet.fleet.target("lockup/multichain/production/base").set({ lagMs: 14_000 }),
    }),
    description: /differ by \d+\.?\d*s of chain time/,
  },
  ofTarget("airdrops/subgraph/production/mode", {
    what: "another deployment answers",
    alert: "SynclagDeploymentChanged",
    severity: "info",
    status: null,
    says: "serves another deployment",
    inject:
      (key) =>
      ({ fleet }) =>
        fleet.fleet.target(key).set({ deployment: `Qm${"1".repeat(44)}` }),
  }),
];

interface OfTarget {
  readonly what: string;
  readonly alert: string;
  readonly severity: ScriptedFault["severity"];
  /** Null where the alert does not go by a status. */
  readonly status: string | null;
  /** The end of the summary. */
  readonly says: string | RegExp;
  readonly inject: ((key: string) => NonNullable<ScriptedFault["inject"]>) | null;
}

function ofTarget(key: string, of: OfTarget): ScriptedFault {
  const { status, says, inject, ...rest } = of;
  const [protocol = "", variant = "", tier = "", chain = ""] = key.split("/");
  const name = `${protocol} on ${chain}: ${variant} (${tier})`;
  return {
    ...rest,
    labels: { protocol, variant, tier, chain },
    summary: typeof says === "string" ? `${name} ${says}` : says,
    description: NAMES_THE_FRESHEST,
    on: "fleet",
    line: status === null ? null : statusLine(key, status),
    inject: inject === null ? null : inject(key),
  };
}

/** Behind a gateway several take turns: by chance another one would seem to advance, and to lag, for seconds more. */
function freeze(key: string): NonNullable<ScriptedFault["inject"]> {
  return ({ fleet: { fleet } }) => {
    fleet.target(key).set({ replicas: 1 });
    fleet.target(key).freeze();
  };
}

function slowed(pace: number): NonNullable<OfTarget["inject"]> {
  return (key) =>
    ({ fleet }) =>
      fleet.fleet.target(key).slow(pace);
}

function failing(fault: FaultName): NonNullable<OfTarget["inject"]> {
  return (key) =>
    ({ fleet }) => {
      fleet.fleet.endpoint(key).fail(fault);
    };
}
