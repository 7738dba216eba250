import { describe, expect, it } from "vitest";
import { isHeard, troubleOf, troubleText } from "../../../src/core/incidents/trouble.ts";
import { sampleTargetReport } from "../../views/sample-report.ts";

describe("troubleOf()", () => {
  it.each([
    { status: "unknown", text: null, heard: false },
    { status: "rejected", text: "reject our key", heard: false },
    { status: "throttled", text: "are throttled", heard: false },
    { status: "not_found", text: "are not found", heard: false },
    { status: "unreachable", text: "give no usable answer", heard: false },
    { status: "missing", text: "are missing from the answer", heard: true },
    { status: "failed", text: "report a failed deployment", heard: true },
    { status: "diverged", text: "answer for another chain or fork", heard: true },
    { status: "chain_halted", text: "stand at a chain that has halted", heard: true },
    { status: "stalled", text: "lag or stand still", heard: true },
    { status: "lagging", text: "lag or stand still", heard: true },
    { status: "syncing", text: null, heard: true },
    { status: "ok", text: null, heard: true },
  ] as const)("says of $status: $text", ({ status, text, heard }) => {
    const trouble = troubleOf(status);

    expect(trouble === null ? null : troubleText(trouble)).toBe(text);
    expect(isHeard(sampleTargetReport({ status }))).toBe(heard);
  });
});
