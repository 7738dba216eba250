import { describe, expect, it } from "vitest";
import { startMonitor } from "./core.ts";
import { type Played, playWorld, type World } from "./play-world.ts";
import {
  fallingWorld,
  longWorld,
  passingWorld,
  randomWorld,
  restartWorld,
  takeoverWorld,
} from "./random-worlds.ts";

// A part of what `npm run worlds` plays: fewer worlds, and the first part of each.
const MINUTE_MS = 60_000;
const NOTHING = { accused: [], untold: [], wrongReference: [], noReference: [] };

function play(world: World, minutes: number, order = 0): Played {
  return playWorld({ ...world, lastsMs: minutes * MINUTE_MS }, startMonitor, order);
}

function mistakesOf({ accused, untold, wrongReference, noReference }: Played) {
  return { accused, untold, wrongReference, noReference };
}

describe("random worlds with an honest majority", () => {
  it.each(Array.from({ length: 5 }, (_, index) => index))("world %i is told alike in all orders", (index) => {
    const played = [0, 1, 2].map((order) => play(randomWorld(index), 15, order));

    expect(played.map(mistakesOf)).toEqual(played.map(() => NOTHING));
    expect(new Set(played.map(({ outcome }) => outcome)).size).toBe(1);
  });

  it("are told right for hours while liars come and go", () => {
    expect(mistakesOf(play(longWorld(1), 120))).toEqual(NOTHING);
  });

  it.each([2])("are told right while the heights of another chain pass, in world %i", (index) => {
    expect(mistakesOf(play(passingWorld(index), 45))).toEqual(NOTHING);
  });
});

describe("worlds in which all but one fall behind", () => {
  it.each([2])("never accuse the one that goes on, in world %i", (index) => {
    const played = [0, 1].map((order) => play(fallingWorld(index), 60, order));

    expect(played.map(mistakesOf)).toEqual(played.map(() => NOTHING));
  });
});

describe("random worlds with restarts", () => {
  it.each([
    ...[0, 1, 2].map((index) => ({ name: `in the middle of world ${index}`, world: restartWorld(index) })),
    ...[1, 2, 3, 125].map((index) => ({
      name: `after liars ruled world ${index}`,
      world: takeoverWorld(index),
    })),
  ])("are told right after a restart $name", ({ world }) => {
    expect(mistakesOf(play(world, 24))).toEqual(NOTHING);
  });
});
