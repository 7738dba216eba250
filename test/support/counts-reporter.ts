import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestModule, TestSuite } from "vitest/node";

/** The most lines for one failure, without its name: the message, the difference, and the place. */
const LINES_OF_A_FAILURE = 20;
const LONGEST_LINE = 200;

/**
 * Ends a run with a few lines for each failure, which CI repeats, and with one plain line of the counts, such as "7 passed, 0 failed",
 * which CI reads.
 */
class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    const failed = tests.flatMap((test) => {
      const { state, errors = [] } = test.result();
      const name = `${fileOf(test.module)} > ${test.fullName}${state === "pending" ? " (never ended)" : ""}`;
      return state === "failed" || state === "pending" ? [toFailure(name, errors)] : [];
    });
    // A module that fails to load, or a hook that fails, runs no test, and would otherwise count as none failed.
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const broken = [
      ...suites.flatMap((suite) => suite.errors().map((error) => toFailure(nameOf(suite), [error]))),
      ...unhandledErrors.map((error) => toFailure("outside of any test", [error])),
    ];
    const skipped = count("skipped") > 0 ? `, ${count("skipped")} skipped` : "";
    const counts = `${count("passed")} passed, ${failed.length + broken.length} failed${skipped}`;
    process.stdout.write(`\n${[...failed, ...broken].join("")}${counts}\n`);
  }
}

function nameOf(suite: TestModule | TestSuite): string {
  return suite.type === "module" ? fileOf(suite) : `${fileOf(suite.module)} > ${suite.fullName}`;
}

function fileOf({ moduleId }: TestModule): string {
  return relative(process.cwd(), moduleId);
}

/** One line "FAILED name", and below it what is wrong, each line behind a bar. */
function toFailure(name: string, errors: readonly SerializedError[]): string {
  const lines = errors.flatMap(linesOf);
  const left = lines.length - LINES_OF_A_FAILURE;
  const shown = left > 0 ? [...lines.slice(0, LINES_OF_A_FAILURE), `… ${left} lines more`] : lines;
  return `${[`FAILED ${name}`, ...shown.map((line) => `  | ${line}`)].join("\n")}\n`;
}

function linesOf({
  name = "Error",
  message,
  stacks = [],
  cause,
  ...error
}: SerializedError): readonly string[] {
  const places = stacks.slice(0, 2).map(({ file, line }) => `at ${relative(process.cwd(), file)}:${line}`);
  const because = cause === undefined ? [] : [`because: ${cause.message}`];
  const diff = typeof error["diff"] === "string" ? error["diff"] : "";
  return [`${name}: ${message}`, ...places, ...because, diff]
    .flatMap((text) => stripVTControlCharacters(text).split("\n"))
    .filter((line) => line.trim() !== "")
    .map((line) => line.slice(0, LONGEST_LINE));
}

export default CountsReporter;
