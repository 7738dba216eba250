import { describe, it } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { DecisionLog, MANY_SOURCES, RANDOM_WORLDS } from "./decision-log.ts";
import { FLEET_FAMILIES } from "./fleet-families.ts";
import { MINUTE, playFleet } from "./fleet-world.ts";
import { playWorld } from "./play-world.ts";

/*
 * What is decided in one world of each kind, line by line: whatever changes a decision shows here. The worlds beside this file judge
 * decisions by the truth; these goldens show that a change which is meant to change nothing changes nothing.
 */

/** Long enough for the faults of most kinds to begin; with many sources, for all of them to have been judged. */
const LASTS_MS = 75 * MINUTE;
const LASTS_WITH_MANY_MS = 16 * MINUTE;

describe("the decisions in a fleet of this kind", () => {
  it.each(Object.keys(FLEET_FAMILIES))("%s", (name) => {
    const log = new DecisionLog();
    const world = FLEET_FAMILIES[name]?.(0);
    if (world === undefined) {
      throw new RangeError(`Cannot find the kind of fleet ${name}`);
    }
    const mostMs = world.sources.length > MANY_SOURCES ? LASTS_WITH_MANY_MS : LASTS_MS;
    playFleet({ ...world, lastsMs: Math.min(world.lastsMs, mostMs) }, log.start);

    expectGolden(`test/goldens/decisions/${fileOf(name)}.txt`, log.text());
  });

  it.each(Object.entries(RANDOM_WORLDS))("%s", (name, make) => {
    const log = new DecisionLog();
    playWorld(make(0), log.start);

    expectGolden(`test/goldens/decisions/${name}.txt`, log.text());
  });
});

function fileOf(name: string): string {
  return name.replaceAll(/[^a-z0-9]+/gi, "-").replace(/-$/, "");
}
