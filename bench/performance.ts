/**
 * Performance compared with the alternatives: `npm run bench` measures everything but what takes an hour, most of it five times, and
 * writes docs/PERFORMANCE.md; `npm run bench:quick` prints one short run; names of subjects measure those alone and
 * renew their sections. Absolute figures vary between machines; compare the ratios, each of which comes from one run.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { renewDocument, textOf } from "./performance/document.ts";
import type { Extent } from "./performance/subject.ts";
import { SUBJECTS } from "./performance/subjects.ts";
import { type Measured, summarize } from "./performance/summarize.ts";

const DOCUMENT = "docs/PERFORMANCE.md";

const onceSchema = z.object({
  title: z.string(),
  about: z.string(),
  figures: z.array(
    z.object({
      table: z.string(),
      row: z.string(),
      column: z.string(),
      value: z.number(),
      atMost: z.number().exactOptional(),
    }),
  ),
});

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, runs: { type: "string" } },
});
const extent: Extent = options.quick ? "quick" : "whole";
const names =
  positionals.length > 0
    ? positionals
    : Object.keys(SUBJECTS).filter((name) => SUBJECTS[name]?.isLong !== true);
const folder = await mkdtemp(join(tmpdir(), "synclag-performance-"));
try {
  for (const name of names) {
    const summary = summarize(await measure(name));
    process.stdout.write(`${textOf(summary)}\n\n`);
    if (extent === "whole") {
      const text = await readFile(DOCUMENT, "utf8");
      await writeFile(DOCUMENT, renewDocument(text, name, { ...summary, provenance: provenance(name) }));
    }
  }
} finally {
  await rm(folder, { recursive: true });
}

async function measure(name: string): Promise<Measured> {
  const done: z.infer<typeof onceSchema>[] = [];
  const runs = runsOf(name);
  for (let run = 1; run <= runs; run += 1) {
    process.stderr.write(`${name}: run ${run} of ${runs}\n`);
    done.push(await measureOnce(name));
  }
  return {
    title: done[0]?.title ?? name,
    about: done[0]?.about ?? "",
    runs: done.map(({ figures }) => figures),
  };
}

function runsOf(name: string): number {
  return Number(options.runs ?? (options.quick ? 1 : SUBJECTS[name]?.runs));
}

async function measureOnce(name: string): Promise<z.infer<typeof onceSchema>> {
  const file = join(folder, `${name}.json`);
  const child = spawn(
    process.execPath,
    ["--import", "tsx", join(import.meta.dirname, "performance/measure-once.ts"), name, extent, file],
    { stdio: ["ignore", 2, 2] },
  );
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) {
    throw new Error(`Cannot measure ${name}: its process ended with ${code}`);
  }
  return onceSchema.parse(JSON.parse(await readFile(file, "utf8")));
}

function provenance(name: string): string {
  const [processor] = cpus();
  const runs = runsOf(name);
  const figures = runs === 1 ? "one run, medians of its parts" : `medians of ${runs} runs`;
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  return (
    `*\`npm run bench -- ${name}\`: ${figures} (least–most), ${new Date().toISOString().slice(0, 10)}, commit ${commit}, ` +
    `Node ${process.versions.node}, ${cpus().length} × ${processor?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}.*`
  );
}
