import { basename } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, first: the others fit beside it. */
const FIRST = [
  ...["daemon-stories", "stories", "hand-over", "command-stories"],
  ...["shared-budget", "leader", "prometheus", "page", "alerts", "ponder", "image"],
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const [name = ""] = basename(moduleId).split(".");
      return FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

const END_TO_END = "test/e2e/*.test.ts";
const SLOW = "test/**/*.slow.test.ts";
const NIGHTLY = "test/**/*.nightly.test.ts";

/** Tests wait for what happens, not for time; the limits are for what never does, on a machine that is ten times slower. */
const LIMITS = { testTimeout: 600_000, hookTimeout: 600_000 };
/** No test changes what another file can see, and loading the modules anew for each file takes half of the time. */
const SHARED = { isolate: false };
/** Scenarios allocate much and keep little: with room for it, the garbage collector has less to do. */
const ROOMY = { execArgv: ["--max-semi-space-size=64"] };

export default defineConfig({
  test: {
    // Not maxWorkers: it would win over that of the command line. Most files wait for servers and timers of their own, so the scripts
    // of package.json run three side by side; two where programs of their own use the processors.
    setupFiles: ["test/support/fast-check-seed.ts", "test/support/restore-globals.ts"],
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/support/counts-reporter.ts"],
    coverage: { include: ["src/**"], reporter: ["text-summary"] },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**", SLOW, NIGHTLY],
          ...SHARED,
          ...ROOMY,
          ...LIMITS,
        },
      },
      // What takes seconds of processor time: the program as a process, and many random or scripted cases.
      { extends: true, test: { name: "slow", include: [SLOW], ...SHARED, ...LIMITS } },
      {
        extends: true,
        test: {
          name: "e2e",
          include: [END_TO_END],
          exclude: [NIGHTLY],
          testTimeout: 600_000,
          hookTimeout: 300_000,
        },
      },
      // What is too long for every change: run each night and before a release.
      {
        extends: true,
        test: {
          name: "nightly",
          include: [NIGHTLY],
          globalSetup: "test/e2e/support/install-indexers.ts",
          testTimeout: 1_800_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
