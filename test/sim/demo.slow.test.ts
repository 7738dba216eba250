import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { endpointsOf } from "../../src/core/model/fleet.ts";
import { groupBy } from "../../src/core/model/group-by.ts";
import { FAMILIES } from "../../src/dialects/families.ts";
import { accelerate, paceAtSpeed } from "../../src/sim/fleet/demo-config.ts";
import type { Scenario as DemoScenario } from "../../src/sim/scenarios/scenario.ts";
import { SCENARIOS } from "../../src/sim/scenarios/scenarios.ts";
import { SIMULATED_API_KEY } from "../../src/sim/servers/families.ts";
import { expectGolden } from "../support/golden.ts";
import { parsed } from "../support/running-app.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const CHAINS_YAML = `${readFileSync("chains.yaml", "utf8")}${readFileSync("assets/demo.yaml", "utf8")}`;
const ENV = { THEGRAPH_API_KEY: SIMULATED_API_KEY };
/** Ten minutes of 130 endpoints at the pace of the demo take ten seconds, and far longer on a machine that is busy. */
const LIMIT = { timeout: 600_000 };
/** A scenario is played for this time at most. */
const LONGEST_SEC = 120;

describe("synclag demo", () => {
  it.each(SCENARIOS)("shows at each step of $name what that step announces", LIMIT, async (demo) => {
    await using play = await startDemo(demo);
    const shown: string[] = [];
    for (const [index, step] of demo.steps.entries()) {
      await step.happens(play.fleet, 1);
      const endSec = demo.steps[index + 1]?.atSec ?? demo.loopSec;
      await play.run(`${Math.min(endSec - step.atSec, LONGEST_SEC)}s`);
      shown.push(`# ${step.say}`, ...whatIsWrong(play), "");
    }

    expectGolden(`test/fixtures/demo/${demo.name}.expected.txt`, shown.join("\n"));
  });

  it("has an indexer of every dialect, and an RPC node", () => {
    const { fleet } = parsed(CHAINS_YAML, ENV);

    expect(new Set(endpointsOf(fleet).map(({ dialect }) => dialect))).toEqual(
      new Set([...Object.keys(FAMILIES), "ponder-status", "envio-metrics", "custom", "rpc"]),
    );
  });
});

/** The fleet and the pace of the demo at speed 1. What a scenario changes at its start is in effect before the first poll. */
async function startDemo({ steps }: DemoScenario) {
  const adjust = (packaged: Config) => accelerate(packaged, paceAtSpeed(1));
  const play = await startScenario(CHAINS_YAML, { env: ENV, adjust });
  for (const step of steps.filter(({ atSec }) => atSec === 0)) {
    await step.happens(play.fleet, 1);
  }
  return play;
}

/** The incidents, and for each indexer how many of its targets are in which status; chains are named where they are few. */
function whatIsWrong(play: Scenario): readonly string[] {
  const { incidents, parity, targets } = play.report();
  const groups = groupBy(
    targets.filter(({ status }) => status !== "ok"),
    ({ protocol, variant, tier, status }) => `${protocol} ${variant} ${tier}: ${status}`,
  );
  const statuses = [...groups].map(([group, all]) => {
    const slugs = all.map(({ chain }) => chain);
    return `${group} on ${slugs.length > 3 ? `${slugs.length} chains` : slugs.join(", ")}`;
  });
  const differences = parity
    .filter(({ result }) => result === "different")
    .map(({ probe, key, against_key }) => `${probe} differ: ${key} and ${against_key}`);
  return [
    ...differences,
    ...incidents
      .filter(({ kind }) => kind !== "target")
      .map(
        ({ scope, subject, detail }) =>
          `incident of ${scope === "network" ? scope : `${scope} ${subject}`}: ${detail}`,
      ),
    ...(statuses.length === 0 ? ["all targets are ok"] : statuses.toSorted()),
  ];
}
