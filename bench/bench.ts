import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { measureLarge } from "./large-fleet.ts";
import { measurePackaged } from "./packaged-fleet.ts";

/*
 * Prints how much CPU and memory the built daemon uses, as JSON: `npm run bench -- packaged --minutes 3` or, with numbers of
 * endpoints, `npm run bench -- 1000 10000`. Run it on an idle machine; even so, figures vary between machines and runs.
 */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: "string", default: "3" } },
});
const minutes = Number(values.minutes);
for (const subject of positionals.length === 0 ? ["packaged"] : positionals) {
  const figures =
    subject === "packaged" ? await measurePackaged(minutes) : await measureLarge(Number(subject), minutes);
  console.log(JSON.stringify({ subject, minutes, ...machine(), ...figures }, null, 2));
}

function machine(): Readonly<Record<string, string | number>> {
  const [processor] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim(),
    node: process.versions.node,
    processor: `${cpus().length} × ${processor?.model.trim()}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
}
