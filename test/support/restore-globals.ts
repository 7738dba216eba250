import { afterEach, vi } from "vitest";

// This also runs after a test that timed out and cannot clean up itself: the next tests would wait for timers that never fire.
afterEach(() => {
  // This comes first, because stubs may restore fake timers.
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
