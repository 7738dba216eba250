import { describe, it } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { DecisionLog, MANY_SOURCES, RANDOM_WORLDS } from "./decision-log.ts";
import { FLEET_FAMILIES } from "./fleet-families.ts";
import { playWorld } from "./play-world.ts";
import { MINUTE } from "./world.ts";

/*
 * What is decided in one world of each kind, line by line: whatever changes a decision shows here. The worlds beside this file judge
 * decisions by the truth; these goldens show that a change which is meant to change nothing changes nothing.
 */

/** Long enough for the faults of most kinds to begin; with many sources, for all of them to have been judged. */
const LASTS_MS = 75 * MINUTE;
const LASTS_WITH_MANY_MS = 16 * MINUTE;

describe("the decisions in a fleet of this kind", () => {
  it.each(Object.entries({ ...FLEET_FAMILIES, ...RANDOM_WORLDS }))("%s", (name, make) => {
    const log = new DecisionLog();
    const world = make(0);
    const mostMs = world.sources.length > MANY_SOURCES ? LASTS_WITH_MANY_MS : LASTS_MS;
    playWorld({ ...world, lastsMs: Math.min(world.lastsMs, mostMs) }, log.start);

    expectGolden(`test/goldens/decisions/${fileOf(name)}.txt`, log.text());
  });
});

function fileOf(name: string): string {
  return name.replaceAll(/[^a-z0-9]+/gi, "-").replace(/-$/, "");
}
