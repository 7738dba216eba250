import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestCase, TestModule, TestSuite } from "vitest/node";

/** Lines of each failure, its name not counted: the message, the difference, and where. */
const LINES_OF_A_FAILURE = 20;
const LONGEST_LINE = 200;

/**
 * Ends a run with what failed, and with one plain line of the real counts: CI repeats the former and reads the latter;
 * vitest's own summary it does not.
 */
class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const { failures, counts } = summarize(modules, unhandledErrors);
    process.stdout.write(`\n${failures}${counts}\n`);
  }
}

/** What failed, in some lines each, and the counts: "N passed, N failed", and ", N skipped" where some were. */
function summarize(
  modules: readonly TestModule[],
  unhandledErrors: readonly SerializedError[],
): { readonly failures: string; readonly counts: string } {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const count = (state: string): number => tests.filter((test) => stateOf(test) === state).length;
  // A module that fails to load, or a hook that fails, runs no test, and would otherwise count as none failed.
  const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
  const broken = suites.flatMap((suite) => suite.errors()).length + unhandledErrors.length;

  const failures = [
    ...tests.flatMap(failureOfTest),
    ...suites.flatMap((suite) => suite.errors().map((error) => toFailure(nameOf(suite), [error]))),
    ...unhandledErrors.map((error) => toFailure("outside of any test", [error])),
  ];
  const skipped = count("skipped") > 0 ? `, ${count("skipped")} skipped` : "";
  return {
    failures: failures.join(""),
    counts: `${count("passed")} passed, ${count("failed") + count("pending") + broken} failed${skipped}`,
  };
}

function stateOf(test: TestCase): string {
  return test.result().state;
}

function failureOfTest(test: TestCase): readonly string[] {
  const name = `${fileOf(test.module)} > ${test.fullName}`;
  const { state, errors = [] } = test.result();
  switch (state) {
    case "failed":
      return [toFailure(name, errors)];
    case "pending":
      return [toFailure(`${name} (never ended)`, errors)];
    default:
      return [];
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

function linesOf(error: SerializedError): readonly string[] {
  const { message, stacks = [], cause } = error;
  const diff = typeof error["diff"] === "string" ? error["diff"] : "";
  const place = stacks.map(({ file, line }) => `at ${relative(process.cwd(), file)}:${line}`).slice(0, 2);
  const because = cause === undefined ? [] : [`because: ${cause.message}`];
  return [`${error.name ?? "Error"}: ${message}`, ...place, ...because, diff]
    .flatMap((text) => stripVTControlCharacters(text).split("\n"))
    .filter((line) => line.trim() !== "")
    .map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
}

export default CountsReporter;
