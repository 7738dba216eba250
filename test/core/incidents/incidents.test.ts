import { describe, expect, it } from "vitest";
import { findIncidents } from "../../../src/core/incidents/incidents.ts";
import type { Endpoint } from "../../../src/core/model/fleet.ts";
import type { FailureReason } from "../../../src/core/model/observation.ts";
import type { ChainReport, Incident, Status, TargetReport } from "../../../src/core/model/report.ts";
import { BASE, T0, targetOn } from "../chain/chain-fixture.ts";

const CHAINS = ["base", "form", "sei", "mode"].map((slug, index) => ({ ...BASE, slug, id: index + 1 }));

interface Said {
  readonly status: Status;
  readonly reason?: FailureReason;
}

/** Two multi-chain endpoints on one host, and a subgraph per protocol and chain on another. */
const ENDPOINTS: readonly Endpoint[] = [
  ...["airdrops", "lockup"].map((protocol) =>
    endpoint(
      `${protocol}/multichain`,
      "envio.test",
      CHAINS.map(({ slug }) => slug),
    ),
  ),
  ...["airdrops", "lockup"].flatMap((protocol) =>
    CHAINS.map(({ slug }) => endpoint(`${protocol}/subgraph`, "gateway.test", [slug])),
  ),
];

function endpoint(name: string, host: string, slugs: readonly string[]): Endpoint {
  const targets = CHAINS.filter(({ slug }) => slugs.includes(slug)).map((chain) => targetOn(chain, name));
  const [protocol = "", variant = ""] = name.split("/");
  const [only] = slugs.length === 1 ? slugs : [];
  return {
    key: `${name}/production/${only ?? "all"}`,
    kind: "indexer",
    protocol,
    variant,
    tier: "production",
    name: only ?? "all",
    url: `https://${host}/`,
    host,
    headers: {},
    dialect: "auto",
    schedule: "*/15 * * * * *",
    pollIntervalMs: 15_000,
    budget: null,
    targets,
    chain: only ?? null,
  };
}

/** Reports in which `said` tells what is wrong; all else is well. */
function reportsOf(said: (key: string) => Said | null): readonly ChainReport[] {
  const targets = ENDPOINTS.flatMap((served) => served.targets);
  return CHAINS.map((chain) => ({
    chain,
    reference: null,
    standings: [],
    dispute: null,
    blockIntervalMs: null,
    gaps: [],
    parity: [],
    targets: targets
      .filter((target) => target.chain === chain.slug)
      .map((target): TargetReport => {
        const { status, reason = null } = said(target.key) ?? { status: "ok" };
        return {
          target,
          status,
          reason,
          detail: "",
          up: reason === null,
          block: 1,
          blockTimestampSec: null,
          lagBlocks: 0,
          lagMs: 0,
          lagExtrapolated: false,
          lastSuccessMs: null,
          lastAdvanceMs: null,
          indexingErrors: null,
          deployment: null,
          deploymentChanges: 0,
          regressions: { reorg: 0, reindex: 0 },
          preferred: false,
          maintenance: false,
        };
      }),
  }));
}

function find(
  said: (key: string) => Said | null,
  previous: readonly Incident[] = [],
  nowMs = T0,
): readonly Incident[] {
  const reports = reportsOf(said);
  return findIncidents(previous, { reports, endpoints: ENDPOINTS, isNetworkDown: false, nowMs });
}

function shortly(incidents: readonly Incident[]): readonly string[] {
  return incidents.map(({ scope, subject, targets }) => `${scope} ${subject} ${targets.length}`);
}

const DOWN: Said = { status: "unreachable", reason: "connect" };

