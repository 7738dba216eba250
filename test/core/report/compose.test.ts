import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../../src/core/model/fleet.ts";
import type { FailureReason } from "../../../src/core/model/observation.ts";
import { cachedReport } from "../../../src/core/report/cached-report.ts";
import { composeReport, type ReportInput } from "../../../src/core/report/compose.ts";
import { BASE, headOf, Play, type Said, watch } from "../chain/chain-fixture.ts";

const [A, B] = ["airdrops/multichain", "airdrops/subgraph"];
const RPC = "rpc/base/0";

function play(): Play {
  return new Play(watch(BASE, A, B)).run(10, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: headOf(nowMs) }));
}

function compose(played: Play, changed: Partial<ReportInput> = {}) {
  const endpoints = played.watched.targets.map(
    (target, index): Endpoint => ({
      ...target,
      kind: "indexer",
      name: target.chain,
      url: "",
      host: `host-${index}.test`,
      headers: {},
      dialect: "auto",
      schedule: "",
      budget: null,
      targets: [target],
    }),
  );
  return composeReport({
    chains: [cachedReport(null, played, played.nowMs)],
    endpoints,
    previousIncidents: [],
    budgets: [],
    skipped: [],
    nowMs: played.nowMs,
    ...changed,
  });
}

function failing(reason: FailureReason, rest: Readonly<Record<string, Said>> = {}) {
  return () => ({ [A]: reason, [B]: reason, ...rest });
}

