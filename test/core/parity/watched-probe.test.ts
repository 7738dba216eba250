import { describe, expect, it } from "vitest";
import type { Endpoint, Fleet, Target } from "../../../src/core/model/fleet.ts";
import type { ParityProbe } from "../../../src/core/model/parity.ts";
import { readingIntervalMs, watchProbes } from "../../../src/core/parity/watched-probe.ts";
import { endpointOf, fleetOf } from "../../budgets/fleet-builder.ts";
import { BASE, targetOn } from "../chain/chain-fixture.ts";

const PROBE: ParityProbe = {
  name: "rows",
  protocol: "airdrops",
  everyMs: 60_000,
  chains: ["base"],
  variants: ["a", "b", "c"],
};

interface Carries {
  readonly select?: string;
  readonly value?: readonly string[];
  readonly probe?: string;
}

/** An endpoint of one target that carries the selection of a probe. */
function carrying(
  target: Target,
  { select = "rows { n }", value = ["n"], probe = "rows" }: Carries = {},
): Endpoint {
  const { protocol, variant, tier } = target;
  return {
    ...endpointOf({ protocol, variant, tier, targets: [target] }),
    parity: [{ probe, everyMs: 60_000, selections: [{ target: target.key, select, value }] }],
  };
}

function fleetWith(endpoints: readonly Endpoint[], parity: readonly ParityProbe[] = [PROBE]): Fleet {
  const indexers = endpoints.map((endpoint) => {
    const { protocol, variant, tier } = endpoint;
    return { protocol, variant, tier, endpoints: [endpoint] };
  });
  return { ...fleetOf([]), indexers, parity };
}

function pairsOf(fleet: Fleet): readonly string[] {
  return watchProbes(fleet, "base").flatMap(({ pairs }) =>
    pairs.map(({ target, against }) => `${target.key} ${against.key}`),
  );
}

function targets(...names: readonly string[]): readonly Target[] {
  return names.map((name) => targetOn(BASE, name));
}

const A = carrying(targetOn(BASE, "airdrops/a"));
const B = carrying(targetOn(BASE, "airdrops/b"));

describe("watchProbes()", () => {
  it("compares every two variants that serve users, each with those before it", () => {
    const fleet = fleetWith(targets("airdrops/a", "airdrops/b", "airdrops/c").map((one) => carrying(one)));

    expect(watchProbes(fleet, "base")).toMatchObject([{ name: "rows", everyMs: 60_000 }]);
    expect(pairsOf(fleet)).toEqual([
      "airdrops/b/production/base airdrops/a/production/base",
      "airdrops/c/production/base airdrops/a/production/base",
      "airdrops/c/production/base airdrops/b/production/base",
    ]);
  });

  it("compares a target of another tier with the first production one alone", () => {
    const fleet = fleetWith(
      targets("airdrops/a/testing", "airdrops/a", "airdrops/b", "airdrops/b/testing").map((one) =>
        carrying(one),
      ),
    );

    expect(pairsOf(fleet)).toEqual([
      "airdrops/b/production/base airdrops/a/production/base",
      "airdrops/a/testing/base airdrops/a/production/base",
      "airdrops/b/testing/base airdrops/a/production/base",
    ]);
  });

  it("compares the targets of another tier with each other where none is in production", () => {
    const fleet = fleetWith(targets("airdrops/a/testing", "airdrops/b/testing").map((one) => carrying(one)));

    expect(pairsOf(fleet)).toEqual(["airdrops/b/testing/base airdrops/a/testing/base"]);
  });

  it.each<{ case: string; endpoints: readonly Endpoint[]; parity?: ParityProbe }>([
    { case: "only one carries the selection", endpoints: [A, { ...B, parity: [] }] },
    {
      case: "one has no parity at all",
      endpoints: [A, { ...endpointOf(), targets: B.targets, variant: "b" }],
    },
    {
      case: "one carries another probe",
      endpoints: [A, carrying(targetOn(BASE, "airdrops/b"), { probe: "other" })],
    },
    { case: "one is of another protocol", endpoints: [A, carrying(targetOn(BASE, "lockup/b"))] },
    { case: "one variant is not named", endpoints: [A, carrying(targetOn(BASE, "airdrops/d"))] },
    {
      case: "one is on another chain",
      endpoints: [A, carrying(targetOn({ ...BASE, slug: "form" }, "airdrops/b"))],
    },
    { case: "the probe has no target", endpoints: [] },
    { case: "the chain is not named", endpoints: [A, B], parity: { ...PROBE, chains: ["form"] } },
  ])("watches nothing where $case", ({ endpoints, parity = PROBE }) => {
    expect(watchProbes(fleetWith(endpoints, [parity]), "base")).toEqual([]);
  });

  it("has another query where the selection or the path is another", () => {
    const queryOf = (carries: Carries) => {
      const fleet = fleetWith(targets("airdrops/a", "airdrops/b").map((one) => carrying(one, carries)));
      return watchProbes(fleet, "base")[0]?.targets.map(({ query, select }) => ({ query, select }));
    };

    const plain = queryOf({});
    const others = [queryOf({ select: "rows { m }" }), queryOf({ value: ["m"] })];

    expect(plain).toHaveLength(2);
    expect(plain?.[0]).toEqual({ select: "rows { n }", query: expect.stringMatching(/./) });
    expect(queryOf({})).toEqual(plain);
    expect(new Set([plain, ...others].map((queries) => queries?.[0]?.query)).size).toBe(3);
  });
});

describe("readingIntervalMs()", () => {
  it("is the longer of the probe's interval and the target's", () => {
    const target = { ...targetOn(BASE, "airdrops/a"), pollIntervalMs: 15_000 };

    expect(readingIntervalMs({ everyMs: 60_000 }, target)).toBe(60_000);
    expect(readingIntervalMs({ everyMs: 1_000 }, target)).toBe(15_000);
  });
});
