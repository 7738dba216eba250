import { parseArgs } from "node:util";
import { FAMILIES, playFamily } from "./families.ts";
import { markdownTable } from "./figures.ts";

/*
 * Plays families of worlds against the core and prints a table of each. It fails if a number is worse than docs/ACCURACY.md says.
 */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { count: { type: "string" }, from: { type: "string", default: "0" } },
});
for (const name of positionals.length === 0 ? Object.keys(FAMILIES) : positionals) {
  const family = FAMILIES[name];
  if (family === undefined) {
    console.log(`Cannot play ${name}: expected ${Object.keys(FAMILIES).join(", ")}`);
    process.exitCode = 2;
    continue;
  }
  const started = process.cpuUsage().user;
  const sample = { count: Number(values.count ?? family.count ?? 0), from: Number(values.from) };
  const { rows, wrong } = playFamily(family, sample);
  const seconds = (process.cpuUsage().user - started) / 1e6;
  console.log(`\n## ${name} (${seconds.toFixed(0)} s of CPU time)\n\n${markdownTable(rows)}`);
  if (wrong.length > 0) {
    console.log(`\n${wrong.join("\n")}`);
    process.exitCode = 1;
  }
}
