import { describe, expect, it } from "vitest";
import { endpointsOf } from "../../../src/core/model/fleet.ts";
import { sampleEndpoint } from "../../views/sample-report.ts";

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
