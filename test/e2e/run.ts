import type { SerializedError, TestModule } from "vitest/node";
import { startVitest } from "vitest/node";
import { fileOf, summarize } from "../support/counts-reporter.ts";

/*
 * Runs the end-to-end tests: those of the files that are named, or all. They wait for real programs on a clock that
 * does not wait for a busy machine, so a file with a failure runs once more, alone. What fails then is broken; what
 * passes then is reported as failed beside others, and counted by its second run.
 */

interface Run {
  readonly modules: readonly TestModule[];
  /** Errors outside of any test. */
  readonly errors: readonly SerializedError[];
}

const first = await run(process.argv.slice(2));
const failed = first.modules.filter((module) => !module.ok() || first.errors.some(isOf(module)));
const passed = first.modules.filter((module) => !failed.includes(module));
/** Of no file, so no second run takes them back. */
const errors = first.errors.filter((error) => !failed.some((module) => isOf(module)(error)));

if (failed.length === 0) {
  finish(first);
} else {
  process.stdout.write(`\nFailed beside others, and runs again alone: ${failed.map(fileOf).join(", ")}\n`);
  process.stdout.write(summarize(failed, first.errors).failures.replaceAll(/^FAILED /gm, "First run: "));
  const second = await run(failed.map(fileOf), { maxWorkers: 1 });
  finish({ modules: [...passed, ...second.modules], errors: [...errors, ...second.errors] });
}

/** Whether an error outside of any test comes from a file: vitest notes the file that ran then. */
function isOf({ moduleId }: TestModule): (error: SerializedError) => boolean {
  return (error) => error["VITEST_TEST_PATH"] === moduleId;
}

function finish({ modules, errors }: Run): void {
  const { failures, counts } = summarize(modules, errors);
  process.stdout.write(`\n${failures}${counts}\n`);
  process.exitCode =
    modules.length > 0 && errors.length === 0 && modules.every((module) => module.ok()) ? 0 : 1;
}

async function run(files: readonly string[], options: { readonly maxWorkers?: number } = {}): Promise<Run> {
  const result: { modules: readonly TestModule[]; errors: readonly SerializedError[] } = {
    modules: [],
    errors: [],
  };
  const vitest = await startVitest("test", [...files], {
    ...options,
    project: ["e2e"],
    watch: false,
    reporters: [
      "verbose",
      {
        onTestRunEnd(modules, errors) {
          result.modules = modules;
          result.errors = errors;
        },
      },
    ],
  });
  await vitest.close();
  return result;
}
