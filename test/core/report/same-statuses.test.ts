import { describe, expect, it } from "vitest";
import { hasSameStatuses } from "../../../src/core/report/same-statuses.ts";
import { sampleChainReport, sampleTarget, sampleTargetReport } from "../../views/sample-report.ts";

describe("hasSameStatuses()", () => {
  const target = sampleTargetReport({ status: "ok" });
  const other = sampleTargetReport({ target: sampleTarget({ variant: "other" }), status: "ok" });

  it.each([
    { case: "a height moved on", targets: [{ ...target, block: 7 }], alike: true },
    { case: "a target turned", targets: [{ ...target, status: "stalled" as const }], alike: false },
    { case: "another target stands there", targets: [other], alike: false },
    { case: "there is one more", targets: [target, other], alike: false },
    { case: "there is one less", targets: [], alike: false },
  ])("is $alike where $case", ({ targets, alike }) => {
    const before = sampleChainReport({ targets: [target] });

    expect(hasSameStatuses(before, sampleChainReport({ targets }))).toBe(alike);
  });
});
