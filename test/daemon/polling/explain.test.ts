import { describe, expect, it } from "vitest";
import type { Exchange } from "../../../src/core/model/exchange.ts";
import type { Endpoint } from "../../../src/core/model/fleet.ts";
import type { Post } from "../../../src/core/model/http-post.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import { createRedact } from "../../../src/core/model/redact.ts";
import { Explainer, type ExplainerPorts } from "../../../src/daemon/polling/explain.ts";
import { createPollQueue } from "../../../src/daemon/polling/queue.ts";
import { type SimulatedFleet, startFleet } from "../../../src/sim/fleet/simulated-fleet.ts";
import { clientOf } from "../../support/client-of.ts";
import { endpointOf, targetOf } from "../../support/endpoints.ts";
import { recordLog } from "../../support/log-recorder.ts";

const TARGET = "airdrops/subgraph/production/base";
const STOPPED: readonly Observation[] = [{ source: TARGET, kind: "missing", sentAtMs: 0, receivedAtMs: 0 }];
const HELD_BACK: readonly Observation[] = [
  { source: TARGET, kind: "failed", reason: "budget", detail: "", sentAtMs: 0, receivedAtMs: 0 },
];

function startNode(): Promise<SimulatedFleet> {
  return startFleet({ nowMs: Date.now, endpoints: [{ kind: "graph-status", chains: ["base"] }] });
}

/** An endpoint with the simulated index-node API beside it. */
function endpointBeside(fleet: SimulatedFleet, deployment?: string): Endpoint {
  const { url, targets } = fleet.endpoint("graph-status");
  const known = String(targets[0]?.behaviour.deployment);
  return endpointOf({
    targets: [targetOf({ key: TARGET })],
    status: { url, host: new URL(url).host, headers: {}, deployment: deployment ?? known },
  });
}

function ports(post: Post, wanted: Partial<ExplainerPorts> = {}) {
  const told: (readonly [string, string | null])[] = [];
  const exchanges: (readonly [string, Exchange])[] = [];
  const { logger, lines } = recordLog();
  const explainer = new Explainer({
    post,
    queue: createPollQueue({ concurrency: 4, perHost: 2 }, () => 0),
    redact: createRedact([]),
    hasTrouble: () => true,
    explain: (target, explanation) => {
      told.push([target, explanation]);
      return "news";
    },
    onExchange: ({ key }, exchange) => exchanges.push([key, exchange]),
    logger,
    ...wanted,
  });
  return { explainer, told, exchanges, lines };
}

describe("Explainer", () => {
  it("tells why the deployment failed, logs it, and keeps the exchange under a key of its own", async () => {
    await using fleet = await startNode();
    await using client = clientOf();
    fleet.target("graph-status/base").set({ indexingErrors: true });
    const { explainer, told, exchanges, lines } = ports(client.post);

    await explainer.onPolled(endpointBeside(fleet), STOPPED);

    const [[, explanation] = []] = told;
    expect(told).toHaveLength(1);
    expect(explanation).toMatch(
      /^failed at block [\d,]+ in handleBlock: Mapping aborted at src\/mapping.ts, line 6: fails on purpose \(deterministic: needs a new version\)$/,
    );
    expect(exchanges).toMatchObject([[`${TARGET}/status`, { httpStatus: 200, outcome: "usable" }]]);
    expect(lines).toMatchObject([{ level: 40, target: TARGET, detail: explanation, msg: "Reason found" }]);
  });

  it("names no reason where the node calls the deployment healthy, and says where it does not know it", async () => {
    await using fleet = await startNode();
    await using client = clientOf();
    const { explainer, told } = ports(client.post);

    await explainer.onPolled(endpointBeside(fleet), STOPPED);
    await explainer.onPolled(endpointBeside(fleet, "QmOther"), STOPPED);

    expect(told).toEqual([
      [TARGET, null],
      [TARGET, "its graph-node does not index QmOther"],
    ]);
  });

  it.each(["http_502", "hang_before_headers", "html_with_200", "database_unavailable", "no_data"] as const)(
    "says nothing of the target where the API fails with %s",
    async (fault) => {
      await using fleet = await startNode();
      await using client = clientOf({ timeoutMs: 100 });
      fleet.endpoint("graph-status").fail(fault);
      const { explainer, told, exchanges, lines } = ports(client.post);

      await explainer.onPolled(endpointBeside(fleet), STOPPED);

      expect(told).toEqual([]);
      expect(exchanges).toHaveLength(1);
      expect(lines).toMatchObject([{ level: 20, endpoint: `${TARGET}/status` }]);
    },
  );

  it("asks nothing while all is well, nor after a poll that our own budget held back", async () => {
    await using fleet = await startNode();
    await using client = clientOf();
    const well = ports(client.post, { hasTrouble: () => false });
    const ill = ports(client.post);

    await well.explainer.onPolled(endpointBeside(fleet), STOPPED);
    await ill.explainer.onPolled(endpointBeside(fleet), HELD_BACK);
    await ill.explainer.onPolled(endpointBeside(fleet), []);
    await ill.explainer.onPolled(endpointOf(), STOPPED);

    expect(fleet.endpoint("graph-status").requestCount).toBe(0);
  });

  it("sends one request at a time, however often the endpoint is polled meanwhile", async () => {
    await using fleet = await startNode();
    await using client = clientOf();
    const { explainer } = ports(client.post);
    const endpoint = endpointBeside(fleet);

    await Promise.all([1, 2, 3].map(() => explainer.onPolled(endpoint, STOPPED)));
    await explainer.onPolled(endpoint, STOPPED);

    expect(fleet.endpoint("graph-status").requestCount).toBe(2);
  });

  it("removes a key that the API echoes", async () => {
    const key = "5e1f0000c0ffee00";
    const body = JSON.stringify({
      data: {
        indexingStatuses: [
          { subgraph: "Qm1", health: "failed", fatalError: { message: `no ${key}` }, chains: [] },
        ],
      },
    });
    const reply = { httpStatus: 200, contentType: "application/json", retryAfter: null, body };
    const { explainer, told } = ports(
      () => Promise.resolve({ kind: "replied", sentAtMs: 0, receivedAtMs: 0, reply }),
      { redact: createRedact([key]) },
    );
    const status = { url: "http://127.0.0.1:9/", host: "127.0.0.1:9", headers: {}, deployment: "Qm1" };

    await explainer.onPolled(endpointOf({ status }), STOPPED);

    expect(told).toEqual([[TARGET, "failed: no [secret]"]]);
  });
});
