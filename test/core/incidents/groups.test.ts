import { describe, expect, it } from "vitest";
import { type Group, groupsOf } from "../../../src/core/incidents/groups.ts";
import type { Endpoint } from "../../../src/core/model/fleet.ts";
import type { Status, TargetReport } from "../../../src/core/model/report.ts";
import { sampleEndpoint, sampleTarget, sampleTargetReport } from "../../views/sample-report.ts";

function reportOf(variant: string, chain: string, status: Status = "unreachable"): TargetReport {
  return sampleTargetReport({ target: sampleTarget({ variant, chain }), status });
}

function endpointOf(host: string, variant: string, reports: readonly TargetReport[]): Endpoint {
  return sampleEndpoint({ variant, host, targets: reports.map(({ target }) => target) });
}

/** An indexer with an endpoint per chain, and one with a single endpoint, all on one host. */
const SPREAD = ["base", "form", "mode"].map((chain) => reportOf("spread", chain));
const SINGLE = ["base", "form", "mode"].map((chain) => reportOf("single", chain));
const ENDPOINTS = [
  ...SPREAD.map((report) => endpointOf("shared.test", "spread", [report])),
  endpointOf("shared.test", "single", SINGLE),
];

function groups(reports: readonly TargetReport[], endpoints = ENDPOINTS): readonly Group[] {
  return groupsOf({ reports, endpoints, affected: reports });
}

function named(name: string, reports: readonly TargetReport[] = [...SPREAD, ...SINGLE]): Group {
  const found = groups(reports).find((group) => group.name === name);
  if (found === undefined) {
    throw new Error(`Cannot find group: ${name}`);
  }
  return found;
}

describe("groupsOf()", () => {
  it("names indexers, then chains, then hosts of several indexers", () => {
    const found = groups([...SPREAD, ...SINGLE]).map(({ name, scope, subject, members }) => ({
      name,
      scope,
      subject,
      size: members.length,
    }));

    expect(found).toEqual([
      { name: "lockup/spread/production", scope: "endpoint", subject: "lockup/spread/production", size: 3 },
      { name: "lockup/single/production", scope: "endpoint", subject: "lockup/single/production", size: 3 },
      { name: "chain base", scope: "chain", subject: "base", size: 2 },
      { name: "chain form", scope: "chain", subject: "form", size: 2 },
      { name: "chain mode", scope: "chain", subject: "mode", size: 2 },
      { name: "host shared.test", scope: "host", subject: "shared.test", size: 6 },
    ]);
  });

  it("has no group of RPC nodes, nor of a host that serves one indexer", () => {
    const rpc = sampleEndpoint({ kind: "rpc", host: "rpc.test", variant: "rpc", targets: [] });
    const own = SPREAD.map((report) => endpointOf("own.test", "spread", [report]));

    expect(groups(SPREAD, [...own, rpc]).map(({ scope }) => scope)).toEqual([
      "endpoint",
      "chain",
      "chain",
      "chain",
    ]);
  });

  it("leaves out targets that are not reported", () => {
    const first = SPREAD.slice(0, 1);

    expect(groups(first).map(({ members }) => members)).toEqual([first, first]);
  });

  it("has only those that a suspect is in, and hosts with as many as may be enough", () => {
    const reports = [...SPREAD, ...SINGLE];
    const named = (affected: readonly TargetReport[]) =>
      groupsOf({ reports, endpoints: ENDPOINTS, affected }).map(({ name }) => name);

    expect(named(SPREAD.slice(0, 1))).toEqual(["lockup/spread/production", "chain base"]);
    expect(named(SPREAD.slice(0, 2))).not.toContain("host shared.test");
    expect(named(SPREAD)).toContain("host shared.test");
  });
});

