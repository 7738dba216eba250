import { describe, it } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { DECISION_WORLDS, decisionsIn, goldenOf, RANDOM_WORLDS } from "./decision-log.ts";
import { AT_HEAD, type World } from "./world.ts";

/** As decisions.test.ts: one world of every kind, and two more with a fault of each random kind. */
describe("the decisions in a fleet of this kind", () => {
  it.each(DECISION_WORLDS)("$name", ({ file, make, name }) => {
    expectGolden(file, decisionsIn(name, [make(0)]));
  });

  it.each(Object.entries(RANDOM_WORLDS))("%s, two more", (name, make) => {
    const worlds = [1, 2, 3, 4].map(make).filter(hasFault).slice(0, 2);

    expectGolden(goldenOf(`${name}, two more`), decisionsIn(name, worlds));
  });
});

function hasFault({ sources }: World): boolean {
  return sources.some(({ conducts }) => conducts.some(({ conduct }) => conduct !== AT_HEAD));
}
