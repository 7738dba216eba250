import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../src/core/fleet.ts";
import { nothingIsReached, silenceMs } from "../../src/core/network-incident.ts";
import { FAILURE_REASONS, type FailureReason } from "../../src/core/observation.ts";
import type { TargetReport } from "../../src/core/report.ts";
import { sampleEndpoint, sampleTarget, sampleTargetReport } from "../views/sample-report.ts";

const NOW = 10_000_000;
const LONG_AGO = NOW - 45_000;

/** One host with a target for each reason that its last poll failed for. */
function host(name: string, ...reasons: readonly (FailureReason | null)[]) {
  const reports = reasons.map((reason, index) =>
    sampleTargetReport({
      target: sampleTarget({ variant: `${name}-${index}` }),
      reason,
      lastSuccessMs: LONG_AGO,
    }),
  );
  const endpoint = sampleEndpoint({ host: name, targets: reports.map(({ target }) => target) });
  return { reports, endpoint };
}

type Host = { readonly reports: readonly TargetReport[]; readonly endpoint: Endpoint };

function isReached(hosts: readonly Host[], nowMs = NOW): boolean {
  const reports = hosts.flatMap((one) => one.reports);
  return !nothingIsReached(
    reports,
    hosts.map(({ endpoint }) => endpoint),
    nowMs,
  );
}

describe("silenceMs()", () => {
  it.each([
    { intervals: [15_000, 60_000], ms: 45_000 },
    { intervals: [60_000, 30_000], ms: 60_000 },
    { intervals: [], ms: 45_000 },
  ])("is $ms where targets are polled each $intervals", ({ intervals, ms }) => {
    const reports = intervals.map((pollIntervalMs) =>
      sampleTargetReport({ target: sampleTarget({ pollIntervalMs }) }),
    );

    expect(silenceMs(reports)).toBe(ms);
  });
});

describe("nothingIsReached()", () => {
  it.each([
    { case: "two hosts fail", hosts: [host("a", "dns"), host("b", "timeout")], reached: false },
    { case: "one host fails, and there is no other", hosts: [host("a", "dns")], reached: true },
    {
      case: "one host fails, and another serves nobody",
      hosts: [host("a", "dns"), host("b")],
      reached: true,
    },
    {
      case: "one fails and one refuses",
      hosts: [host("a", "dns"), host("b", "rate_limited")],
      reached: true,
    },
    { case: "one fails and one is well", hosts: [host("a", "dns"), host("b", null)], reached: true },
    {
      case: "one host refuses one target, fails for the other",
      hosts: [host("a", "dns"), host("b", "dns", "graphql")],
      reached: true,
    },
    {
      case: "one host was not asked for one target, fails for the other",
      hosts: [host("a", "dns"), host("b", "budget", "dns")],
      reached: false,
    },
    {
      case: "two hosts fail and a third was not asked at all",
      hosts: [host("a", "dns"), host("b", "dns"), host("c", "budget")],
      reached: false,
    },
    {
      case: "one host fails and the other was not asked at all",
      hosts: [host("a", "dns"), host("b", "budget", "budget")],
      reached: true,
    },
    { case: "nobody was asked", hosts: [host("a", "budget"), host("b", "budget")], reached: true },
  ])("is reached: $reached, where $case", ({ hosts, reached }) => {
    expect(isReached(hosts)).toBe(reached);
  });

  it.each(FAILURE_REASONS.map((reason) => ({ reason })))(
    "knows whether $reason is an answer",
    ({ reason }) => {
      const unreached = ["timeout", "dns", "connect", "tls", "http_status", "malformed"];

      expect(isReached([host("a", "dns"), host("b", reason)])).toBe(!unreached.includes(reason));
    },
  );

  it("waits for 45 s of silence", () => {
    const hosts = [host("a", "dns"), host("b", "dns")];

    expect(isReached(hosts, NOW - 1)).toBe(true);
    expect(isReached(hosts, NOW)).toBe(false);
  });

  it("needs no silence where nobody has ever answered", () => {
    const never = [host("a", "dns"), host("b", "dns")].map(({ reports, endpoint }) => ({
      endpoint,
      reports: reports.map((report) => ({ ...report, lastSuccessMs: null })),
    }));

    expect(isReached(never)).toBe(false);
  });

  it("leaves out the targets of an endpoint that are not reported", () => {
    const hosts = [host("a", "dns"), host("b", "dns")];
    const unknown = { ...host("c", "dns"), reports: [] };

    expect(isReached([...hosts, unknown])).toBe(false);
  });
});
