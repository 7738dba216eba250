import { describe, expect, it } from "vitest";
import { FAULTS } from "../support/faults.ts";
import { type Scenario, startScenario } from "../support/scenario.ts";

const TARGET = "airdrops/subgraph/production/base";
const API = `${TARGET}/status`;
const DEPLOYMENT = "QmbTA668GTsFYJSaMvcw51HswCtNHrNwDTdnZdHNqeRDMy";
const REASON = /^failed at block [\d,]+ in handleBlock: .*needs a new version\); /;

const FLEET = `
version: 1
poll: { retries: 0 }
budgets: { small: { limit: 40, per: hour, scope: endpoint } }
chains: { base: { id: 8453, name: Base, block_time: 2s } }
protocols:
  airdrops:
    - variant: subgraph
      dialect: graph
      url: "https://graph.example/{chain}"
      status: { url: "https://graph.example/status", deployment: "{deployment}" }
      schedule: "0 */2 * * * *"
      budget: small
      chains: { base: { deployment: ${DEPLOYMENT} } }
`;

describe("the index-node API of an endpoint", () => {
  it("sends no request while the target is ok", async () => {
    await using play = await startScenario(FLEET);

    await play.run("30m");

    expect(askedOf(play)).toBe(0);
  });

  it("explains a failure in the JSON, on the page and once in the log, until the target is ok again", async () => {
    await using play = await startScenario(FLEET);
    await play.run("5m");
    setFailed(play, true);
    await play.run("10m");
    const status = play.status();
    const page = play.page("base");
    const metrics = play.metrics();
    const [asked, polled] = [askedOf(play), play.fleet.endpoint(TARGET).requestCount];

    setFailed(play, false);
    await play.run("10m");

    expect(status.targets).toMatchObject([
      { status: "failed", reason: null, detail: expect.stringMatching(REASON) },
    ]);
    expect(page).toContain("failed at block");
    expect(page).toContain("Its index-node API");
    expect(metrics).not.toMatch(/handleBlock|Mapping|needs a new version/);
    // Once after each poll that found trouble.
    expect(asked).toBeGreaterThan(3);
    expect(asked).toBeLessThan(polled);
    expect(play.target(TARGET)).toMatchObject({
      status: "ok",
      detail: expect.not.stringContaining("failed"),
    });
    expect(play.log.filter(({ msg }) => msg === "Reason found")).toMatchObject([
      { level: 40, target: TARGET, detail: expect.stringContaining("handleBlock") },
    ]);
  });

  it("gives no reason if graph-node reports the deployment as healthy, and reports an unknown deployment", async () => {
    await using play = await startScenario(FLEET);
    await play.run("5m");
    play.fleet.target(TARGET).set({ indexingErrors: true });
    await play.run("5m");
    const healthy = play.target(TARGET).detail;

    play.fleet.endpoint(API).targets[0]?.set({ deployment: "QmAnother" });
    await play.run("5m");

    expect(healthy).not.toContain("handleBlock");
    expect(play.target(TARGET).detail).toContain(`its graph-node does not index ${DEPLOYMENT}`);
  });

  it("changes nothing when it fails: the last reason stays, and the target is what its own polls show", async () => {
    await using play = await startScenario(FLEET);
    await play.run("5m");
    setFailed(play, true);
    await play.run("5m");
    const { detail } = play.target(TARGET);

    for (const fault of ["http_502", "hang_before_headers", "html_with_200", "no_data"] as const) {
      play.fleet.endpoint(API).fail(FAULTS[fault]);
      await play.run("4m");
      expect(play.target(TARGET)).toMatchObject({ status: "failed", up: true });
      expect(play.target(TARGET).detail.split(";")[0]).toBe(detail.split(";")[0]);
    }
    expect(play.log.filter(({ msg }) => msg === "Index-node API gave no answer").length).toBeGreaterThan(3);
  });
});

function setFailed(play: Scenario, indexingErrors: boolean): void {
  for (const target of [TARGET, API].flatMap((key) => play.fleet.endpoint(key).targets)) {
    target.set({ indexingErrors });
  }
}

function askedOf(play: Scenario): number {
  return play.fleet.endpoint(API).requestCount;
}
