import { afterEach, describe, expect, it, vi } from "vitest";
import { QUERIES, readSpanQuery } from "../../../src/views/api/queries.ts";

describe("readSpanQuery()", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([
    ["2026-11-23T03:10", "03:10:00.000"],
    ["2026-11-23 03:10:05", "03:10:05.000"],
    ["2026-11-23 03:10:05 UTC", "03:10:05.000"],
    ["2026-11-23T03:10:00Z", "03:10:00.000"],
    ["2026-11-23T03:10:00+02:00", "01:10:00.000"],
    ["2026-11-23", "00:00:00.000"],
  ])("reads %s in UTC, as all pages do, whatever the time zone of the machine", (from, time) => {
    vi.stubEnv("TZ", "America/New_York");

    const asked = readSpanQuery(QUERIES.incidents, { from }, "2026-11-24T00:00:00.000Z");

    expect(asked).toMatchObject({ from: `2026-11-23T${time}Z` });
  });
});
