import { describe, expect, it } from "vitest";
import type { TargetReport } from "../../../src/core/model/report.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { applyMaxLag, selectForCheck } from "../../../src/views/terminal/check-selection.ts";
import { defaultFleetReport } from "../default-fleet-report.ts";
import { MINUTE_MS, NOW_MS, sampleChainReport, sampleReport, sampleTargetReport } from "../sample-report.ts";

const FLEET = statusJson(defaultFleetReport());

describe("selectForCheck()", () => {
  it("takes everything as it is without a filter", () => {
    expect(selectForCheck(FLEET, [])).toEqual({ kind: "selected", json: FLEET, selections: [] });
  });

  it.each([
    { filters: ["lockup"], count: 70 },
    { filters: ["lockup/base"], count: 3 },
    { filters: ["lockup/base/subgraph"], count: 2 },
    { filters: ["lockup/base", "lockup/base/subgraph", "airdrops/sei"], count: 5 },
  ])("selects $count targets for $filters, each once", ({ filters, count }) => {
    const selected = selectForCheck(FLEET, filters);

    expect(selected.kind === "selected" && selected.json.targets).toHaveLength(count);
  });

  it("reports every filter that matches nothing", () => {
    expect(selectForCheck(FLEET, ["lokcup", "lockup/base", "lockup//x", "a/b/c/d", ""])).toEqual({
      kind: "errors",
      errors: [
        "Cannot find protocol 'lokcup' (did you mean 'lockup'?): available are airdrops, lockup",
        "Cannot use filter 'lockup//x': expected protocol, protocol/chain or protocol/chain/variant",
        "Cannot use filter 'a/b/c/d': expected protocol, protocol/chain or protocol/chain/variant",
        "Cannot use filter '': expected protocol, protocol/chain or protocol/chain/variant",
      ],
    });
  });
});

describe("applyMaxLag()", () => {
  it.each<{ target: Partial<TargetReport>; status: string; detail: string }>([
    { target: { lagMs: MINUTE_MS }, status: "ok", detail: "4 s behind the reference" },
    {
      target: { lagMs: 5 * MINUTE_MS },
      status: "lagging",
      detail: "5 min behind the reference, more than the --max-lag of 60 s",
    },
    {
      target: { lagMs: null, lastAdvanceMs: NOW_MS - MINUTE_MS },
      status: "ok",
      detail: "4 s behind the reference",
    },
    {
      target: { lagMs: null, lastAdvanceMs: NOW_MS - 5 * MINUTE_MS },
      status: "lagging",
      detail: "Lag unknown; last advanced 5 min ago, more than the --max-lag of 60 s",
    },
    {
      target: { lagMs: null, lastAdvanceMs: null },
      status: "lagging",
      detail: "Lag unknown, and never seen to advance",
    },
    { target: { lagMs: 9 * MINUTE_MS, status: "failed", detail: "x" }, status: "failed", detail: "x" },
  ])("is $status for $target where 60 s are allowed", ({ target, status, detail }) => {
    const json = statusJson(
      sampleReport({ chains: [sampleChainReport({ targets: [sampleTargetReport(target)] })] }),
    );

    expect(applyMaxLag(json, MINUTE_MS).targets[0]).toMatchObject({ status, detail });
  });
});
