import { parseArgs } from "node:util";
import { PACE_CASES, paceSummaryOf } from "./accuracy/chain-paces.ts";
import { CLOCK_STEPS, clockStepSummaryOf } from "./accuracy/clock-steps.ts";
import { markdownTable } from "./accuracy/figures.ts";
import { restartWorld, takeoverWorld } from "./accuracy/restart-worlds.ts";
import { type Played, playWorld, type World } from "./accuracy/worlds.ts";

const { values } = parseArgs({
  options: {
    phases: { type: "string", default: "200" },
    plays: { type: "string", default: "200" },
    worlds: { type: "string", default: "200" },
  },
});

/** Plays a family of worlds in which the daemon restarts, and counts those in which anything was wrong. */
function restartRowOf(
  family: string,
  make: (index: number) => World,
): Readonly<Record<string, string | number>> {
  const played = Array.from({ length: Number(values.worlds) }, (_, index) => playWorld(make(index), 0));
  const count = (isWrong: (one: Played) => boolean) => played.filter(isWrong).length;
  return {
    worlds: family,
    played: played.length,
    "honest source accused": count(({ accused }) => accused.length > 0),
    "far wrong one not told": count(({ untold }) => untold.length > 0),
    "reference wrong": count(({ wrongReference }) => wrongReference.length > 0),
    "no reference": count(({ noReference }) => noReference.length > 0),
  };
}

console.log("## Restarts\n");
console.log(
  markdownTable([
    restartRowOf("honest majority, with two restarts", restartWorld),
    restartRowOf("liars had the majority until the restart", takeoverWorld),
  ]),
);
console.log("\n## Clock steps\n");
console.log(markdownTable(CLOCK_STEPS.map((step) => clockStepSummaryOf(step, Number(values.phases)))));
console.log("\n## Halts, paces and bursts\n");
console.log(markdownTable(PACE_CASES.map((given) => paceSummaryOf(given, Number(values.plays)))));
