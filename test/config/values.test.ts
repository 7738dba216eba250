import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseListenAddress } from "../../src/config/schema/listen-address.ts";
import { durationLiteral, parseByteSize, parseDuration } from "../../src/config/schema/quantities.ts";

describe("parseDuration()", () => {
  it.each([
    { text: "250ms", ms: 250 },
    { text: "0.25s", ms: 250 },
    { text: "10s", ms: 10_000 },
    { text: "5m", ms: 300_000 },
    { text: "1h", ms: 3_600_000 },
    { text: "596h", ms: 2_145_600_000 },
  ])("reads $text as $ms ms", ({ text, ms }) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(["", "10", "10 s", "s", "1d", "-1s", "0s", "0.1ms", "1h30m", "597h", "1e3s", ".5s"])(
    "refuses '%s'",
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );
});

describe("durationLiteral()", () => {
  it("writes what parseDuration() reads", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (ms) => {
        expect(parseDuration(durationLiteral(ms))).toBe(ms);
      }),
    );
  });

  it("takes the largest unit that needs no fraction", () => {
    expect([90_000, 120_000, 3_600_000, 250].map(durationLiteral)).toEqual(["90s", "2m", "1h", "250ms"]);
  });
});

describe("parseByteSize()", () => {
  it.each([
    { text: "1B", bytes: 1 },
    { text: "512KiB", bytes: 524_288 },
    { text: "1.5MiB", bytes: 1_572_864 },
    { text: "1GiB", bytes: 1_073_741_824 },
  ])("reads $text as $bytes bytes", ({ text, bytes }) => {
    expect(parseByteSize(text)).toBe(bytes);
  });

  it.each(["", "1", "1MB", "1 MiB", "0KiB", "2GiB", "-1B"])("refuses '%s'", (text) => {
    expect(parseByteSize(text)).toBeNull();
  });
});

describe("parseListenAddress()", () => {
  it.each([
    { text: "127.0.0.1:9855", host: "127.0.0.1", port: 9855 },
    { text: "localhost:0", host: "localhost", port: 0 },
    { text: "[::1]:9855", host: "::1", port: 9855 },
    { text: "[::]:65535", host: "::", port: 65_535 },
  ])("reads $text", ({ text, host, port }) => {
    expect(parseListenAddress(text)).toEqual({ host, port });
  });

  it.each([
    "",
    "9855",
    ":9855",
    "localhost",
    "::1:9855",
    "localhost:65536",
    "localhost:-1",
    "http://localhost:9855",
  ])("refuses '%s'", (text) => {
    expect(parseListenAddress(text)).toBeNull();
  });
});
