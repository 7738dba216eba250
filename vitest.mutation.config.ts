import { defineConfig } from "vitest/config";

/**
 * The tests that a mutant of src/core must not pass. Left out: the laws, whose cases are drawn anew each time, and the
 * scripted faults; both take seconds for each mutant.
 */
export default defineConfig({
  test: {
    include: ["test/core/**/*.test.ts"],
    exclude: ["test/core/**/{*-laws,worlds,*.slow}.test.ts"],
    isolate: false,
    testTimeout: 60_000,
  },
});
