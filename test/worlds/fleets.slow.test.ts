import { describe, expect, it } from "vitest";
import { startMonitor } from "./core.ts";
import { FLEET_FAMILIES } from "./fleet-families.ts";
import { mistakesOf, playWorld } from "./play-world.ts";

/** The kinds in which nothing may be wrong. docs/ACCURACY.md lists the others. */
const RIGHT: Readonly<Record<string, number>> = {
  "packaged cadences, healthy": 4,
  "packaged cadences, a fault of an hour": 4,
  "two of three late, all dated": 4,
  "right heights, wrong times": 4,
  "providers that hash differently": 4,
  "all behind one host": 4,
  "17 to 60 sources": 1,
  "nine agreeing liars against twenty": 1,
  "one host with many agreeing liars": 3,
  "batches of 1 to 120 s": 3,
  "always 1 to 9 minutes late": 4,
  "a pair and an RPC node, a fault of an hour": 4,
};

describe("a fleet of this kind has right statuses, lags and references at every moment", () => {
  it.each(Object.entries(RIGHT))("%s", (name, worlds) => {
    const wrong = Array.from({ length: worlds }, (_, index) => {
      const world = FLEET_FAMILIES[name]?.(index) ?? fail(name);
      return mistakesOf(playWorld(world, startMonitor)).map((said) => `world ${index}, ${said}`);
    });

    expect(wrong.flat()).toEqual([]);
  });
});

function fail(name: string): never {
  throw new RangeError(`Cannot find the kind of fleet ${name}`);
}
