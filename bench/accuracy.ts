import { FAULT_SCRIPTS } from "./accuracy/fault-script.ts";
import { markdownTable } from "./accuracy/figures.ts";
import { GAP_CASES, gapSummaryOf } from "./accuracy/gap-cases.ts";
import { LAG_CASES, lagSummaryOf } from "./accuracy/lag-cases.ts";
import { confusionMatrix, playFault } from "./accuracy/play-fault.ts";
import { REPLICA_CASES, replicaSummaryOf } from "./accuracy/replicas.ts";
import { playWobble, WOBBLE_CASES, wobbleSummaryOf } from "./accuracy/wobble.ts";

console.log("## Gaps between variants (blocks)\n");
console.log(markdownTable(GAP_CASES.map(gapSummaryOf)));

console.log("\n## Lag of a target without timestamps (seconds)\n");
console.log(markdownTable(LAG_CASES.map(lagSummaryOf)));

console.log("\n## A healthy day\n");
console.log(markdownTable(WOBBLE_CASES.map((wobble) => wobbleSummaryOf(wobble, playWobble(wobble)))));

console.log("\n## Replicas that disagree (a day each)\n");
console.log(markdownTable(REPLICA_CASES.map(replicaSummaryOf)));

const outcomes = FAULT_SCRIPTS.map(playFault);
const slow = outcomes.filter(
  ({ pollsToKnow, pollsToRecover }) =>
    (pollsToKnow ?? Number.POSITIVE_INFINITY) > 2 || (pollsToRecover ?? Number.POSITIVE_INFINITY) > 2,
);
console.log(`\n## ${outcomes.length} scripted faults\n`);
console.log(
  markdownTable(
    outcomes.map(({ script, pollsToKnow, pollsToRecover, naive }) => ({
      fault: script.name,
      incident: script.incident,
      status: script.expected,
      "polls to know": pollsToKnow ?? "never",
      "polls to recover": pollsToRecover ?? "never",
      "naive says": naive,
    })),
  ),
);
console.log(
  `\nRight within 2 polls and well within 2 polls: ${outcomes.length - slow.length} of ${outcomes.length}`,
);
console.log("\n## Confusion matrix: polls, two polls of grace after each change left out\n");
console.log(markdownTable(confusionMatrix(outcomes)));
