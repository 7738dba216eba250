import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("../..", import.meta.url));

// One file at a time: each starts daemons, browsers and databases of its own, and some measure time.
// biome-ignore lint/style/noDefaultExport: vitest reads the default export.
export default defineConfig({
  root,
  test: {
    include: ["test/e2e/*.test.ts"],
    reporters: ["verbose", "./test/support/counts-reporter.ts"],
    fileParallelism: false,
    // Tests wait for what happens, each with a limit of its own; this one is for what never does.
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
