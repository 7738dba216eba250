import { describe, expect, it } from "vitest";
import { isAnswering, troubleOf, troubleText } from "../../../src/core/incidents/trouble.ts";
import { sampleTargetReport } from "../../views/sample-report.ts";

describe("troubleOf()", () => {
  it.each([
    { status: "unknown", text: null, answers: false },
    { status: "rejected", text: "reject our key", answers: false },
    { status: "throttled", text: "are throttled", answers: false },
    { status: "not_found", text: "are not found", answers: false },
    { status: "unreachable", text: "return no usable answer", answers: false },
    { status: "missing", text: "are missing from the answer", answers: true },
    { status: "failed", text: "report a failed deployment", answers: true },
    { status: "diverged", text: "answer for another chain or fork", answers: true },
    { status: "chain_halted", text: "have stopped because the chain has halted", answers: true },
    { status: "stalled", text: "lag or have stopped", answers: true },
    { status: "lagging", text: "lag or have stopped", answers: true },
    { status: "syncing", text: null, answers: true },
    { status: "ok", text: null, answers: true },
  ] as const)("says of $status: $text", ({ status, text, answers }) => {
    const trouble = troubleOf(status);

    expect(trouble === null ? null : troubleText(trouble)).toBe(text);
    expect(isAnswering(sampleTargetReport({ status }))).toBe(answers);
  });
});
