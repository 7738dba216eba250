import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { parseConfig } from "../../../src/config/parse.ts";
import { endpointsOf } from "../../../src/core/model/fleet.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import { Monitor } from "../../../src/daemon/monitor.ts";
import { interpret } from "../../../src/dialects/interpret.ts";
import { DIALECT_NAMES, questionsFor } from "../../../src/dialects/registry.ts";
import { accelerate, paceAtSpeed } from "../../../src/sim/fleet/accelerate.ts";
import { withDemoFamilies } from "../../../src/sim/fleet/demo-families.ts";
import { SIMULATED_API_KEY } from "../../../src/sim/fleet/endpoint-spec.ts";
import { mirrorFleet } from "../../../src/sim/fleet/mirror-fleet.ts";
import { startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import type { SimulatedTarget } from "../../../src/sim/fleet/simulated-target.ts";
import { applyStep, playScenario } from "../../../src/sim/scenarios/play-scenario.ts";
import { findScenario, SCENARIOS } from "../../../src/sim/scenarios/registry.ts";
import type { Scenario } from "../../../src/sim/scenarios/scenario.ts";
import { clientOf } from "../../support/client-of.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);

const FREEZE: Scenario = {
  name: "freeze",
  about: "freezes and thaws",
  steps: [
    { atSec: 0, say: "freezes", changes: [{ kind: "freeze", targets: "graph-node/base" }] },
    { atSec: 60, say: "thaws", changes: [{ kind: "thaw", targets: "graph-node/base", withinSec: 30 }] },
  ],
  loopSec: 120,
};

describe("playScenario()", () => {
  it("plays step by step, and begins anew", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-node" }] });
    const said: string[] = [];

    await new Promise<void>((resolve, reject) => {
      const playing = playScenario(fleet, FREEZE, {
        speed: 10_000,
        onStep: (step) => {
          said.push(step.say);
          if (said.length === 4) {
            playing[Symbol.asyncDispose]().then(resolve, reject);
          }
        },
        onBug: reject,
      });
    });

    expect(said).toEqual(["freezes", "thaws", "freezes", "thaws"]);
  });

  it("tells of a step that cannot be played", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "studio" }] });

    const bug = await new Promise((resolve) => {
      playScenario(fleet, FREEZE, { speed: 1, onStep: () => undefined, onBug: resolve });
    });

    expect(bug).toEqual(new RangeError("Cannot change graph-node/base: the fleet has none of it"));
  });
});

describe("SCENARIOS", () => {
  const text = readFileSync(new URL("../../../chains.yaml", import.meta.url), "utf8");
  const packaged = parseConfig(text, {
    file: "chains.yaml",
    env: { THEGRAPH_API_KEY: SIMULATED_API_KEY },
    readFile: () => "",
  });
  const config = withDemoFamilies(packaged);

  it.each(SCENARIOS)("$name can be played on the fleet of the demo", async (scenario) => {
    const { fleet } = await mirrorFleet(config, () => NOW_MS);
    await using _ = fleet;
    const times = scenario.steps.map(({ atSec }) => atSec);

    for (const step of scenario.steps) {
      await applyStep(fleet, step, 1);
    }

    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(scenario.loopSec).toBeGreaterThan(times.at(-1) ?? 0);
  });

  it("has a provider in the tour that lies from its first answer: an incident names it, and nobody else is accused", async () => {
    let nowMs = NOW_MS;
    const { config: played, fleet } = await mirrorFleet(config, () => nowMs);
    await using _ = fleet;
    const monitor = new Monitor(played.fleet, { nowMs: () => nowMs, budgets: () => [] });
    const [lies, heals] = findScenario("tour")?.steps ?? [];
    // Where the gateway alone contradicts Studio, the chain's RPC node decides.
    const sources = [...fleet.targets("*/*/*/*"), ...fleet.targets("rpc/*/*")];
    const poll = () => {
      nowMs += 5_000;
      monitor.observe(sources.map((target) => observed(target, nowMs)));
    };

    for (const step of [lies, heals].filter((one) => one !== undefined)) {
      await applyStep(fleet, step, 1);
      poll();
      poll();
      poll();
      const { chains, incidents } = monitor.report();
      const wrong = chains.flatMap(({ targets }) => targets).filter(({ status }) => status !== "ok");
      if (step === lies) {
        const [studio] = fleet.endpoints("airdrops/subgraph/testing/base");
        expect(incidents).toMatchObject([
          {
            scope: "host",
            subject: new URL(studio?.url ?? "").host,
            detail: expect.stringMatching(/^46 of 46 /u),
          },
        ]);
        expect(new Set(wrong.map(({ target, status }) => `${target.tier} ${status}`))).toEqual(
          new Set(["testing diverged"]),
        );
      } else {
        expect(incidents).toEqual([]);
        expect(wrong).toEqual([]);
      }
    }
  });

  it("has each dialect in the demo, all of it ok", async () => {
    const { config: played, fleet } = await mirrorFleet(accelerate(config, paceAtSpeed(1)), Date.now);
    await using _ = fleet;
    const endpoints = endpointsOf(played.fleet);
    const vaults = endpoints.filter(({ protocol }) => protocol === "vaults");
    await using client = clientOf({ nowMs: Date.now });

    const outcomes = await Promise.all(
      vaults.map(async (endpoint) => {
        const question = questionsFor(endpoint)[0];
        const result = await client.post({
          url: endpoint.url,
          headers: endpoint.headers,
          body: question?.body ?? {},
        });
        return result.kind === "replied" && question !== undefined
          ? interpret({ endpoint, question, reply: result.reply, nowMs: Date.now() })
          : result;
      }),
    );

    const kinds = outcomes.flatMap((one) =>
      one.kind === "answered" ? one.outcomes.map(({ kind }) => kind) : [one.kind],
    );
    expect(new Set(kinds)).toEqual(new Set(["head"]));
    const dialects = new Set(endpoints.map(({ dialect }) => dialect));
    expect([...dialects, "graph-status"].toSorted()).toEqual([...DIALECT_NAMES, "rpc"].toSorted());
  });

  it("shows something each minute of the tour", () => {
    const tour = findScenario("tour");
    const minutes = new Set(tour?.steps.map(({ atSec }) => Math.floor(atSec / 60)));

    expect(minutes.size).toBe((tour?.loopSec ?? 0) / 60);
  });
});

/** What a poll of a target gets at an instant, without the way over the wire. */
function observed(target: SimulatedTarget, atMs: number): Observation {
  const { block, deployment, hash, timestampSec } = target.rowAt(atMs);
  return {
    kind: "head",
    source: target.key,
    sentAtMs: atMs - 50,
    receivedAtMs: atMs,
    head: {
      block: Number(block),
      timestampSec: Number(timestampSec),
      hash: String(hash),
      deployment: String(deployment),
      indexingErrors: false,
    },
  };
}
