import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // `vitest.slow.config.ts` runs the slow ones.
    exclude: ["test/e2e/**", "test/**/*.slow.test.ts"],
    // Most files wait for servers and timers of their own, so more of them than cores run side by side.
    maxWorkers: 3,
    // No test changes what another file can see, and loading the modules anew for each file takes half of the time.
    isolate: false,
    // Tests wait for what happens, not for time; the limit is for what never does, on a machine that is busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", "./test/support/counts-reporter.ts"],
    coverage: { include: ["src/**"], reporter: ["text-summary"] },
  },
});
