import { describe, expect, it } from "vitest";
import { startMonitor } from "./core.ts";
import { FAULT_SCRIPTS, playFault } from "./play-fault.ts";

describe("a scripted fault", () => {
  it.each(FAULT_SCRIPTS)(
    "is told as $expected within two polls, and as ok within two of its end: $name",
    (script) => {
      const outcome = playFault(script, startMonitor);

      expect(outcome.pollsToKnow).toBeLessThanOrEqual(2);
      expect(outcome.pollsToRecover).toBeLessThanOrEqual(2);
      expect(outcome.wrong).toEqual([]);
    },
  );
});
