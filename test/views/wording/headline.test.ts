import { describe, expect, it } from "vitest";
import type { Incident, TargetReport } from "../../../src/core/model/report.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { headline } from "../../../src/views/wording/headline.ts";
import { findTroubles } from "../../../src/views/wording/triage.ts";
import {
  MINUTE_MS,
  NOW_MS,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

describe("headline()", () => {
  it("tells the worst target and what is fresh beside it", () => {
    expect(tell([multichain(), subgraph({ status: "lagging", lagMs: 41 * MINUTE_MS })])).toEqual({
      tone: "warn",
      sentence: "1 of 2 targets needs you: lockup on Base, subgraph, 41 min behind; multichain is fresh",
      needed: 1,
    });
  });

  it("counts the others, and is loud when no variant is left", () => {
    expect(
      tell([
        multichain({ status: "missing", lagMs: null }),
        subgraph({ status: "stalled", lagMs: 41 * MINUTE_MS }),
      ]),
    ).toEqual({
      tone: "bad",
      sentence:
        "2 of 2 targets need you: lockup on Base, multichain, missing from the answer; no other variant is fresh; 1 more below",
      needed: 2,
    });
  });

  it("says so when there is no other variant", () => {
    expect(tell([multichain({ status: "rejected", lagMs: 2000 })]).sentence).toBe(
      "1 of 1 target needs you: lockup on Base, multichain, key rejected; it has no other variant",
    );
  });

  it("names the tier only where it is not production", () => {
    const testing = sampleTargetReport({
      target: sampleTarget({ variant: "subgraph", tier: "testing" }),
      status: "failed",
    });

    expect(tell([multichain(), subgraph(), testing]).sentence).toBe(
      "1 of 3 targets needs you: lockup on Base, subgraph (testing), failed; multichain and subgraph are fresh",
    );
  });

  it("tells one cause before any of its targets", () => {
    const targets = [multichain({ status: "unreachable" }), subgraph({ status: "unreachable" })];
    const incident = incidentOn("host", targets, "a.example answers HTTP 503");

    expect(tell(targets, [incident]).sentence).toBe(
      "2 of 2 targets need you, all for one cause: a.example answers HTTP 503; no other variant is fresh",
    );
  });

  it("takes a testing URL for no place to send users to", () => {
    const testing = sampleTargetReport({ target: sampleTarget({ variant: "subgraph", tier: "testing" }) });

    expect(tell([multichain({ status: "failed" }), testing]).sentence).toBe(
      "1 of 2 targets needs you: lockup on Base, multichain, failed; only subgraph (testing) is fresh",
    );
  });

  it("blames nobody for a chain that stands still, and counts what else is wrong", () => {
    const halted = [multichain({ status: "chain_halted" }), subgraph({ status: "chain_halted" })];
    const third = sampleTargetReport({ target: sampleTarget({ variant: "third" }), status: "failed" });
    const incident = incidentOn("chain", halted, "2 of 2 targets of chain x stand still");

    expect(tell([...halted, third], [incident]).sentence).toBe(
      "3 of 3 targets need you, 2 of them for one cause: 2 of 2 targets of chain x stand still; no indexer is to blame",
    );
  });

  it("says that it is our own network when nothing can be reached", () => {
    const targets = [multichain({ status: "unknown" }), subgraph({ status: "unknown" })];
    const incident = incidentOn("network", targets, "nothing can be reached: every host fails");

    expect(tell(targets, [incident])).toMatchObject({
      tone: "bad",
      sentence: "Nothing can be reached: every host fails",
    });
  });

  it.each([
    { targets: [], tone: "idle", sentence: "No target is watched" },
    { targets: [multichain()], tone: "ok", sentence: "The only target is ok, at most 4 s behind" },
    {
      targets: [multichain(), subgraph({ lagMs: 95_000 })],
      tone: "ok",
      sentence: "All 2 targets are ok, at most 95 s behind",
    },
    { targets: [multichain({ lagMs: null })], tone: "ok", sentence: "The only target is ok" },
    {
      targets: [multichain(), subgraph({ status: "syncing" })],
      tone: "busy",
      sentence: "Nothing needs you: 1 of 2 targets ok, 1 syncing",
    },
    {
      targets: [multichain(), subgraph({ status: "unreachable", maintenance: true })],
      tone: "busy",
      sentence: "Nothing needs you: 1 of 2 targets ok, 1 in maintenance",
    },
    {
      targets: [multichain({ status: "unknown" }), subgraph({ status: "syncing" })],
      tone: "busy",
      sentence: "Nothing needs you: 0 of 2 targets ok, 1 syncing, 1 without evidence yet",
    },
    {
      targets: [multichain({ status: "unknown" }), subgraph({ status: "unknown" })],
      tone: "idle",
      sentence: "No evidence yet: none of 2 targets has answered",
    },
  ])("is calm: $sentence", ({ targets, tone, sentence }) => {
    expect(tell(targets)).toEqual({ tone, sentence, needed: 0 });
  });
});

function tell(targets: readonly TargetReport[], incidents: readonly Incident[] = []) {
  const json = statusJson(sampleReport({ chains: [sampleChainReport({ targets })], incidents }));
  return headline(json, findTroubles(json));
}

function multichain(overrides: Partial<TargetReport> = {}): TargetReport {
  return sampleTargetReport({ target: sampleTarget({ variant: "multichain" }), ...overrides });
}

function subgraph(overrides: Partial<TargetReport> = {}): TargetReport {
  return sampleTargetReport({ target: sampleTarget({ variant: "subgraph" }), ...overrides });
}

function incidentOn(scope: Incident["scope"], targets: readonly TargetReport[], detail: string): Incident {
  return { scope, subject: "x", sinceMs: NOW_MS, detail, targets: targets.map(({ target }) => target.key) };
}