describe("findIncidents()", () => {
  it.each<{
    readonly case: string;
    readonly wrong: (key: string) => Said | null;
    readonly found: readonly string[];
  }>([
    { case: "nothing is wrong", wrong: () => null, found: [] },
    {
      case: "one target is down",
      wrong: (key) => (key === "airdrops/multichain/production/base" ? DOWN : null),
      found: [],
    },
    {
      case: "targets that share nothing are down",
      wrong: (key) => (/airdrops.multichain.*base|lockup.subgraph.*sei/.test(key) ? DOWN : null),
      found: [],
    },
    {
      case: "one multi-chain endpoint is down",
      wrong: (key) => (key.startsWith("airdrops/multichain") ? DOWN : null),
      found: ["endpoint airdrops/multichain/production 4"],
    },
    {
      case: "a key is rejected by most endpoints of one indexer",
      wrong: (key) =>
        /airdrops.subgraph.*(base|form|sei)/.test(key)
          ? { status: "rejected", reason: "unauthorized" }
          : null,
      found: ["endpoint airdrops/subgraph/production 3"],
    },
    {
      case: "half of an indexer is down, which is not most of it",
      wrong: (key) => (/airdrops.subgraph.*(base|form)/.test(key) ? DOWN : null),
      found: [],
    },
    {
      case: "all endpoints of one host are down",
      wrong: (key) => (key.includes("/subgraph/") ? DOWN : null),
      found: ["host gateway.test 8"],
    },
    {
      case: "all but one endpoint of a host are down, so that each of its indexers has its own fault",
      wrong: (key) => (key.includes("/subgraph/") && key !== "lockup/subgraph/production/base" ? DOWN : null),
      found: ["endpoint airdrops/subgraph/production 4", "endpoint lockup/subgraph/production 3"],
    },
    {
      case: "one multi-chain endpoint lags on most chains",
      wrong: (key) => (/lockup.multichain.*(base|form|mode)/.test(key) ? { status: "lagging" } : null),
      found: ["endpoint lockup/multichain/production 3"],
    },
    {
      case: "all indexers of one chain lag or have stopped",
      wrong: (key) =>
        key.endsWith("/sei") ? { status: key.includes("multi") ? "stalled" : "lagging" } : null,
      found: ["chain sei 4"],
    },
    {
      case: "a chain has halted",
      wrong: (key) => (key.endsWith("/sei") ? { status: "chain_halted" } : null),
      found: ["chain sei 4"],
    },
    {
      case: "all indexers of a chain that can be asked stand still",
      wrong: (key) => {
        if (!key.endsWith("/sei")) {
          return null;
        }
        return key === "lockup/subgraph/production/sei" ? DOWN : { status: "stalled" };
      },
      found: ["chain sei 3"],
    },
    {
      case: "one indexer of a chain goes on",
      wrong: (key) => (key.endsWith("/sei") && !key.startsWith("lockup/sub") ? { status: "stalled" } : null),
      found: [],
    },
    {
      case: "two things are wrong at once, each said once",
      wrong: (key) => {
        if (key.startsWith("airdrops/multichain")) {
          return DOWN;
        }
        return key.endsWith("/sei") ? { status: "stalled" } : null;
      },
      found: ["endpoint airdrops/multichain/production 4", "chain sei 3"],
    },
    {
      case: "a provider contradicts the others with all that it serves on one chain",
      wrong: (key) => (/subgraph.*sei/.test(key) ? { status: "diverged" } : null),
      found: ["host gateway.test 2"],
    },
    {
      case: "a provider contradicts the others with one of two that it serves on a chain",
      wrong: (key) => (/airdrops.subgraph.*(sei|form)/.test(key) ? { status: "diverged" } : null),
      found: [],
    },
    {
      case: "a provider contradicts the others with all that it serves",
      wrong: (key) => (key.includes("/subgraph/") ? { status: "diverged" } : null),
      found: ["host gateway.test 8"],
    },
    {
      case: "all that a provider serves on one chain lags, and the rest of that chain does not",
      wrong: (key) => (/subgraph.*sei/.test(key) ? { status: "lagging" } : null),
      found: [],
    },
    { case: "everything is down", wrong: () => DOWN, found: ["host envio.test 8", "host gateway.test 8"] },
  ])("finds $found where $case", ({ wrong, found }) => {
    expect(shortly(find(wrong))).toEqual(found);
  });

  it("blames our network, and nobody else, when nothing at all is reached", () => {
    const reports = reportsOf(() => DOWN);

    const incidents = findIncidents([], {
      reports,
      endpoints: ENDPOINTS,
      isNetworkDown: true,
      nowMs: T0,
    });

    expect(shortly(incidents)).toEqual(["network all 16"]);
    expect(incidents[0]?.targets.toSorted()).toEqual(
      ENDPOINTS.flatMap(({ targets }) => targets.map(({ key }) => key)).toSorted(),
    );
  });

  it("says what is wrong, and with which targets", () => {
    const [incident] = find((key) =>
      /lockup.multichain.*(base|form|mode)/.test(key) ? { status: "lagging" } : null,
    );

    expect(incident).toEqual({
      scope: "endpoint",
      subject: "lockup/multichain/production",
      sinceMs: T0,
      detail: "3 of 4 targets of lockup/multichain/production lag or have stopped",
      targets: ["base", "form", "mode"].map((chain) => `lockup/multichain/production/${chain}`),
    });
  });

  it("begins anew where another incident came before", () => {
    const first = find((key) => (key.startsWith("airdrops/multichain") ? DOWN : null));

    const later = find((key) => (key.startsWith("lockup/multichain") ? DOWN : null), first, T0 + 60_000);

    expect(later.map(({ sinceMs }) => sinceMs)).toEqual([T0 + 60_000]);
  });

  it("tells the trouble that most are in, of equals the first", () => {
    const details = (lagging: RegExp) =>
      find((key) => {
        if (!/lockup.multichain/.test(key)) {
          return null;
        }
        return lagging.test(key) ? { status: "lagging" } : { status: "missing" };
      }).map(({ detail }) => detail);

    expect(details(/base|form|mode/)).toEqual([
      "3 of 4 targets of lockup/multichain/production lag or have stopped",
    ]);
    expect(details(/base/)).toEqual([
      "3 of 4 targets of lockup/multichain/production are missing from the answer",
    ]);
    expect(details(/base|form/)).toEqual([]);
  });

  it("keeps the beginning of an incident that goes on", () => {
    const wrong = (key: string) => (key.startsWith("airdrops/multichain") ? DOWN : null);
    const first = find(wrong);

    const later = find(wrong, first, T0 + 60_000);

    expect(later.map(({ sinceMs }) => sinceMs)).toEqual([T0]);
  });

  it.each([
    { chains: "base|form", found: ["endpoint airdrops/multichain/production 2"] },
    { chains: "base", found: [] },
  ])("ends an incident later than it would begin: $found with $chains left", ({ chains, found }) => {
    const first = find((key) => (key.startsWith("airdrops/multichain") ? DOWN : null));

    const later = find(
      (key) => (new RegExp(`airdrops.multichain.*(${chains})`).test(key) ? DOWN : null),
      first,
    );

    expect(shortly(later)).toEqual(found);
  });

  it("goes on with the first trouble where as many targets have another by now", () => {
    const first = find((key) => (key.startsWith("lockup/multichain") ? { status: "lagging" } : null));

    const [later] = find((key) => {
      if (!key.startsWith("lockup/multichain")) {
        return null;
      }
      return /base|form/.test(key) ? { status: "lagging" } : { status: "missing" };
    }, first);

    expect(later?.detail).toBe("2 of 4 targets of lockup/multichain/production lag or have stopped");
  });
});
