import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/e2e/**"],
    reporters: ["default", "./test/support/counts-reporter.ts"],
    coverage: { include: ["src/**"], reporter: ["text-summary"] },
  },
});
