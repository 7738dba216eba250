import { describe, expect, it } from "vitest";
import { pollOrder, spreadMs } from "../../src/schedule/spread.ts";
import { endpointOf } from "./fleet-builder.ts";

const SLUGS = [
  "arbitrum",
  "base",
  "blast",
  "bsc",
  "chiliz",
  "linea",
  "mode",
  "scroll",
  "sepolia",
  "xdc",
  "zksync",
];

describe("spreadMs()", () => {
  it("asks all indexers of a chain at the same instant", () => {
    const airdrops = endpointOf({ protocol: "airdrops", chain: "base" });
    const lockup = endpointOf({ protocol: "lockup", tier: "testing", chain: "base" });

    expect(spreadMs(airdrops)).toBe(spreadMs(lockup));
  });

  it("spreads chains over four seconds", () => {
    const offsets = SLUGS.map((chain) => spreadMs(endpointOf({ chain })));

    expect(new Set(offsets).size).toBe(SLUGS.length);
    expect(Math.min(...offsets)).toBeLessThan(1_000);
    expect(Math.max(...offsets)).toBeGreaterThan(3_000);
    expect(Math.max(...offsets)).toBeLessThan(4_000);
  });

  it("asks an endpoint of several chains in the middle", () => {
    expect(spreadMs(endpointOf({ chain: null }))).toBe(2_000);
  });
});

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
