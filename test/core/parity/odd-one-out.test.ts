import { describe, expect, it } from "vitest";
import { oddOnesOut } from "../../../src/core/report/report-parity.ts";

/** `a=b a!c b?c`: equal, different, unknown. */
function pairsOf(text: string): Parameters<typeof oddOnesOut>[0] {
  return text
    .split(" ")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const [target = "", sign = "", against = ""] = pair;
      const unequal = sign === "!" ? "different" : "unknown";
      return { target, against, result: sign === "=" ? "equal" : unequal };
    });
}

describe("oddOnesOut()", () => {
  it("names the targets that differ from the largest group of equals, each with that group", () => {
    const odd = {
      "a=b a!c b!c": "c:ab",
      "a=b a?c b!c": "c:ab",
      "a=b c!a c?b": "c:ab",
      "a=b b=c a?c a!d": "d:abc",
      "a=b c=d b=c a!e": "e:abcd",
      "a=b a!c b!c a!d c!d": "c:ab d:ab",
      "a=b a!c a?d b?d": "c:ab",
      "a=b b=c a!d d=e e!b": "d:abc e:abc",
      // Two that differ, all that differ, none that differs, not compared, two groups, equal to the same third, apart from the group.
      "a!b": "",
      "a!b a!c b!c": "",
      "a=b b=c a=c": "",
      "a=b a?c b?c": "",
      "a=b c=d a!c b!d": "",
      "a=b b=c a!c": "",
      "a=b c!d": "",
      "": "",
    };

    const found = Object.keys(odd).map((said) => {
      const named = [...oddOnesOut(pairsOf(said))].map(
        ([key, others]) => `${key}:${others.toSorted().join("")}`,
      );
      return [said, named.toSorted().join(" ")];
    });

    expect(Object.fromEntries(found)).toEqual(odd);
  });
});
