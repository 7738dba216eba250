import { describe, expect, it } from "vitest";
import type { Endpoint, Fleet } from "../../../src/core/model/fleet.ts";
import { FAILURE_REASONS } from "../../../src/core/model/observation.ts";
import { PollCounters } from "../../../src/daemon/polling/counters.ts";
import { endpointOf } from "../../support/endpoints.ts";

const BASE = endpointOf({ key: "airdrops/subgraph/production/base", name: "base" });
const MODE = endpointOf({ key: "airdrops/subgraph/production/mode", name: "mode" });
const RPC = endpointOf({ key: "rpc/base/1", kind: "rpc", protocol: "", variant: "rpc", tier: "" });

describe("Tally", () => {
  it("starts everything of the fleet at 0, every reason and the chains' own nodes too", () => {
    const tally = watching(fleetOf([BASE, MODE], [RPC]));

    expect(tally.endpoints().map(({ endpoint, requests }) => [endpoint.key, requests])).toEqual([
      [BASE.key, 0],
      [MODE.key, 0],
      [RPC.key, 0],
    ]);
    expect(tally.endpoints()[0]?.failures).toEqual(
      Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0])),
    );
    expect(tally.indexers().map(({ roundsSkipped }) => roundsSkipped)).toEqual([0]);
  });

  it("counts each endpoint for itself", () => {
    const tally = watching(fleetOf([BASE, MODE]));

    tally.countRequest(BASE, 40);
    tally.countRequest(BASE, 40);
    tally.countFailure(BASE, "timeout");
    tally.countRequest(MODE, 40);
    tally.countSkippedRound(BASE);

    const [base, mode] = tally.endpoints();
    expect(base).toMatchObject({ requests: 2, failures: { timeout: 1, dns: 0 } });
    expect(mode).toMatchObject({ requests: 1, failures: { timeout: 0 } });
    expect(tally.indexers()).toMatchObject([{ roundsSkipped: 1 }]);
  });

  it("gives lists that can be read more than once, and no longer change", () => {
    const tally = watching(fleetOf([BASE]));
    const before = tally.endpoints();

    tally.countRequest(BASE, 40);

    expect([...before, ...before].map(({ requests }) => requests)).toEqual([0, 0]);
  });

  it("keeps what stays in the fleet over a reload, and drops the rest", () => {
    const tally = watching(fleetOf([BASE, MODE]));
    tally.countRequest(BASE, 40);
    tally.countFailure(BASE, "dns");
    tally.countSkippedRound(BASE);
    const moved = { ...BASE, url: "http://127.0.0.1:10/" };

    tally.watch(fleetOf([moved], [RPC]));

    expect(tally.endpoints()).toMatchObject([
      { endpoint: moved, requests: 1, failures: { dns: 1 } },
      { endpoint: RPC, requests: 0 },
    ]);
    expect(tally.indexers()).toMatchObject([{ roundsSkipped: 1, indexer: { endpoints: [moved] } }]);
  });

  it("counts nothing for what a reload has removed meanwhile", () => {
    const tally = watching(fleetOf([BASE]));
    tally.watch(fleetOf([]));

    tally.countRequest(BASE, 40);
    tally.countFailure(BASE, "aborted");
    tally.countSkippedRound(BASE);

    expect(tally.endpoints()).toEqual([]);
    expect(tally.indexers()).toEqual([]);
  });

  it("counts durations by class, and those of all nodes together", () => {
    const tally = watching(fleetOf([BASE], [RPC]));

    tally.countRequest(BASE, 10);
    tally.countRequest(BASE, 60_000);
    tally.countRequest(RPC, 11);

    expect(tally.durations()).toEqual([
      {
        indexer: { protocol: "airdrops", variant: "subgraph", tier: "production" },
        counts: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        sumSeconds: 60.01,
      },
      {
        indexer: { protocol: "", variant: "rpc", tier: "" },
        counts: [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        sumSeconds: 0.011,
      },
    ]);
  });

  it("goes on from what another process has counted, and never falls back", () => {
    const [other, tally] = [watching(fleetOf([BASE, MODE], [RPC])), watching(fleetOf([BASE, MODE]))];
    for (const endpoint of [BASE, BASE, MODE, RPC]) {
      other.countRequest(endpoint, 40);
    }
    other.countFailure(MODE, "dns");
    other.countSkippedRound(BASE);
    for (const _ of [1, 2, 3]) {
      tally.countRequest(MODE, 80);
    }
    const saved = new Map(other.groups().map(({ name, save }) => [name, save()]));

    tally.restore(structuredClone(saved));

    expect(tally.endpoints()).toMatchObject([{ requests: 2 }, { requests: 3, failures: { dns: 1, tls: 0 } }]);
    expect(tally.indexers()).toMatchObject([{ roundsSkipped: 1 }]);
    expect(tally.durations()).toMatchObject([{ sumSeconds: expect.closeTo(0.24) }]);
  });

  it("changes the revision of a group with its counts, and of no other", () => {
    const tally = watching(fleetOf([BASE], [RPC]));
    const before = tally.groups().map(({ revision }) => revision);

    tally.countRequest(RPC, 40);

    const after = tally.groups().map(({ revision }) => revision);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
  });
});

function watching(fleet: Fleet): PollCounters {
  const tally = new PollCounters();
  tally.watch(fleet);
  return tally;
}

/** A fleet of one indexer with these endpoints, or of none. */
function fleetOf(endpoints: readonly Endpoint[], rpcEndpoints: readonly Endpoint[] = []): Fleet {
  const indexers = endpoints
    .slice(0, 1)
    .map(({ protocol, variant, tier }) => ({ protocol, variant, tier, endpoints }));
  return { chains: [], indexers, rpcEndpoints, budgets: [], skipped: [], parity: [] };
}
