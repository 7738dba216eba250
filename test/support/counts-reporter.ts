import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Ends a run with one plain line of the real counts, which CI reads; vitest's own summary it does not. */
class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map(stateOf));
    const count = (state: string): number => states.filter((one) => one === state).length;
    // A module that fails to load, or a hook that fails, runs no test, and would otherwise count as none failed.
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const broken = suites.flatMap((suite) => suite.errors()).length + unhandledErrors.length;

    const skipped = count("skipped") > 0 ? `, ${count("skipped")} skipped` : "";
    process.stdout.write(
      `\n${count("passed")} passed, ${count("failed") + count("pending") + broken} failed${skipped}\n`,
    );
  }
}

function stateOf(test: TestCase): string {
  return test.result().state;
}

export default CountsReporter;
