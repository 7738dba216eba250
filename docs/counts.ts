/** `npm run counts`: how much a reader of the code must keep in mind. Each line: what is counted, how many, and the goal. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SOURCES = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
  .map((path) => ({ path: join("src", path), text: readFileSync(join("src", path), "utf8") }));

/** A constant that is a number, or an object of numbers. */
const NUMBER = /^(?:export )?const [A-Z][A-Z_\d]*(?:: \w+)? = (?:-?\d|\{ \w+: -?\d)/gm;

function numbersIn(folder: string): number {
  const here = SOURCES.filter(({ path }) => path.startsWith(`src/core/${folder}/`));
  return here.reduce((count, { text }) => count + [...text.matchAll(NUMBER)].length, 0);
}

/** How often a pattern occurs in `src`. */
function occurrences(pattern: RegExp): number {
  return SOURCES.reduce((count, { text }) => count + [...text.matchAll(pattern)].length, 0);
}

/** The files that one reply passes, in order. */
const WALK = Array.from(
  readFileSync("docs/ARCHITECTURE.md", "utf8").matchAll(/^ +(src\/[\w/-]+\.ts)/gm),
  ([, path]) => path,
);
const files = new Set(WALK).size;

const subjects = execFileSync("git", ["log", "-50", "--format=%s"], { encoding: "utf8" }).trim().split("\n");

const COUNTS: readonly (readonly [what: string, count: number, goal: string])[] = [
  ["tuned numbers in core/head", numbersIn("head"), "15"],
  [
    "tuned numbers that decide a status",
    ["head", "source", "status", "chain"].map(numbersIn).reduce((sum, count) => sum + count),
    "35",
  ],
  ["files that one reply passes", files, "32"],
  ["times that it enters one again", WALK.length - files, "4"],
  ["sets of statuses beside their table", occurrences(/Set<Status>/g), "0"],
  [
    "types with a reason and a detail",
    occurrences(/readonly reason: [^;&]+;\s+(?:\/\*\*[^\n]*\s+)?readonly detail: /g),
    "3",
  ],
  // Types that extend another, or take a part of it, have the same shape.
  ["shapes of a height", occurrences(/readonly block: number\b/g), "6"],
  ["lines of src", SOURCES.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0), "-"],
  ["files of src", SOURCES.length, "-"],
  [
    "of the last 50 commits, subjects over 72 characters",
    subjects.filter((one) => one.length > 72).length,
    "0",
  ],
];

for (const [what, count, goal] of COUNTS) {
  process.stdout.write(`${String(count).padStart(7)}  (goal ${goal})  ${what}\n`);
}
