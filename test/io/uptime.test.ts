import { uptime } from "node:os";
import { afterEach, expect, it, vi } from "vitest";
import { createUptime } from "../../src/io/uptime.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("the uptime is that of the machine, whatever the wall clock is set to", () => {
  const uptimeMs = createUptime();
  const before = uptimeMs();

  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
  const set = uptimeMs();

  expect(before).toBeGreaterThan(0);
  expect(set - before).toBeLessThan(60_000);
  expect(Math.abs(set - uptime() * 1_000)).toBeLessThan(1_000);
});
