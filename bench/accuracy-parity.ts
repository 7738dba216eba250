import { parseArgs } from "node:util";
import { markdownTable, percentile } from "./accuracy/figures.ts";
import { EVENT_BLOCKS, type ParityWorld, parityWorld, VALUE_KINDS } from "./accuracy/parity-world.ts";
import { type ParityPlayed, playParity } from "./accuracy/play-parity.ts";

const { values } = parseArgs({ options: { worlds: { type: "string", default: "500" } } });

interface Played extends ParityPlayed {
  readonly world: ParityWorld;
}

const played: readonly Played[] = Array.from({ length: Number(values.worlds) }, (_, index) => {
  const world = parityWorld(index);
  return { world, ...playParity(world) };
});

console.log("## By what the value does\n");
console.log(
  markdownTable([
    ...VALUE_KINDS.map((kind) =>
      summaryOf(
        kind,
        played.filter(({ world }) => world.kind === kind),
      ),
    ),
    summaryOf("all", played),
  ]),
);

console.log("\n## How often something can be compared, by changes of the value per reading\n");
const RATES = [
  { name: "every block", from: Number.NaN },
  { name: "more than one", from: 1 },
  { name: "one in 1 to 10 readings", from: 0.1 },
  { name: "one in 10 to 100 readings", from: 0.01 },
  { name: "fewer", from: Number.MIN_VALUE },
  { name: "never", from: 0 },
] as const;
console.log(
  markdownTable(
    RATES.map(({ name }) => {
      const own = played.filter(({ world }) => rateName(world) === name);
      const slow = own.filter(({ world }) => hasSlowOne(world));
      const alike = own.filter(({ world }) => !hasSlowOne(world));
      return {
        changes: name,
        worlds: own.length,
        "compared, all read equally often": shareOf(alike),
        "compared, one each 15 s beside one each 10 min": shareOf(slow),
      };
    }),
  ),
);

const wrong = played.filter(({ falseDifferences }) => falseDifferences > 0).map(({ world }) => world.seed);
console.log(`\nFalse differences: ${wrong.length}${wrong.length === 0 ? "" : ` (${wrong.join(", ")})`}`);
const late = played.filter(({ pollsToTell }) => pollsToTell.some((polls) => polls === null || polls > 3));
console.log(
  `True differences told after more than three comparable polls, or never: ${late.map(({ world }) => world.seed).join(", ") || "none"}`,
);

function summaryOf(value: string, own: readonly Played[]): Readonly<Record<string, string | number>> {
  const told = own.flatMap(({ pollsToTell }) => pollsToTell);
  const polls = told.flatMap((one) => one ?? []);
  return {
    value,
    worlds: own.length,
    "false differences": own.reduce((sum, { falseDifferences }) => sum + falseDifferences, 0),
    "true differences": told.length,
    "told within three comparable polls": told.filter((one) => one !== null && one <= 3).length,
    "most polls": polls.length === 0 ? "–" : percentile(polls, 1),
  };
}

function rateName({ blockTimeMs, eventBlocks, everyMs }: ParityWorld): string {
  const rate = everyMs / (blockTimeMs * eventBlocks);
  return eventBlocks === EVENT_BLOCKS[0]
    ? "every block"
    : (RATES.find(({ from }) => rate >= from)?.name ?? "never");
}

function hasSlowOne({ sources }: ParityWorld): boolean {
  return new Set(sources.map(({ readEachMs }) => readEachMs)).size > 1;
}

function shareOf(own: readonly Played[]): string {
  const rounds = own.reduce((sum, one) => sum + one.rounds, 0);
  const compared = own.reduce((sum, one) => sum + one.compared, 0);
  return rounds === 0 ? "–" : `${((100 * compared) / rounds).toFixed(1)} %`;
}
