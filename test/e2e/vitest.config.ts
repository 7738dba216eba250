import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The longest first: the others fit beside them. They mostly wait for time to pass. */
const FIRST = [
  "parity.test.ts",
  "alerts.test.ts",
  "demo-kit.test.ts",
  "leader.test.ts",
  "clock-steps.test.ts",
  "image.test.ts",
  "families.test.ts",
  "ponder.test.ts",
  "page.test.ts",
];

class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = FIRST.indexOf(basename(moduleId));
      return place < 0 ? FIRST.length : place;
    };
    return Promise.resolve(files.toSorted((a, b) => rank(a) - rank(b)));
  }
}

// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  root,
  test: {
    include: ["test/e2e/*.test.ts"],
    sequence: { sequencer: LongestFirst },
    // More than two cores have: two of the files wait for most of their time. Not more, for some measure time.
    maxWorkers: 3,
    // Tests wait for what happens, each with a limit of its own; this one is for what never does.
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
