import { afterEach, vi } from "vitest";

// Also after a test that ran out of time, whose own end does not come: the next ones would wait for timers that never fire.
afterEach(() => {
  // First: stubs may be of fake timers, and come back to them.
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
