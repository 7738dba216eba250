import { describe, expect, it, vi } from "vitest";
import { type SimulatedFleet, startFleet } from "../../src/sim/fleet/simulated-fleet.ts";
import { recordLog } from "../support/log-recorder.ts";
import { configOf, startTestApp } from "../support/running-app.ts";
import { json } from "../support/served.ts";

const NODE = "airdrops/subgraph/production/base";
const API = `${NODE}/status`;
const WITHIN = { timeout: 10_000, interval: 20 };
const DEPLOYMENT = "QmbTA668GTsFYJSaMvcw51HswCtNHrNwDTdnZdHNqeRDMy";
const REASON = /^failed at block [\d,]+ in handleBlock: Mapping aborted .*needs a new version\); /;

function startNode(): Promise<SimulatedFleet> {
  const targetBehaviour = () => ({ deployment: DEPLOYMENT });
  return startFleet({
    nowMs: Date.now,
    endpoints: [
      { kind: "graph-node", key: NODE, chains: ["base"], targetBehaviour },
      { kind: "graph-status", key: API, chains: ["base"], targetBehaviour },
    ],
  });
}

function configFor(fleet: SimulatedFleet) {
  return configOf(`
version: 1
poll: { timeout: 500ms, retries: 0 }
chains:
  base: { id: 8453, name: Base, block_time: 2s }
protocols:
  airdrops:
    - variant: subgraph
      dialect: graph
      url: "${fleet.endpoint(NODE).url}"
      status: { url: "${fleet.endpoint(API).url}", deployment: "{deployment}" }
      schedule: "* * * * * *"
      chains: { base: { deployment: ${DEPLOYMENT} } }
`);
}

describe("status in chains.yaml", () => {
  it("explains a failure in the detail, on the page and in the log, until the target is ok again", async () => {
    await using fleet = await startNode();
    const { logger, lines } = recordLog();
    const broken = fleet.targets("*/*/*/*").concat(fleet.targets("*/*/*/*/*"));
    for (const target of broken) {
      target.set({ indexingErrors: true });
    }
    await using app = await startTestApp(configFor(fleet), { logger });
    const target = () => app.report().chains[0]?.targets[0];

    await vi.waitFor(() => expect(target()?.detail).toMatch(REASON), WITHIN);
    const api = await json(`${app.url}/api/v1/status/airdrops/base`);
    const page = await (await fetch(`${app.url}/chains/base`)).text();
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    const asked = fleet.endpoint(API).requestCount;
    fleet.endpoint(API).fail("hang_before_headers");
    const polled = fleet.endpoint(NODE).requestCount;
    await vi.waitFor(() => expect(fleet.endpoint(NODE).requestCount).toBeGreaterThan(polled + 1), WITHIN);
    const whileItHangs = target();
    for (const one of broken) {
      one.heal();
    }

    expect(api.body).toMatchObject({
      targets: [{ status: "failed", reason: null, detail: expect.stringMatching(REASON) }],
    });
    expect(page).toContain("failed at block");
    expect(page).toContain("Recent replies of its index-node API");
    expect(metrics).not.toMatch(/handleBlock|Mapping|needs a new version/);
    expect(asked).toBeLessThanOrEqual(polled);
    expect(whileItHangs).toMatchObject({ up: true, status: "failed", detail: expect.stringMatching(REASON) });
    await vi.waitFor(() => {
      expect(target()).toMatchObject({ status: "ok", detail: expect.not.stringContaining("failed") });
    }, WITHIN);
    expect(lines.filter(({ msg }) => msg === "Reason found")).toMatchObject([{ target: NODE }]);
  });
});
