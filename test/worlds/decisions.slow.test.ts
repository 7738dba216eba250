import { describe, it } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { DECISION_WORLDS, decisionsIn, goldenOf, RANDOM_WORLDS } from "./decision-log.ts";

/** As decisions.test.ts: one world of every kind, and two more of each random one. */
describe("the decisions in a fleet of this kind", () => {
  it.each(DECISION_WORLDS)("$name", ({ file, make, name }) => {
    expectGolden(file, decisionsIn(name, [make(0)]));
  });

  it.each(Object.entries(RANDOM_WORLDS))("%s, two more", (name, make) => {
    expectGolden(goldenOf(`${name}, two more`), decisionsIn(name, [1, 2].map(make)));
  });
});
