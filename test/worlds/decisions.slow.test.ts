import { describe, it } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { DECISION_WORLDS, decisionsIn, RANDOM_WORLDS } from "./decision-log.ts";

/** As decisions.test.ts: one world of every kind, and two more of each random one. */
describe("the decisions in a fleet of this kind", () => {
  it.each(DECISION_WORLDS)("$name", ({ file, make }) => {
    expectGolden(file, decisionsIn([make(0)]));
  });

  it.each(Object.entries(RANDOM_WORLDS))("%s, two more", (name, make) => {
    expectGolden(`test/goldens/decisions/${name}.more.txt`, decisionsIn([1, 2].map(make), "whole"));
  });
});