describe("composeReport()", () => {
  it("reports every chain, and no incident while all is well", () => {
    const played = play();

    const report = compose(played);

    expect(report).toMatchObject({ generatedAtMs: played.nowMs, incidents: [], budgets: [], skipped: [] });
    expect(report.chains[0]?.targets.map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(report.chains[0]?.targets.map(({ preferred }) => preferred)).toEqual([true, false]);
  });

  it("says `unknown` of every target while nothing at all can be reached", () => {
    const played = play().run(4, failing("dns"));

    const report = compose(played);

    expect(report.incidents.map(({ scope, subject }) => `${scope} ${subject}`)).toEqual(["network all"]);
    expect(report.chains[0]?.targets.map(({ status, preferred }) => ({ status, preferred }))).toEqual([
      { status: "unknown", preferred: false },
      { status: "unknown", preferred: false },
    ]);
    expect(report.chains[0]?.targets[0]?.detail).toContain("our own network");
  });

  it("says `unreachable` while an RPC node still answers", () => {
    const played = play().run(4, ({ nowMs }) => failing("dns", { [RPC]: headOf(nowMs) })());

    const report = compose(played);

    expect(report.incidents.filter(({ scope }) => scope === "network")).toEqual([]);
    expect(report.chains[0]?.targets.map(({ status }) => status)).toEqual(["unreachable", "unreachable"]);
  });

  it("takes no RPC answer of minutes ago for a sign of life", () => {
    const played = play()
      .run(1, ({ nowMs }) => ({ [RPC]: headOf(nowMs) }))
      .run(6, failing("dns"));

    expect(compose(played).incidents.map(({ scope }) => scope)).toEqual(["network"]);
  });

  it("is itself again with the first answer", () => {
    const played = play().run(6, failing("timeout"));
    const { incidents } = compose(played);

    played.run(1, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: "timeout" }));

    const report = compose(played, { previousIncidents: incidents });
    expect(report.incidents).toEqual([]);
    expect(report.chains[0]?.targets.map(({ status }) => status)).toEqual(["ok", "unreachable"]);
  });

  it("takes no RPC node that fails for a sign of life", () => {
    const played = play().run(4, failing("dns", { [RPC]: "connect" }));

    expect(compose(played).incidents.map(({ scope }) => scope)).toEqual(["network"]);
  });

  it("takes an answer for a sign of life, though it brings no height", () => {
    const played = play().run(4, failing("dns", { [RPC]: "not_started" }));

    expect(compose(played).incidents.filter(({ scope }) => scope === "network")).toEqual([]);
  });

  it("says nothing of what was last asked while nothing could be reached, and takes it for no incident", () => {
    const played = play().run(6, failing("dns"));
    const lastOutageMs = played.nowMs;
    played.run(1, ({ nowMs }) => ({ [RPC]: headOf(nowMs) }));

    const then = compose(played, { lastOutageMs });
    const later = compose(
      played.run(1, ({ nowMs }) => ({ [A]: headOf(nowMs), [B]: "dns" })),
      { lastOutageMs },
    );

    expect(then.incidents).toEqual([]);
    expect(then.chains[0]?.targets.map(({ status, reason }) => [status, reason])).toEqual([
      ["unknown", "dns"],
      ["unknown", "dns"],
    ]);
    expect(then.chains[0]?.targets[0]?.detail).toBe("not polled since our network outage");
    expect(later.chains[0]?.targets.map(({ status }) => status)).toEqual(["ok", "unreachable"]);
  });

  it("names no failure at a start till somebody has answered, or all were asked", () => {
    const start = new Play(watch(BASE, A, B));
    const compared = [{ [A]: "dns" }, { [A]: "dns", [B]: "dns" }] as const;
    const cutOff = compared.map((said) => compose(start.run(1, () => said)));
    const oneAnswers = compose(
      new Play(watch(BASE, A, B)).run(1, ({ nowMs }) => ({ [A]: "dns", [RPC]: headOf(nowMs) })),
    );

    expect(cutOff.map(({ incidents }) => incidents.map(({ scope }) => scope))).toEqual([[], ["network"]]);
    expect(cutOff.map(({ chains }) => chains[0]?.targets[0]?.status)).toEqual(["unknown", "unknown"]);
    expect(oneAnswers.chains[0]?.targets.map(({ status }) => status)).toEqual(["unreachable", "unknown"]);
  });

  it("says `unknown` from the start, not `unreachable` first", () => {
    const played = play();
    const statuses = [1, 2, 3, 4].map(() => {
      const { chains, incidents } = compose(played.run(1, failing("dns")));
      return [chains[0]?.targets.map(({ status }) => status), incidents.map(({ scope }) => scope)];
    });

    expect(statuses).toEqual([
      [["ok", "ok"], []],
      [["unknown", "unknown"], ["network"]],
      [["unknown", "unknown"], ["network"]],
      [["unknown", "unknown"], ["network"]],
    ]);
  });

  it("takes an answer of any chain's RPC node for a sign of life", () => {
    const played = play().run(4, ({ nowMs }) => failing("dns", { [RPC]: headOf(nowMs) })());
    const silent = { watched: watch({ ...BASE, slug: "form" }), state: { ...played.state, sources: [] } };
    const chains = [played, silent].map((chain) => cachedReport(null, chain, played.nowMs));

    const report = compose(played, { chains });

    expect(report.incidents.filter(({ scope }) => scope === "network")).toEqual([]);
  });

  it("keeps the statuses under an incident of the chain alone", () => {
    const played = play().run(50, () => ({ [A]: 1_000, [B]: 1_000 }));

    const report = compose(played);

    expect(report.incidents.map(({ scope, subject }) => `${scope} ${subject}`)).toEqual(["chain base"]);
    expect(report.chains[0]?.targets.map(({ status }) => status)).toEqual(["stalled", "stalled"]);
  });

  it("marks the targets inside a maintenance window, and no others", () => {
    const report = compose(play(), { maintenance: ({ variant }) => variant === "subgraph" });

    expect(report.chains[0]?.targets.map(({ maintenance }) => maintenance)).toEqual([false, true]);
    expect(report.chains[0]?.targets.map(({ status }) => status)).toEqual(["ok", "ok"]);
  });

  it("puts an explanation first in the detail of a target that is neither `ok` nor `unknown`", () => {
    const played = play().run(4, ({ nowMs }) => ({
      [A]: { block: headOf(nowMs), indexingErrors: true },
      [B]: headOf(nowMs),
    }));
    const [a = "", b = ""] = played.watched.targets.map(({ key }) => key);
    const details = (...explained: readonly string[]) => {
      const explanations = new Map(explained.map((key) => [key, "failed in handleTransfer"]));
      return compose(played, { explanations }).chains[0]?.targets.map(({ detail }) => detail.split("; ")[0]);
    };
    const plain = compose(played).chains[0]?.targets.map(({ detail }) => detail) ?? [];

    expect(details(a, b)).toEqual(["failed in handleTransfer", plain[1]]);
    expect(details(b)).toEqual(plain);
    expect(compose(played, { explanations: new Map([[a, "x"]]) }).chains[0]?.targets[0]?.detail).toBe(
      `x; ${plain[0]}`,
    );
  });

  it("explains nothing that was not polled since an outage", () => {
    const played = play().run(6, failing("dns"));
    const explanations = new Map(played.watched.targets.map(({ key }) => [key, "x"]));

    const report = compose(played, { explanations, lastOutageMs: played.nowMs + 1_000, endpoints: [] });

    expect(report.chains[0]?.targets.map(({ detail }) => detail)).toEqual([
      "not polled since our network outage",
      "not polled since our network outage",
    ]);
  });

  it("keeps the report of a chain that nothing is added to", () => {
    const played = play();
    const cached = cachedReport(null, played, played.nowMs);

    const [report] = compose(played, {
      chains: [cached],
      explanations: new Map([["nobody", "x"]]),
      maintenance: () => false,
    }).chains;

    expect(report).toBe(cached.report);
  });
});
