import { describe, expect, it } from "vitest";
import { pollOrder } from "../../../src/daemon/polling/order.ts";
import { endpointOf } from "../../budgets/fleet-builder.ts";

describe("pollOrder()", () => {
  it("goes chain by chain, with endpoints of several chains in the middle", () => {
    const multichain = endpointOf({ variant: "multichain", chain: null });
    const airdrops = ["base", "mode", "scroll"].map((chain) => endpointOf({ chain }));
    const lockup = ["base", "mode", "scroll"].map((chain) => endpointOf({ protocol: "lockup", chain }));

    const order = pollOrder([multichain, ...airdrops, ...lockup]);

    expect(order.map(({ protocol, name }) => `${protocol} ${name}`)).toEqual([
      "airdrops base",
      "lockup base",
      "airdrops mode",
      "lockup mode",
      "airdrops all",
      "airdrops scroll",
      "lockup scroll",
    ]);
  });

  it("leaves out none and adds none", () => {
    expect(pollOrder([])).toEqual([]);
    expect(pollOrder([endpointOf({ chain: null })])).toHaveLength(1);
  });
});
