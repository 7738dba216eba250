import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../src/core/model/fleet.ts";
import type { Observation } from "../../src/core/model/observation.ts";
import { Monitor } from "../../src/daemon/monitor.ts";
import { endpointOf, fleetOf } from "../budgets/fleet-builder.ts";
import { BASE } from "../core/chain/chain-fixture.ts";

const T0 = Date.UTC(2026, 10, 20, 12);
const OFTEN = ["a", "b"].map((variant) => endpointAsked(variant, 15_000));
const RARELY = endpointAsked("rare", 1_800_000);
const ENDPOINTS = [...OFTEN, RARELY];

describe("Monitor", () => {
  it("tells, once anybody answers again, whom it has asked in vain", () => {
    const { told, say } = start();
    say("well", ENDPOINTS);
    say("cut off", OFTEN);
    say("cut off", [...OFTEN, RARELY]);
    say("cut off", OFTEN);

    say("well", OFTEN.slice(0, 1));
    say("well", OFTEN.slice(1));

    expect(told).toEqual([["airdrops/b/production/base", "airdrops/rare/production/base"]]);
  });

  it("knows nothing of those that it has asked in vain, till they were asked again", () => {
    const { statuses, say } = start();
    say("well", ENDPOINTS);
    say("cut off", ENDPOINTS);
    say("cut off", ENDPOINTS);
    say("cut off", ENDPOINTS);

    say("well", OFTEN.slice(0, 1));
    const first = statuses();
    say("well", OFTEN.slice(1));
    say("cut off", [RARELY]);

    expect(first).toEqual(["ok", "unknown", "unknown"]);
    expect(statuses()).toEqual(["ok", "ok", "unreachable"]);
  });

  it.each([
    { case: "one host alone was down", down: OFTEN.slice(0, 1) },
    { case: "nobody answers yet", down: ENDPOINTS },
  ])("tells nothing where $case", ({ down }) => {
    const { told, say } = start();
    say("well", ENDPOINTS);
    say("cut off", down);
    say("cut off", down);

    say("cut off", down);

    expect(told).toEqual([]);
  });
});

function endpointAsked(variant: string, pollIntervalMs: number): Endpoint {
  const endpoint = endpointOf({ variant, host: variant, pollIntervalMs });
  return { ...endpoint, targets: endpoint.targets.map((target) => ({ ...target, pollIntervalMs })) };
}

/** A monitor that is looked at after each round of polls; what it tells is noted by the endpoints' keys. */
function start() {
  let nowMs = T0;
  const told: (readonly string[])[] = [];
  const monitor = new Monitor(
    { ...fleetOf(ENDPOINTS), chains: [BASE] },
    {
      nowMs: () => nowMs,
      budgets: () => [],
      onNetworkRestored: (endpoints) => told.push(endpoints.map(({ key }) => key)),
    },
  );
  const say = (what: "well" | "cut off", endpoints: readonly Endpoint[]): void => {
    nowMs += 15_000;
    for (const { targets } of endpoints) {
      monitor.observe(targets.map(({ key }) => observation(key, what, nowMs)));
    }
    monitor.report();
  };
  const statuses = () =>
    monitor.report().chains.flatMap(({ targets }) => targets.map(({ status }) => status));
  return { told, say, statuses };
}

function observation(source: string, what: "well" | "cut off", nowMs: number): Observation {
  const times = { source, sentAtMs: nowMs - 100, receivedAtMs: nowMs };
  const block = Math.floor(nowMs / 2_000);
  return what === "cut off"
    ? { ...times, kind: "failed", reason: "dns", detail: "" }
    : {
        ...times,
        kind: "head",
        head: { block, timestampSec: null, hash: null, deployment: null, indexingErrors: null },
      };
}

describe("a wall clock that is set", () => {
  it.each([-3_600_000, 3_600_000])("by %i ms leaves every status as it was", (byMs) => {
    let [wallMs, monotonicMs] = [T0, 0];
    const endpoint = endpointAsked("a", 15_000);
    const fleet = { ...fleetOf([endpoint]), chains: [BASE] };
    const clocks = { nowMs: () => wallMs, monotonicMs: () => monotonicMs };
    const monitor = new Monitor(fleet, { ...clocks, budgets: () => [] });
    const tick = (jumpMs: number): readonly string[] => {
      wallMs += 15_000 + jumpMs;
      monotonicMs += 15_000;
      const height = observation(endpoint.targets[0]?.key ?? "", "well", wallMs - jumpMs);
      monitor.observe([{ ...height, sentAtMs: wallMs - 100, receivedAtMs: wallMs }]);
      return monitor.report().chains.flatMap(({ targets }) => targets.map(({ detail }) => detail));
    };
    tick(0);
    const before = tick(0);

    expect(tick(byMs)).toEqual(before);
    expect(tick(-byMs)).toEqual(before);
  });
});
