import { describe, expect, it } from "vitest";
import { configOf } from "../support/running-app.ts";

// What the status of such a target says: statuses/lagging.test.ts.
describe("a configuration in which chains have a single source", () => {
  it("is warned about in one line, unless an RPC node or another variant confirms the height", () => {
    const { warnings } = configOf(`
version: 1
chains:
  base: { id: 8453 }
  mode: { id: 34443, rpc: ["https://node.test/"] }
  form: { id: 478 }
  sei: { id: 1329 }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://indexer.test/", chains: [base, mode, form] }
    - { variant: subgraph, url: "https://other.test/{chain}", chains: [form] }
  lockup:
    - { variant: multichain, dialect: envio, url: "https://lockup.test/", chains: [sei] }
`);

    expect(warnings).toEqual([
      "base, sei: a single source, so nothing confirms its height, and lag is measured against the clock; add an RPC node (rpc) or another variant",
    ]);
  });
});
