/** One run of one subject in a process of its own: `tsx bench/performance/measure-once.ts NAME whole|quick FILE`. */
import { writeFile } from "node:fs/promises";
import { SUBJECTS } from "./subjects.ts";

const [name = "", extent, file = ""] = process.argv.slice(2);
const entry = SUBJECTS[name];
if (entry === undefined || (extent !== "whole" && extent !== "quick") || file === "") {
  throw new Error(
    `Cannot measure ${name} ${extent}: known are ${Object.keys(SUBJECTS).join(", ")}; whole, quick`,
  );
}
const { subject } = await entry.load();
const { title, about } = subject;
await writeFile(file, JSON.stringify({ title, about, figures: await subject.measure(extent) }));
// A subject that leaves something running must not keep the others waiting.
process.exit(0);
