import type { World } from "../../src/io/world.ts";
import { recordLog } from "./log-recorder.ts";

/** A world in which time stands still and nothing is written, with what a test wants otherwise. */
export function worldOf(wanted: Partial<World> = {}): World {
  return {
    nowMs: () => Date.UTC(2026, 10, 20, 12),
    monotonicMs: () => 0,
    random: () => 0,
    logger: recordLog().logger,
    loadConfig: () => {
      throw new Error("Cannot read a configuration: this world has none");
    },
    stateFile: null,
    onBug: (error) => {
      throw error;
    },
    build: { version: "0", revision: "", nodeVersion: "" },
    isLifecycleEnabled: false,
    ...wanted,
  };
}
