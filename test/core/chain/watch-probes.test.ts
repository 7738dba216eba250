import { describe, expect, it } from "vitest";
import { retainChain } from "../../../src/core/chain/retain-chain.ts";
import { startChain, watchFleet } from "../../../src/core/chain/watch-chain.ts";
import { endpointOf, fleetOf } from "../../budgets/fleet-builder.ts";
import { ParityPlay } from "../parity/parity-play.ts";
import { BASE, targetOn, watch } from "./chain-fixture.ts";

const FORM = { ...BASE, slug: "form", id: 478 };

describe("watchFleet()", () => {
  it("watches the data of those that carry a probe, and of no others", () => {
    const carrying = ["airdrops/multichain", "airdrops/subgraph"].map((name) => {
      const target = targetOn(BASE, name);
      const targets = [target, targetOn(FORM, name)];
      const selections = [{ target: target.key, select: "rows { n }", value: ["n"] }];
      const parity = [{ probe: "rows", everyMs: 60_000, selections }];
      return endpointOf({ protocol: "airdrops", variant: target.variant, targets, parity });
    });
    const variants = ["multichain", "subgraph"];
    const probe = { name: "rows", protocol: "airdrops", everyMs: 60_000, chains: ["base", "form"], variants };

    const [base, form] = watchFleet({ ...fleetOf(carrying), chains: [BASE, FORM], parity: [probe] });

    expect(base?.probes?.map(({ name, pairs }) => [name, pairs.length])).toEqual([["rows", 1]]);
    expect(form).not.toHaveProperty("probes");
  });
});

describe("retainChain()", () => {
  it("keeps what is known of data that is still compared", () => {
    const parity = new ParityPlay().read({ a: [1_000, 5], b: [1_000, 5] });
    const watched = watch(BASE, "airdrops/a", "airdrops/b");
    const sentTo = Object.fromEntries(watched.targets.map(({ key }) => [key, "here"]));
    const probed = { ...watched, sentTo, probes: [parity.probe] };
    const state = { ...startChain(probed), parity: parity.state };

    const elsewhere = { ...sentTo, "airdrops/a/production/base": "elsewhere" };
    expect(retainChain(state, probed, 0).parity).toEqual(parity.state);
    expect(retainChain(state, { ...probed, sentTo: elsewhere }, 0).parity).toMatchObject({
      sources: [{ target: "airdrops/b/production/base" }],
      pairs: [],
    });
    expect(retainChain(state, { ...probed, probes: [] }, 0).parity).toEqual({ sources: [], pairs: [] });
    expect(retainChain(state, watch(BASE, "airdrops/a"), 0)).not.toHaveProperty("parity");
  });
});
