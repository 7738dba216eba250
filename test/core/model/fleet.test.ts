import { describe, expect, it } from "vitest";
import {
  endpointsOf,
  indexerKey,
  servingTargets,
  sourceKeysOf,
  statusEndpointOf,
} from "../../../src/core/model/fleet.ts";
import { sampleEndpoint } from "../../views/sample-report.ts";
import { BASE, targetOn } from "../chain/chain-fixture.ts";

const TARGET = targetOn(BASE, "airdrops/multichain");

describe("endpointsOf()", () => {
  it("lists what each indexer has in the order of the file, then the RPC nodes", () => {
    const endpoints = ["a", "b", "c", "rpc"].map((key) => sampleEndpoint({ key }));
    const indexer = { protocol: "lockup", variant: "multichain", tier: "production" };

    const listed = endpointsOf({
      chains: [],
      indexers: [
        { ...indexer, endpoints: endpoints.slice(0, 2) },
        { ...indexer, tier: "testing", endpoints: endpoints.slice(2, 3) },
      ],
      rpcEndpoints: endpoints.slice(3),
      budgets: [],
      skipped: [],
      parity: [],
    });

    expect(listed.map(({ key }) => key)).toEqual(["a", "b", "c", "rpc"]);
  });
});

describe("statusEndpointOf()", () => {
  it("is the index-node API of the endpoint's targets, without its budget", () => {
    const endpoint = sampleEndpoint({ key: "a", budget: "daily", targets: [TARGET] });
    const status = { url: "http://node.test", host: "node.test", headers: { x: "y" }, deployment: "Qm1" };

    expect(statusEndpointOf({ ...endpoint, status })).toEqual({
      ...endpoint,
      status,
      key: "a/status",
      url: "http://node.test",
      host: "node.test",
      headers: { x: "y" },
      dialect: "graph-status",
      budget: null,
      targets: [{ ...TARGET, deployment: "Qm1" }],
    });
    expect(statusEndpointOf(endpoint)).toBeNull();
  });
});

describe("indexerKey()", () => {
  it("names protocol, variant and tier", () => {
    expect(indexerKey({ protocol: "lockup", variant: "multichain", tier: "testing" })).toBe(
      "lockup/multichain/testing",
    );
  });
});

describe("servingTargets()", () => {
  it("are those in production, or all where none is", () => {
    const [production, testing] = [{ tier: "production" }, { tier: "testing" }];

    expect(servingTargets([testing, production])).toEqual([production]);
    expect(servingTargets([testing])).toEqual([testing]);
  });
});

describe("sourceKeysOf()", () => {
  it("are the keys of its targets, and of an RPC node its own", () => {
    const endpoint = sampleEndpoint({ key: "a", targets: [TARGET] });

    expect(sourceKeysOf(endpoint)).toEqual([TARGET.key]);
    expect(sourceKeysOf({ ...endpoint, kind: "rpc" })).toEqual(["a"]);
  });
});
