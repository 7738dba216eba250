import { describe, expect, it } from "vitest";

import type { Config } from "../../../src/config/config.ts";
import { parseConfig } from "../../../src/config/parse.ts";
import { type Endpoint, endpointsOf } from "../../../src/core/model/fleet.ts";
import { accelerate, paceAtSpeed } from "../../../src/sim/fleet/accelerate.ts";
import { mirrorFleet } from "../../../src/sim/fleet/mirror-fleet.ts";
import { ask, call } from "../ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const KEY = "0123456789abcdef0123456789abcdef";

const YAML = `
version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s, rpc: ["https://mainnet.base.example/rpc?x=1"] }
  form: { id: 478, name: Form, block_time: 12s }
budgets:
  studio: { limit: 3, per: day, scope: endpoint }
protocols:
  airdrops:
    - variant: multichain
      dialect: envio
      url: https://indexer.hyperindex.xyz/508d217/v1/graphql
      chains: [base, form]
    - variant: subgraph
      dialect: graph
      url: "https://gateway.thegraph.com/api/subgraphs/id/{id}"
      headers: { Authorization: "Bearer \${THEGRAPH_API_KEY}" }
      status: { url: "https://node.example:8030/graphql", deployment: "Qm{chain}" }
      chains:
        base: { id: 4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe }
        form: { url: "https://formapi.0xgraph.xyz/api/public/5961fb30/subgraphs/airdrops-form/2.3/gn" }
    - variant: subgraph
      tier: testing
      dialect: graph
      url: "https://api.studio.thegraph.com/query/112500/sablier-{protocol}-{chain}/version/latest"
      budget: studio
      schedule: "0 0 0 * * *"
      chains: [base]
`;

function config(): Config {
  return parseConfig(YAML, {
    file: "chains.yaml",
    env: { THEGRAPH_API_KEY: KEY },
    readFile: () => "",
  });
}

/** As `mirrorFleet()` does it, but without the latencies of a real fleet. */
async function quickMirrorFleet(): ReturnType<typeof mirrorFleet> {
  const stage = await mirrorFleet(config(), () => NOW_MS);
  for (const { key } of endpointsOf(stage.config.fleet)) {
    stage.fleet.endpoint(key).set({ latency: { minMs: 0, maxMs: 0 } });
  }
  return stage;
}

describe("mirrorFleet()", () => {
  it("plays every endpoint on loopback, under its real path and key", async () => {
    const { config: played, fleet } = await mirrorFleet(config(), () => NOW_MS);
    await using _ = fleet;

    const urls = endpointsOf(played.fleet).map(({ key, url }) => ({
      key,
      host: new URL(url).hostname,
      path: new URL(url).pathname + new URL(url).search,
    }));

    const host = "127.0.0.1";
    expect(urls).toEqual([
      { key: "airdrops/multichain/production/all", host, path: "/508d217/v1/graphql" },
      {
        key: "airdrops/subgraph/production/base",
        host,
        path: "/api/subgraphs/id/4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe",
      },
      {
        key: "airdrops/subgraph/production/form",
        host,
        path: "/api/public/5961fb30/subgraphs/airdrops-form/2.3/gn",
      },
      {
        key: "airdrops/subgraph/testing/base",
        host,
        path: "/query/112500/sablier-airdrops-base/version/latest",
      },
      { key: expect.stringMatching(/^rpc\/base\/[^/]+\/[0-9a-f]{12}$/), host, path: "/rpc?x=1" },
    ]);
    expect(endpointsOf(played.fleet).map((endpoint) => endpoint.host)).toEqual(
      endpointsOf(played.fleet).map(({ url }) => new URL(url).host),
    );
  });

  it("changes nothing else", async () => {
    const real = config();

    const { config: played, fleet } = await mirrorFleet(real, () => NOW_MS);
    await using _ = fleet;

    expect({ ...played, fleet: null }).toEqual({ ...real, fleet: null });
    expect(played.fleet.chains).toBe(real.fleet.chains);
    const withoutPlaces = ({ status, ...endpoint }: Endpoint) => ({
      ...endpoint,
      ...(status === undefined ? {} : { status: { ...status, url: "", host: "" } }),
      url: "",
      host: "",
    });
    expect(endpointsOf(played.fleet).map(withoutPlaces)).toEqual(endpointsOf(real.fleet).map(withoutPlaces));
  });

  it("answers each as the software that lives there", async () => {
    const { config: played, fleet } = await quickMirrorFleet();
    await using _ = fleet;
    const urlOf = (key: string): string =>
      endpointsOf(played.fleet).find((endpoint) => endpoint.key.startsWith(key))?.url ?? "";
    const probe = "{ _meta { block { number } } }";

    const envio = await ask(urlOf("airdrops/multichain/production/all"), "{ _meta { chainId } }");
    const gateway = await ask(urlOf("airdrops/subgraph/production/base"), probe, {
      authorization: `Bearer ${KEY}`,
    });
    const form = await ask(urlOf("airdrops/subgraph/production/form"), probe);
    const rpc = await call(urlOf("rpc/base/"), "eth_chainId", []);
    const status = endpointsOf(played.fleet).find((endpoint) => endpoint.status !== undefined)?.status;
    const health = await ask(
      status?.url ?? "",
      '{ indexingStatuses(subgraphs: ["Qmbase"]) { subgraph health } }',
    );

    const height = (key: string): unknown => ({
      data: { _meta: { block: { number: fleet.target(key).heightAt() } } },
    });
    expect(envio.body).toEqual({ data: { _meta: [{ chainId: 478 }, { chainId: 8453 }] } });
    expect(gateway.body).toEqual(height("airdrops/subgraph/production/base"));
    expect(form.body).toEqual(height("airdrops/subgraph/production/form"));
    expect(rpc.body).toMatchObject({ result: "0x2105" });
    expect(status?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/graphql$/);
    expect(health.body).toEqual({
      data: { indexingStatuses: [{ subgraph: "Qmbase", health: "healthy" }] },
    });
  });

  it("holds callers to the daily budget that the configuration names", async () => {
    const { config: played, fleet } = await quickMirrorFleet();
    await using _ = fleet;
    const url = endpointsOf(played.fleet)[3]?.url ?? "";

    const statuses: number[] = [];
    for (let count = 0; count < 4; count++) {
      statuses.push((await ask(url, "{ _meta { block { number } } }")).status);
    }

    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

describe("accelerate()", () => {
  it("shortens thresholds and schedules, and lifts budgets", () => {
    const { fleet } = accelerate(config(), paceAtSpeed(2));

    const shared = { stalledMs: 12_500, staleMs: 10_000 };
    expect(fleet.chains.map(({ thresholds }) => thresholds)).toEqual([
      { laggingMs: 10_000, criticalMs: 30_000, ...shared },
      { laggingMs: 36_000, criticalMs: 72_000, ...shared },
    ]);
    expect(new Set(endpointsOf(fleet).map(({ schedule }) => schedule))).toEqual(new Set(["*/3 * * * * *"]));
    expect(new Set(endpointsOf(fleet).map(({ pollIntervalMs }) => pollIntervalMs))).toEqual(new Set([3_000]));
    expect(fleet.budgets.find(({ name }) => name === "studio")?.limit).toBe(30_000);
  });

  it("is never so fast that what is healthy seems to lag", () => {
    const { thresholds, pollIntervalSec } = paceAtSpeed(60);

    expect(pollIntervalSec).toBe(1);
    expect(thresholds).toEqual({ laggingMs: 5_000, criticalMs: 5_000, stalledMs: 5_000, staleMs: 5_000 });
  });
});
