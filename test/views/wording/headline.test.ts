import { describe, expect, it } from "vitest";
import type { Incident, TargetReport } from "../../../src/core/model/report.ts";
import { statusJson } from "../../../src/views/api/status.ts";
import { headline } from "../../../src/views/wording/headline.ts";
import { findProblems } from "../../../src/views/wording/problems.ts";
import {
  MINUTE_MS,
  NOW_MS,
  sampleChain,
  sampleChainReport,
  sampleReport,
  sampleTarget,
  sampleTargetReport,
} from "../sample-report.ts";

describe("headline()", () => {
  it("names the worst target and its alternatives", () => {
    expect(headlineOf([multichain(), subgraph({ status: "lagging", lagMs: 41 * MINUTE_MS })])).toEqual({
      tone: "warn",
      sentence: "1 of 2 targets needs attention: lockup subgraph, 41 min behind; multichain is ok",
      urgent: 1,
    });
  });

  it("counts all, and is red when no variant is left", () => {
    expect(
      headlineOf([
        multichain({ status: "missing", lagMs: null }),
        subgraph({ status: "stalled", lagMs: 41 * MINUTE_MS }),
      ]),
    ).toEqual({
      tone: "bad",
      sentence:
        "2 of 2 targets need attention; worst: lockup multichain, missing from the reply; no other variant is ok",
      urgent: 2,
    });
  });

  it("says so when there is no other variant", () => {
    expect(headlineOf([multichain({ status: "rejected", lagMs: 2000 })]).sentence).toBe(
      "1 of 1 target needs attention: lockup multichain, key rejected; there is no other variant",
    );
  });

  it("names the tier only where it is not production", () => {
    const testing = sampleTargetReport({
      target: sampleTarget({ variant: "subgraph", tier: "testing" }),
      status: "failed",
    });

    expect(headlineOf([multichain(), subgraph(), testing]).sentence).toBe(
      "1 of 3 targets needs attention: lockup subgraph (testing), failed; multichain and subgraph are ok",
    );
  });

  it("names a shared cause rather than its targets", () => {
    const targets = [multichain({ status: "unreachable" }), subgraph({ status: "unreachable" })];
    const incident = incidentOn("host", targets, "a.example answers HTTP 503");

    expect(headlineOf(targets, [incident]).sentence).toBe(
      "2 of 2 targets need attention, all with one cause: a.example answers HTTP 503; no other variant is ok",
    );
  });

  it("does not send users to a testing URL", () => {
    const testing = sampleTargetReport({ target: sampleTarget({ variant: "subgraph", tier: "testing" }) });

    expect(headlineOf([multichain({ status: "failed" }), testing]).sentence).toBe(
      "1 of 2 targets needs attention: lockup multichain, failed; only subgraph (testing) is ok",
    );
  });

  it("does not blame the indexers of a halted chain, and counts what else is wrong", () => {
    const halted = [multichain({ status: "chain_halted" }), subgraph({ status: "chain_halted" })];
    const third = sampleTargetReport({ target: sampleTarget({ variant: "third" }), status: "failed" });
    const incident = incidentOn("chain", halted, "2 of 2 targets of chain x stand still");

    expect(headlineOf([...halted, third], [incident]).sentence).toBe(
      "3 of 3 targets need attention, 2 of them with one cause: 2 of 2 targets of chain x stand still; the indexers are not the cause",
    );
  });

  it("names the chain where there are several", () => {
    const chains = ["Base", "Gnosis"].map((name) => {
      const chain = sampleChain({ slug: name.toLowerCase(), name });
      const target = sampleTarget({ chain: chain.slug });
      return sampleChainReport({ chain, targets: [sampleTargetReport({ target, status: "failed" })] });
    });
    const json = statusJson(sampleReport({ chains }));

    expect(headline(json, findProblems(json)).sentence).toBe(
      "2 of 2 targets need attention; worst: lockup multichain on Base, failed; there is no other variant",
    );
  });

  it("blames our own network when nothing can be reached", () => {
    const targets = [multichain({ status: "unknown" }), subgraph({ status: "unknown" })];
    const incident = incidentOn("network", targets, "nothing can be reached: every host fails");

    expect(headlineOf(targets, [incident])).toMatchObject({
      tone: "bad",
      sentence: "Nothing can be reached: every host fails",
    });
  });

  it.each([
    { targets: [], tone: "idle", sentence: "No targets are configured" },
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
      sentence: "No action needed: 1 of 2 targets ok, 1 syncing",
    },
    {
      targets: [multichain(), subgraph({ status: "unreachable", maintenance: true })],
      tone: "busy",
      sentence: "No action needed: 1 of 2 targets ok, 1 in maintenance",
    },
    {
      targets: [multichain({ status: "unknown" }), subgraph({ status: "syncing" })],
      tone: "busy",
      sentence: "No action needed: 0 of 2 targets ok, 1 syncing, 1 without data",
    },
    {
      targets: [multichain({ status: "unknown" }), subgraph({ status: "unknown" })],
      tone: "idle",
      sentence: "No data yet: none of 2 targets has answered",
    },
  ])("needs no action: $sentence", ({ targets, tone, sentence }) => {
    expect(headlineOf(targets)).toEqual({ tone, sentence, urgent: 0 });
  });
});

function headlineOf(targets: readonly TargetReport[], incidents: readonly Incident[] = []) {
  const json = statusJson(sampleReport({ chains: [sampleChainReport({ targets })], incidents }));
  return headline(json, findProblems(json));
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