describe("isAtFault()", () => {
  it.each([
    { group: "lockup/spread/production", troubled: [], begins: false, stays: false },
    { group: "lockup/spread/production", troubled: SPREAD.slice(0, 1), begins: false, stays: false },
    { group: "lockup/spread/production", troubled: SPREAD.slice(0, 2), begins: true, stays: true },
    { group: "host shared.test", troubled: [...SPREAD, ...SINGLE], begins: true, stays: true },
    { group: "host shared.test", troubled: [...SPREAD, ...SINGLE.slice(0, 2)], begins: true, stays: true },
    { group: "host shared.test", troubled: [...SPREAD, ...SINGLE.slice(0, 1)], begins: false, stays: true },
    { group: "host shared.test", troubled: SPREAD, begins: false, stays: true },
    { group: "host shared.test", troubled: SPREAD.slice(0, 2), begins: false, stays: false },
  ])("of $group: begins $begins, stays $stays, with $troubled.length in trouble", (row) => {
    const { isAtFault } = named(row.group);
    const troubled = new Set(row.troubled);

    expect([isAtFault(troubled, "start"), isAtFault(troubled, "continue")]).toEqual([row.begins, row.stays]);
  });

  it("of a host with a target that is not reported is not met by the others alone", () => {
    const [, ...rest] = SPREAD;
    const { isAtFault } = named("host shared.test", [...rest, ...SINGLE]);

    expect(isAtFault(new Set([...rest, ...SINGLE]), "start")).toBe(false);
  });

  it.each([
    { case: "nobody is in trouble", statuses: ["ok", "ok"], begins: false, stays: false },
    { case: "all stand still", statuses: ["stalled", "stalled"], begins: true, stays: true },
    { case: "one goes on", statuses: ["stalled", "ok"], begins: false, stays: true },
    { case: "most go on", statuses: ["stalled", "ok", "ok"], begins: false, stays: false },
    { case: "the other does not answer", statuses: ["stalled", "unreachable"], begins: true, stays: true },
    { case: "nobody answers", statuses: ["unreachable", "throttled"], begins: false, stays: false },
  ] as const)("of a chain: begins $begins, stays $stays, where $case", ({ statuses, begins, stays }) => {
    const reports = statuses.map((status, index) => reportOf(`v${index}`, "base", status));
    const { isAtFault } = named("chain base", reports);
    const troubled = new Set(reports.filter(({ status }) => status === "stalled"));

    expect([isAtFault(troubled, "start"), isAtFault(troubled, "continue")]).toEqual([begins, stays]);
  });

  it("of a chain is not met by any in trouble that does not answer", () => {
    const [heard, silent] = [reportOf("a", "base", "stalled"), reportOf("b", "base", "unreachable")];
    const { isAtFault } = named("chain base", [heard, silent]);

    expect(isAtFault(new Set([heard, silent]), "start")).toBe(false);
  });

  it("has a host that serves one indexer where some of it contradicts the others", () => {
    const own = SPREAD.map((report) => endpointOf("own.test", "spread", [report]));
    const diverged = SPREAD.slice(0, 1).map((report) => ({ ...report, status: "diverged" as const }));

    const found = groupsOf({
      reports: [...diverged, ...SPREAD.slice(1)],
      endpoints: own,
      affected: diverged,
    });

    expect(found.map(({ name }) => name)).toContain("host own.test");
  });

  it.each([
    { affected: 1, isAtFault: false },
    { affected: 2, isAtFault: true },
  ])(
    "of a host of indexers with three targets each stays with $affected of three down in each: $isAtFault",
    ({ affected, isAtFault }) => {
      const both = [SPREAD, SINGLE].map((reports, index) => endpointOf("two.test", `v${index}`, reports));
      const host = groups([...SPREAD, ...SINGLE], both).find(({ scope }) => scope === "host");
      const down = new Set([...SPREAD.slice(0, affected), ...SINGLE.slice(0, affected)]);

      expect(host?.isAtFault(down, "continue")).toBe(isAtFault);
    },
  );
});

describe("isAtFault() of a host that contradicts the others", () => {
  const SUBJECT = "host own.test";
  const diverged = (variant: string, chain: string) => reportOf(variant, chain, "diverged");

  /** The group of a host that serves these, of which the first contradicts the others. */
  function hostOf(reports: readonly TargetReport[]): Group | undefined {
    const endpoints = [
      endpointOf("own.test", "one", reports),
      sampleEndpoint({ kind: "rpc", host: "own.test", key: "rpc/base/0", targets: [] }),
    ];
    const found = groupsOf({ reports, endpoints, affected: reports.slice(0, 1) });
    return found.find(({ name }) => name === SUBJECT);
  }

  it.each([
    {
      case: "both of its targets on one chain are excluded",
      reports: [diverged("a", "base"), diverged("b", "base"), reportOf("a", "form", "ok")],
      affected: 2,
      begins: true,
      stays: true,
    },
    {
      case: "one of its two targets on one chain is excluded",
      reports: [diverged("a", "base"), reportOf("b", "base", "ok")],
      affected: 1,
      begins: false,
      stays: true,
    },
    {
      case: "one of its three targets on one chain is excluded",
      reports: [diverged("a", "base"), reportOf("b", "base", "ok"), reportOf("c", "base", "ok")],
      affected: 1,
      begins: false,
      stays: false,
    },
    {
      case: "its only targets on two chains are excluded, for each may be a fault of its own",
      reports: [diverged("a", "base"), diverged("a", "form")],
      affected: 2,
      begins: false,
      stays: false,
    },
    {
      case: "one of both is excluded, and the other is down",
      reports: [diverged("a", "base"), reportOf("b", "base", "unreachable")],
      affected: 2,
      begins: false,
      stays: false,
    },
  ])("begins $begins, stays $stays, where $case", ({ reports, affected, begins, stays }) => {
    const host = hostOf(reports);
    const troubled = new Set(reports.slice(0, affected));

    expect([host?.isAtFault(troubled, "start"), host?.isAtFault(troubled, "continue")]).toEqual([
      begins,
      stays,
    ]);
  });
});
