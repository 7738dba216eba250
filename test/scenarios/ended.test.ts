import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startScenario } from "../support/scenario.ts";
import { TRIO } from "./statuses/fleets.ts";

describe("a test that runs out of time", () => {
  it("leaves fake timers and globals behind", () => {
    vi.useFakeTimers();
    vi.stubGlobal("leftBehind", true);
    expect(vi.isFakeTimers()).toBe(true);
  });

  it("does not affect the clock of the next test", () => {
    expect(vi.isFakeTimers()).toBe(false);
    expect(globalThis).not.toHaveProperty("leftBehind");
  });

  it("does not move the clock of the next scenario", async () => {
    const ended = await startScenario(TRIO);
    const running = expect(ended.run("99h")).rejects.toThrow("Cannot run on: the test has ended");
    vi.useRealTimers();
    const next = await startScenario(TRIO);
    onTestFinished(() => next[Symbol.asyncDispose]());

    await running;
    await ended[Symbol.asyncDispose]();

    expect(vi.isFakeTimers()).toBe(true);
  });
});
