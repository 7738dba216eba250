import { parseArgs } from "node:util";
import { dividedOf } from "./accuracy/divided.ts";
import { markdownTable } from "./accuracy/figures.ts";
import {
  dividedWorld,
  fallingWorld,
  longWorld,
  passingWorld,
  randomWorld,
} from "./accuracy/random-worlds.ts";
import { type Played, playWorld, type World } from "./accuracy/worlds.ts";

const { values } = parseArgs({
  options: {
    worlds: { type: "string", default: "2000" },
    orders: { type: "string", default: "10" },
    long: { type: "string", default: "200" },
    falling: { type: "string", default: "200" },
    passing: { type: "string", default: "200" },
    divided: { type: "string", default: "500" },
    /** The first world of each family: a long run can be made in pieces. */
    from: { type: "string", default: "0" },
  },
});

/** Plays a family of worlds, each in so many orders of arrival, and counts the worlds in which anything was wrong. */
function rowOf(
  family: string,
  make: (index: number) => World,
  { worlds, orders }: { readonly worlds: number; readonly orders: number },
): Readonly<Record<string, string | number>> {
  const played = Array.from({ length: worlds }, (_, index) =>
    Array.from({ length: orders }, (_, order) => playWorld(make(Number(values.from) + index), order)),
  );
  const count = (isWrong: (one: Played) => boolean) => played.filter((plays) => plays.some(isWrong)).length;
  return {
    worlds: family,
    played: `${worlds} × ${orders}`,
    "honest source accused": count(({ accused }) => accused.length > 0),
    "far wrong one not told": count(({ untold }) => untold.length > 0),
    "reference wrong": count(({ wrongReference }) => wrongReference.length > 0),
    "no reference": count(({ noReference }) => noReference.length > 0),
    "depends on the order": played.filter((plays) => new Set(plays.map(({ outcome }) => outcome)).size > 1)
      .length,
  };
}

/** What is said at the end of worlds in which at least half of the providers lie. */
function dividedRowOf(worlds: number): Readonly<Record<string, string | number>> {
  const played = Array.from({ length: worlds }, (_, index) => {
    const world = dividedWorld(Number(values.from) + index);
    return dividedOf(world, playWorld(world, 0));
  });
  return {
    worlds: "half of the providers or more lie, 45 min",
    played: worlds,
    "right reference": played.filter(({ reference }) => reference === "right").length,
    "no reference": played.filter(({ reference }) => reference === "none").length,
    "wrong reference": played.filter(({ reference }) => reference === "wrong").length,
    "honest source diverged": played.filter(({ isAccused }) => isAccused).length,
    "of them by fewer providers": played.filter(({ isUnshown }) => isUnshown).length,
  };
}

const orders = Number(values.orders);
console.log(
  markdownTable([
    rowOf("honest majority, 45 min", randomWorld, { worlds: Number(values.worlds), orders }),
    rowOf("honest majority, 9 h, liars come and go", longWorld, { worlds: Number(values.long), orders: 1 }),
    rowOf("all but one fall behind, 3 h", fallingWorld, { worlds: Number(values.falling), orders: 2 }),
    rowOf("another chain passes this one, 45 min", passingWorld, {
      worlds: Number(values.passing),
      orders: 1,
    }),
  ]),
);
console.log("");
console.log(markdownTable([dividedRowOf(Number(values.divided))]));
