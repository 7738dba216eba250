import { describe, it } from "vitest";
import { expectGolden } from "../support/golden.ts";
import { DecisionLog, RANDOM_WORLDS } from "./decision-log.ts";
import { playWorld } from "./play-world.ts";

/** As decisions.test.ts, in more worlds of each random kind. */
describe("the decisions in more worlds of this kind", () => {
  it.each(Object.entries(RANDOM_WORLDS))("%s", (name, make) => {
    const log = new DecisionLog();
    for (const index of [1, 2]) {
      playWorld(make(index), log.start);
    }

    expectGolden(`test/goldens/decisions/${name}.more.txt`, log.text());
  });
});
