import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse.ts";
import { type Endpoint, endpointsOf } from "../../src/core/model/fleet.ts";
import { paceAtSpeed } from "../../src/sim/fleet/demo-config.ts";
import { mirrorFleet } from "../../src/sim/fleet/mirror-fleet.ts";
import { playScenario, type Scenario } from "../../src/sim/scenarios/scenario.ts";
import { FAULTS, halfOf, times } from "../support/faults.ts";
import { startFleet } from "../support/fleet.ts";
import { ask } from "./ask.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const QUERY = "{ _meta { block { number } } }";

describe("startFleet()", () => {
  it("puts endpoints of one origin on one host, and two with the same URL on two", async () => {
    await using fleet = await startFleet({
      nowMs: () => NOW_MS,
      endpoints: [
        { kind: "gateway", key: "airdrops/subgraph/production/base" },
        { kind: "gateway", key: "lockup/subgraph/production/base" },
        { kind: "gateway", key: "streams/subgraph/production/base", path: "/api/subgraphs/id/one" },
        { kind: "gateway", key: "flow/subgraph/production/base", path: "/api/subgraphs/id/one" },
      ],
    });

    const hosts = fleet.endpoints("*/subgraph/*/*").map(({ url }) => new URL(url).host);

    expect(hosts).toHaveLength(4);
    expect(new Set(hosts.slice(0, 3)).size).toBe(1);
    expect(hosts[3]).not.toBe(hosts[0]);
  });

  it("refuses a chain that it does not have", async () => {
    const started = startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "rpc", chains: ["mode"] }] });

    await expect(started).rejects.toThrow("Cannot find chain mode: the fleet has 0 of it");
  });

  it("closes everything, also requests that hang", async () => {
    const fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-node" }] });
    const endpoint = fleet.endpoint("graph-node");
    endpoint.fail(FAULTS.hang_before_headers);
    const hanging = ask(endpoint.url, QUERY).catch((error: unknown) => error);
    while (endpoint.lastCall === null) {
      await new Promise((resolve) => setImmediate(resolve));
    }

    await fleet[Symbol.asyncDispose]();

    expect(await hanging).toBeInstanceOf(TypeError);
  });
});

describe("a simulated endpoint", () => {
  it("fails always, so many times, or for a share of the requests, until it heals", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-node" }] });
    const endpoint = fleet.endpoint("graph-node");
    const statuses = async (count: number): Promise<readonly number[]> => {
      const seen = [];
      for (let request = 0; request < count; request += 1) {
        seen.push((await ask(endpoint.url, QUERY)).status);
      }
      return seen;
    };

    endpoint.fail(times(2, FAULTS.http_503));
    const twice = await statuses(3);
    endpoint.fail(halfOf(FAULTS.http_503));
    const often = await statuses(40);
    endpoint.fail(FAULTS.http_503);
    const always = await statuses(2);
    endpoint.heal();

    expect(twice).toEqual([503, 503, 200]);
    expect(new Set(often)).toEqual(new Set([200, 503]));
    expect(always).toEqual([503, 503]);
    expect(await statuses(1)).toEqual([200]);
  });

  it("refuses connections while its host is closed, and returns at the same URL", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-node" }] });
    const { url } = fleet.endpoint("graph-node");

    await fleet.origin("graph-node").close();
    const refused = await ask(url, QUERY).catch((error: unknown) => error);
    await fleet.origin("graph-node").open();
    const seen = await ask(url, QUERY);

    expect(refused).toMatchObject({ cause: { code: "ECONNREFUSED" } });
    expect(seen.status).toBe(200);
  });
});

describe("mirrorFleet()", () => {
  it("plays every endpoint on loopback under its real path, and changes nothing else", async () => {
    const text = `
version: 1
chains:
  base: { id: 8453, name: Base, block_time: 2s, rpc: ["https://mainnet.base.example/rpc?x=1"] }
  form: { id: 478, name: Form, block_time: 12s }
protocols:
  airdrops:
    - { variant: multichain, dialect: envio, url: "https://indexer.hyperindex.xyz/508d217/v1/graphql", chains: [base, form] }
    - variant: subgraph
      dialect: graph
      url: "https://gateway.thegraph.com/api/subgraphs/id/{id}"
      status: { url: "https://node.example:8030/graphql", deployment: "Qm{chain}" }
      chains: { base: { id: 4SxPXkQNifgBYqje2C4yP5gz69erZwtD7GuLWgXHSLGe } }
`;
    const real = parseConfig(text, { file: "chains.yaml", env: {}, readFile: () => "" });

    const { config: played, fleet } = await mirrorFleet(real, () => NOW_MS);
    await using _ = fleet;

    const places = (endpoints: readonly Endpoint[]) =>
      endpoints.flatMap(({ url, status }) => [url, status?.url ?? url]).map((url) => new URL(url));
    const withoutPlaces = ({ status, ...endpoint }: Endpoint) => ({
      ...endpoint,
      status: { ...status, url: "", host: "" },
      url: "",
      host: "",
    });
    const [realEndpoints, endpoints] = [endpointsOf(real.fleet), endpointsOf(played.fleet)];
    expect(new Set(places(endpoints).map(({ hostname }) => hostname))).toEqual(new Set(["127.0.0.1"]));
    expect(places(endpoints).map(({ pathname, search }) => pathname + search)).toEqual(
      places(realEndpoints).map(({ pathname, search }) => pathname + search),
    );
    expect(endpoints.map(withoutPlaces)).toEqual(realEndpoints.map(withoutPlaces));
    expect({ ...played, fleet: null }).toEqual({ ...real, fleet: null });
  });
});

describe("paceAtSpeed()", () => {
  it("is never so fast that healthy targets seem to lag", () => {
    const { thresholds, pollIntervalSec } = paceAtSpeed(60);

    expect(pollIntervalSec).toBe(1);
    expect(thresholds).toEqual({ laggingMs: 5_000, criticalMs: 5_000, stalledMs: 5_000, staleMs: 5_000 });
  });
});

describe("playScenario()", () => {
  const freeze: Scenario = {
    name: "freeze",
    about: "freezes and thaws",
    steps: [
      { atSec: 0, say: "freezes", happens: (fleet) => fleet.target("graph-node/base").freeze() },
      { atSec: 60, say: "thaws", happens: (fleet) => fleet.target("graph-node/base").thaw(30_000) },
    ],
    loopSec: 120,
  };

  it("plays step by step, and repeats", async () => {
    await using fleet = await startFleet({ nowMs: () => NOW_MS, endpoints: [{ kind: "graph-node" }] });
    const said: string[] = [];

    await new Promise<void>((resolve, reject) => {
      const playing = playScenario(fleet, freeze, {
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
      playScenario(fleet, freeze, { speed: 1, onStep: () => undefined, onBug: resolve });
    });

    expect(bug).toEqual(new RangeError("Cannot find target graph-node/base: the fleet has 0 of it"));
  });
});
