import { describe, expect, it } from "vitest";
import type { Exchanges } from "../../src/core/model/exchange.ts";
import type { Endpoint, Fleet } from "../../src/core/model/fleet.ts";
import { inspectChain } from "../../src/daemon/inspect-chain.ts";
import { sampleEndpoint, sampleTarget } from "../views/sample-report.ts";

const SHARED = sampleEndpoint({ targets: [sampleTarget(), sampleTarget({ chain: "form" })] });
const OWN = sampleEndpoint({
  key: "lockup/subgraph/production/base",
  targets: [sampleTarget({ variant: "subgraph" })],
  chain: "base",
});
const RPC = sampleEndpoint({ key: "rpc/base/0", kind: "rpc", chain: "base" });

describe("inspectChain()", () => {
  it.each([
    { chain: "base", keys: [SHARED.key, OWN.key, RPC.key] },
    { chain: "form", keys: [SHARED.key] },
    { chain: "else", keys: [] },
  ])("tells of every endpoint that speaks of $chain", ({ chain, keys }) => {
    expect(inspect(chain).map(({ key }) => key)).toEqual(keys);
  });

  it("repeats by hand what was asked last", () => {
    const said = (asked: string, sentAtMs: number) =>
      ({ sentAtMs, receivedAtMs: sentAtMs, asked, httpStatus: 200, outcome: "usable", text: "" }) as const;
    const exchanges = { replies: [said('{"query":"old"}', 1)], failures: [said('{"query":"new"}', 2)] };

    const [record] = inspect("form", exchanges);

    expect(record?.curl).toContain(`-d '{"query":"new"}'`);
  });

  it("repeats what a parity probe asks on this chain", () => {
    const asks = (chain: string) => ({
      target: sampleTarget({ chain }).key,
      select: `rows(chain: "${chain}") { n }`,
      value: ["rows", "n"],
    });
    const endpoint: Endpoint = {
      ...SHARED,
      parity: [{ probe: "rows", everyMs: 60_000, selections: [asks("base"), asks("form")] }],
    };
    const config = { fleet: fleetOf([endpoint], []), secrets: [], variables: [] };

    const [record] = inspectChain(config, "form", () => ({ replies: [], failures: [] }));

    expect(record?.parity).toMatchObject([{ probe: "rows", target: sampleTarget({ chain: "form" }).key }]);
    expect(record?.parity[0]?.curl).toContain(`-d '{"query":"{ rows(chain: \\"form\\") { n } }"}'`);
  });

  it("has no command for an endpoint that was never asked", () => {
    expect(inspect("form")[0]?.curl).toBeNull();
  });
});

function inspect(chain: string, exchanges: Exchanges = { replies: [], failures: [] }) {
  const config = { fleet: fleetOf([SHARED, OWN], [RPC]), secrets: [], variables: [] };
  return inspectChain(config, chain, () => exchanges);
}

function fleetOf(endpoints: readonly Endpoint[], rpcEndpoints: readonly Endpoint[]): Fleet {
  const indexer = { protocol: "lockup", variant: "multichain", tier: "production", endpoints };
  return { chains: [], indexers: [indexer], rpcEndpoints, budgets: [], skipped: [], parity: [] };
}
