import { describe, it } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { DECISION_WORLDS, decisionsIn, RANDOM_WORLDS } from "./decision-log.ts";

/*
 * What is decided in one world of some kinds, line by line; decisions.slow.test.ts has the other kinds. worlds.slow.test.ts compares
 * decisions with the truth; these goldens show each change of a decision, also one that is not meant.
 */
const QUICK: readonly string[] = [
  ...Object.keys(RANDOM_WORLDS),
  "packaged cadences, a fault of an hour",
  "two of three late, all dated",
  "followers of final blocks",
  "a pair and an RPC node, a fault of an hour",
  "lossy network, restarts, flapping",
  "a halt of 2 to 30 minutes, late sources",
];

describe("the decisions in a fleet of this kind", () => {
  it.each(QUICK)("%s", (name) => {
    const { file, make } = DECISION_WORLDS.find((world) => world.name === name) ?? fail(name);

    expectGolden(file, decisionsIn(name, [make(0)]));
  });
});

function fail(name: string): never {
  throw new RangeError(`Cannot find worlds of the kind ${name}`);
}
