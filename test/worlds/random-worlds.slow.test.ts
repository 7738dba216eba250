import { describe, expect, it } from "vitest";
import { startMonitor } from "./core.ts";
import { mistakesOf, type Played, playWorld } from "./play-world.ts";
import {
  fallingWorld,
  longWorld,
  passingWorld,
  randomWorld,
  restartWorld,
  takeoverWorld,
} from "./random-worlds.ts";
import { MINUTE, type World } from "./world.ts";

// A part of what `npm run worlds` plays: fewer worlds, and the first part of each.
function play(world: World, minutes: number, order = 0): Played {
  return playWorld({ ...world, lastsMs: minutes * MINUTE }, startMonitor, order);
}

describe("random worlds are reported correctly", () => {
  it.each([
    { name: "for hours while liars come and go", world: longWorld(1), minutes: 120 },
    { name: "while the heights of another chain pass", world: passingWorld(2), minutes: 45 },
    { name: "while all but one fall behind", world: fallingWorld(2), minutes: 60 },
    ...[0, 1, 2].map((index) => ({
      name: `after a restart in the middle of world ${index}`,
      world: restartWorld(index),
      minutes: 24,
    })),
    ...[1, 2, 3, 4].map((index) => ({
      name: `after a restart once liars have ruled world ${index}`,
      world: takeoverWorld(index),
      minutes: 24,
    })),
  ])("$name", ({ minutes, world }) => {
    expect(mistakesOf(play(world, minutes))).toEqual([]);
  });

  it.each([0, 1, 2, 3, 4])("in world %i, alike in all orders", (index) => {
    const played = [0, 1, 2].map((order) => play(randomWorld(index), 15, order));

    expect(played.flatMap(mistakesOf)).toEqual([]);
    expect(new Set(played.map(({ outcome }) => outcome)).size).toBe(1);
  });
});
