import { defineConfig, mergeConfig } from "vitest/config";
import config from "./vitest.config.ts";

/** What takes seconds of processor time: the program as a process, and random or scripted cases in large numbers. */
export default mergeConfig(
  { ...config, test: { ...config.test, include: [], exclude: [] } },
  defineConfig({ test: { include: ["test/**/*.slow.test.ts"] } }),
);
