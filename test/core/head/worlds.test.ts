import { describe, expect, it } from "vitest";
import { fallingWorld, longWorld, randomWorld } from "../../../bench/accuracy/random-worlds.ts";
import { type Played, playWorld, type World } from "../../../bench/accuracy/worlds.ts";

const NOTHING = { accused: [], untold: [], wrongReference: [], noReference: [] };

function problemsOf({ accused, untold, wrongReference, noReference }: Played) {
  return { accused, untold, wrongReference, noReference };
}

/** The same world in so many orders of arrival. */
function orders(world: World, count: number): readonly Played[] {
  return Array.from({ length: count }, (_, order) =>
    playWorld({ ...world, lastsMs: world.lastsMs / 3 }, order),
  );
}

// A part of what bench/accuracy.ts plays: the same worlds, fewer of them and for a third of the time.
describe("random worlds with an honest majority", () => {
  it.each(Array.from({ length: 8 }, (_, index) => index))("world %i is told alike in all orders", (index) => {
    const played = orders(randomWorld(index), 3);

    expect(played.map(problemsOf)).toEqual(played.map(() => NOTHING));
    expect(new Set(played.map(({ outcome }) => outcome)).size).toBe(1);
  });

  it("are told right for hours while liars come and go", () => {
    expect(problemsOf(playWorld({ ...longWorld(1), lastsMs: 3 * 3_600_000 }, 0))).toEqual(NOTHING);
  });
});

describe("worlds in which all but one fall behind", () => {
  it.each([2, 5])("never accuse the one that goes on, in world %i", (index) => {
    const played = orders(fallingWorld(index), 2);

    expect(played.map(problemsOf)).toEqual(played.map(() => NOTHING));
  });
});
