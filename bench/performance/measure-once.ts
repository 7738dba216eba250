/** One run of one subject in a process of its own: `tsx bench/performance/measure-once.ts NAME whole|quick FILE`. */
import { writeFile } from "node:fs/promises";
import { LONG_SUBJECTS, SUBJECTS } from "./subjects.ts";

const [name = "", extent, file = ""] = process.argv.slice(2);
const known = { ...SUBJECTS, ...LONG_SUBJECTS };
const load = known[name];
if (load === undefined || (extent !== "whole" && extent !== "quick") || file === "") {
  throw new Error(
    `Cannot measure ${name} ${extent}: known are ${Object.keys(known).join(", ")}; whole, quick`,
  );
}
const { subject } = await load();
const { title, about } = subject;
await writeFile(file, JSON.stringify({ title, about, figures: await subject.measure(extent) }));
// A subject that leaves something running must not keep the others waiting.
process.exit(0);
